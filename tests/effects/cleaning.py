"""Columns: types, times, dates, numbers as text; copies that are changed."""

from __future__ import annotations

from .notebooks import Pair

SENSORS = """
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(11)
    df = pd.DataFrame({
        "sensor": rng.choice(["a", "b", "c"], 90),
        "value": rng.normal(20, 3, 90).round(1),
        "seen": pd.date_range("2024-03-01", periods=90, freq="h", tz="Europe/Berlin"),
    })
    df.loc[df.index[:8], "value"] = np.nan
"""

GERMAN = """
    from pathlib import Path
    import pandas as pd

    text = "datum;betrag\\n" + "\\n".join(
        f"{d:02}/{m:02}/2023;{1000 + 37 * d:,}".replace(",", ".") + f",{m:02}"
        for m in range(1, 13) for d in (2, 5, 9, 11)
    )
    Path("umsatz.csv").write_text(text)
"""

COLUMNS = [
    Pair(
        "a lookup that never matches", "column_all_missing",
        SENSORS,
        """
    names = {"A": "roof", "B": "cellar", "C": "yard"}
    df["place"] = df["sensor"].map(names)
    df.head()
    """,
        """
    names = {"a": "roof", "b": "cellar", "c": "yard"}
    df["place"] = df["sensor"].map(names)
    df.head()
    """,
    ),
    Pair(
        "dates of another format", "column_all_missing",
        """
    import pandas as pd
    log = pd.DataFrame({"day": ["2024-01-15", "2024-02-20", "2024-03-28"] * 5, "hits": range(15)})
    """,
        """
    log["day"] = pd.to_datetime(log["day"], format="%d.%m.%Y", errors="coerce")
    log.set_index("day").hits.resample("MS").sum()
    """,
        """
    log["day"] = pd.to_datetime(log["day"], format="%Y-%m-%d")
    log.set_index("day").hits.resample("MS").sum()
    """,
    ),
    Pair(
        "missing values called unknown", "column_changed_type",
        SENSORS,
        """
    df["value"] = df["value"].fillna("unknown")
    """,
        """
    df["value"] = df["value"].fillna(df["value"].median())
    """,
    ),
    Pair(
        "ids become floats", "column_changed_type",
        """
    import pandas as pd
    members = pd.DataFrame({"member_id": range(1, 31), "club": list("abc") * 10})
    """,
        """
    members = members.set_index("club").reset_index().reindex(range(35))
    members.tail()
    """,
        """
    members = members.set_index("club").reset_index().reindex(range(30))
    members.tail()
    """,
    ),
    Pair(
        "time zone thrown away", "column_lost_time_zone",
        SENSORS,
        """
    df["seen"] = df["seen"].dt.tz_localize(None)
    df.groupby(df.seen.dt.hour).value.mean()
    """,
        """
    df["seen"] = df["seen"].dt.tz_convert("UTC")
    df.groupby(df.seen.dt.hour).value.mean()
    """,
    ),
    Pair(
        "time zone lost to numpy", "column_lost_time_zone",
        SENSORS,
        """
    flat = df.copy()
    flat["seen"] = flat.seen.to_numpy(dtype="datetime64[ns]")
    """,
        """
    flat = df.copy()
    flat["day"] = flat.seen.dt.date
    """,
    ),
    Pair(
        "German dates read as American", "dates_ambiguous",
        GERMAN,
        """
    umsatz = pd.read_csv("umsatz.csv", sep=";", decimal=",", thousands=".")
    umsatz["datum"] = pd.to_datetime(umsatz["datum"])
    umsatz.groupby(umsatz["datum"].dt.month)["betrag"].sum()
    """,
        """
    umsatz = pd.read_csv("umsatz.csv", sep=";", decimal=",", thousands=".")
    umsatz["datum"] = pd.to_datetime(umsatz["datum"], format="%d/%m/%Y")
    umsatz.groupby(umsatz["datum"].dt.month)["betrag"].sum()
    """,
    ),
    Pair(
        "parse_dates guesses", "dates_ambiguous",
        GERMAN,
        """
    quelle = Path(".") / "umsatz.csv"
    daten = pd.read_csv(quelle, sep=";", decimal=",", thousands=".", parse_dates=["datum"])
    """,
        """
    quelle = Path(".") / "umsatz.csv"
    daten = pd.read_csv(quelle, sep=";", decimal=",", thousands=".", parse_dates=["datum"],
                        dayfirst=True)
    """,
    ),
    Pair(
        "mixed dates in a frame", "dates_ambiguous",
        """
    import pandas as pd
    trips = pd.DataFrame({"start": ["03/04/2024", "25/04/2024", "07/05/2024", "30/05/2024"] * 4})
    """,
        """
    trips["start"] = pd.to_datetime(trips["start"], format="mixed")
    trips.start.dt.month.value_counts()
    """,
        """
    trips["start"] = pd.to_datetime(trips["start"], dayfirst=True)
    trips.start.dt.month.value_counts()
    """,
    ),
    Pair(
        "amounts with a comma", "numbers_as_text",
        GERMAN,
        """
    umsatz = pd.read_csv("umsatz.csv", sep=";")
    # %%
    umsatz.sort_values("betrag", ascending=False).head(3)
    """,
        """
    umsatz = pd.read_csv("umsatz.csv", sep=";", decimal=",", thousands=".")
    # %%
    umsatz.sort_values("betrag", ascending=False).head(3)
    """,
    ),
    Pair(
        "one n/a makes text of it", "numbers_as_text",
        """
    import pandas as pd
    points = ["9", "10", "87", "absent", "54", "100", "33", "8", "61", "70"]
    grades = pd.DataFrame({"name": list("abcdefghij"), "points": points})
    """,
        """
    best = grades["points"].max()
    print("best:", best)
    """,
        """
    grades["points"] = pd.to_numeric(grades["points"], errors="coerce")
    # %%
    best = grades["points"].max()
    print("best:", best)
    """,
    ),
    Pair(
        "sum that glues texts", "numbers_as_text",
        """
    import pandas as pd
    cash = pd.DataFrame({"till": [1, 1, 2, 2, 3],
                         "taken": ["12.50", "3.00", "8.25", "1.75", "9.90"],
                         "plz": ["01069", "01097", "10115", "04103", "04109"]})
    """,
        """
    per_till = cash.groupby("till")["taken"].sum()
    per_till
    """,
        """
    per_till = cash.assign(taken=cash["taken"].astype(float)).groupby("till")["taken"].sum()
    cash["plz"].max()
    """,
    ),
]  # fmt: skip

COPIES = [
    Pair(
        "chained assignment", "copy_changed",
        SENSORS,
        """
    df[df["sensor"] == "b"]["value"] = 0.0
    df.value.describe()
    """,
        """
    df.loc[df["sensor"] == "b", "value"] = 0.0
    df.value.describe()
    """,
    ),
    Pair(
        "column first, row second", "copy_changed",
        SENSORS,
        """
    df["value"][df["sensor"] == "c"] = 1.0
    """,
        """
    df.loc[df.sensor == "c", "value"] = 1.0
    """,
    ),
    Pair(
        "rows of iterrows", "copy_changed",
        SENSORS,
        """
    for i, row in df.iterrows():
        if row["sensor"] == "a":
            row["value"] = row["value"] * 1.8 + 32
    """,
        """
    for i, row in df.iterrows():
        if row["sensor"] == "a":
            df.loc[i, "value"] = row["value"] * 1.8 + 32
    """,
    ),
    Pair(
        "fillna in place on a column", "copy_changed",
        SENSORS,
        """
    df["value"].fillna(0, inplace=True)
    df["value"].isna().sum()
    """,
        """
    df["value"] = df["value"].fillna(0)
    df["value"].isna().sum()
    """,
    ),
    Pair(
        "dropna for nobody", "result_thrown_away",
        SENSORS,
        """
    df.dropna(subset=["value"])
    print("rows:", len(df))
    """,
        """
    df.dropna(subset=["value"], inplace=True)
    print("rows:", len(df))
    """,
    ),
    Pair(
        "duplicates only looked at", "result_thrown_away",
        SENSORS + """
    df = pd.concat([df, df.iloc[:5]])
    """,
        """
    df.drop_duplicates()
    # %%
    total = df["value"].sum()
    """,
        """
    df = df.drop_duplicates()
    df.sort_values("value")
    # %%
    total = df["value"].sum()
    """,
    ),
    Pair(
        "names stripped for nobody", "result_thrown_away",
        """
    import pandas as pd
    people = pd.DataFrame({"name": [" Ann", "Bo ", "Cy"], "age": [31, 45, 28]})
    """,
        """
    people["name"].str.strip()
    people.rename(columns={"age": "years"})
    print(people)
    """,
        """
    people["name"] = people["name"].str.strip()
    people = people.rename(columns={"age": "years"})
    people.sort_values("years")
    """,
    ),
]  # fmt: skip
