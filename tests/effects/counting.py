"""Rows in groups and filters, means, seeds and charts."""

from __future__ import annotations

from .notebooks import Pair

SURVEY = """
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(5)
    survey = pd.DataFrame({
        "region": rng.choice(["North", "South", "East"], 120, p=[0.7, 0.2, 0.1]),
        "age": rng.integers(18, 90, 120).astype(float),
        "income": rng.lognormal(10, 0.4, 120).round(),
    })
    survey.loc[rng.choice(120, 11, replace=False), "age"] = np.nan
    survey.loc[survey.index[3:9], "region"] = None
"""

ROWS = [
    Pair(
        "people without a region", "group_dropped_rows",
        SURVEY,
        """
    per_region = survey.groupby("region").agg(people=("income", "size"), mean=("income", "mean"))
    per_region["people"].sum()
    """,
        """
    per_region = survey.groupby("region", dropna=False).agg(people=("income", "size"))
    per_region["people"].sum()
    """,
    ),
    Pair(
        "pivot without some rows", "group_dropped_rows",
        SURVEY,
        """
    survey["decade"] = survey["age"] // 10 * 10
    # %%
    pd.pivot_table(survey, index="decade", columns="region", values="income", aggfunc="sum")
    """,
        """
    known = survey.dropna(subset=["age", "region"]).copy()
    known["decade"] = known["age"] // 10 * 10
    # %%
    pd.pivot_table(known, index="decade", columns="region", values="income", aggfunc="sum")
    """,
    ),
    Pair(
        "adults of unknown age", "comparison_dropped_rows",
        SURVEY,
        """
    older = survey[survey["age"] >= 50]
    print(len(older) / len(survey))
    """,
        """
    aged = survey[survey["age"].notna()]
    older = aged[aged["age"] >= 50]
    print(len(older) / len(aged))
    """,
    ),
    Pair(
        "query with missing ages", "comparison_dropped_rows",
        SURVEY,
        """
    young = survey.query("age < 30 and income > 1000")
    young.income.mean()
    """,
        """
    survey["age"] = survey["age"].fillna(survey["age"].median())
    # %%
    young = survey.query("age < 30 and income > 1000")
    young.income.mean()
    """,
    ),
    Pair(
        "labels by comparison", "comparison_dropped_rows",
        SURVEY,
        """
    survey["group"] = np.where(survey["age"] > 65, "retired", "working")
    survey.group.value_counts()
    """,
        """
    survey["group"] = np.where(survey["age"].isna(), "unknown",
                               np.where(survey["age"] > 65, "retired", "working"))
    survey.group.value_counts()
    """,
    ),
    Pair(
        "polars filter with nulls", "comparison_dropped_rows",
        """
    import polars as pl
    runs = pl.DataFrame({"km": [5.0, None, 10.0, 21.1, None, 42.2, 3.0], "who": list("abcabca")})
    """,
        """
    long = runs.filter(pl.col("km") > 8)
    long.height
    """,
        """
    long = runs.drop_nulls("km").filter(pl.col("km") > 8)
    long.height
    """,
    ),
    Pair(
        "a region nobody lives in", "filter_keeps_nothing",
        SURVEY,
        """
    north = survey[survey.region == "north"]
    north["income"].sum()
    """,
        """
    north = survey[survey.region == "North"]
    north["income"].sum()
    """,
    ),
    Pair(
        "filter by another type", "filter_keeps_nothing",
        """
    import pandas as pd
    parts = pd.DataFrame({"year": ["2021", "2022", "2023", "2023"], "made": [5, 7, 9, 4]})
    """,
        """
    print("made in 2023:", parts.loc[parts["year"] == 2023, "made"].sum())
    """,
        """
    print("made in 2023:", parts.loc[parts["year"] == "2023", "made"].sum())
    """,
    ),
    Pair(
        "a filter in the wrong unit", "filter_keeps_all",
        SURVEY,
        """
    rich = survey.loc[lambda d: d["income"] > 50]
    rich.shape
    """,
        """
    rich = survey.loc[lambda d: d["income"] > 25_000]
    rich.shape
    """,
    ),
    Pair(
        "mean of the regions' means", "mean_of_means",
        SURVEY + """
    survey = survey.dropna()
    """,
        """
    by_region = survey.groupby("region")["income"].mean()
    # %%
    print("average income", by_region.mean())
    """,
        """
    by_region = survey.groupby("region")["income"].mean()
    # %%
    print("average income", survey["income"].mean(), by_region.max())
    """,
    ),
    Pair(
        "mean of a table of means", "mean_of_means",
        """
    import pandas as pd
    marks = pd.DataFrame({"school": ["x"] * 30 + ["y"] * 4 + ["z"] * 11, "mark": range(45)})
    """,
        """
    schools = marks.groupby("school").agg(mark=("mark", "mean")).reset_index()
    overall = schools["mark"].mean()
    """,
        """
    schools = marks.groupby("school").agg(mark=("mark", "mean"), n=("mark", "size"))
    overall = (schools["mark"] * schools["n"]).sum() / schools["n"].sum()
    """,
    ),
]  # fmt: skip

CHARTS = [
    Pair(
        "bars from 90 on", "bar_axis_above_zero",
        """
    import matplotlib.pyplot as plt
    import pandas as pd
    quality = pd.DataFrame({"plant": ["A", "B", "C"], "passed": [97.1, 98.4, 96.2]})
    """,
        """
    plt.bar(quality["plant"], quality["passed"])
    plt.ylim(95, 100)
    plt.show()
    """,
        """
    plt.plot(quality["plant"], quality["passed"], "o")
    plt.ylim(95, 100)
    plt.show()
    """,
    ),
    Pair(
        "bars of a frame", "bar_axis_above_zero",
        """
    import matplotlib.pyplot as plt
    import pandas as pd
    sold = pd.DataFrame({"month": ["Jan", "Feb", "Mar"], "units": [1020, 1060, 1045]})
    """,
        """
    fig, ax = plt.subplots(figsize=(4, 3))
    sold.plot.bar(x="month", y="units", ax=ax, legend=False)
    ax.set_ylim(bottom=sold["units"].min() * 0.98)
    ax.set_title("Units sold")
    """,
        """
    fig, ax = plt.subplots(figsize=(4, 3))
    sold.plot.bar(x="month", y="units", ax=ax, legend=False)
    ax.set_ylim(0, 1200)
    ax.set_title("Units sold")
    """,
    ),
    Pair(
        "only the first hundred", "chart_shows_fewer_points",
        SURVEY + """
    import matplotlib.pyplot as plt
    people = survey.dropna()
    """,
        """
    plt.scatter(people["age"][:60], people["income"][:60])
    plt.xlabel("age")
    plt.show()
    """,
        """
    plt.scatter(people["age"], people["income"])
    plt.xlabel("age")
    plt.show()
    people.head()
    """,
    ),
    Pair(
        "head drawn as if it were all", "chart_shows_fewer_points",
        SURVEY + """
    people = survey.dropna()
    """,
        """
    people.head(40).plot(x="age", y="income", kind="scatter", title="Income by age")
    """,
        """
    people.region.value_counts().head(2).plot(kind="bar", title="Regions")
    """,
    ),
    Pair(
        "limits that cut points", "chart_shows_fewer_points",
        SURVEY + """
    import matplotlib.pyplot as plt
    people = survey.dropna()
    """,
        """
    fig, ax = plt.subplots()
    ax.scatter(people.age, people.income)
    ax.set_ylim(0, 30000)
    """,
        """
    fig, ax = plt.subplots()
    ax.scatter(people.age, people.income)
    ax.set_ylim(0, 200000)
    """,
    ),
]  # fmt: skip

SEEDS = [
    Pair(
        "a sample nobody can draw again", "no_seed",
        SURVEY,
        """
    some = survey.sample(frac=0.3)
    some["income"].mean()
    """,
        """
    some = survey.sample(frac=0.3, random_state=1)
    some["income"].mean()
    """,
    ),
    Pair(
        "bootstrap without a seed", "no_seed",
        SURVEY,
        """
    means = [np.random.choice(survey["income"], size=50).mean() for _ in range(20)]
    np.percentile(means, [5, 95])
    """,
        """
    np.random.seed(7)
    means = [np.random.choice(survey["income"], size=50).mean() for _ in range(20)]
    np.percentile(means, [5, 95])
    """,
    ),
    Pair(
        "a generator without a seed", "no_seed",
        """
    import numpy as np
    import random
    """,
        """
    noise = np.random.default_rng().normal(size=50)
    noise.mean()
    """,
        """
    random.seed(3)
    gen = np.random.default_rng(3)
    noise = gen.normal(size=50) + random.random()
    noise.mean()
    """,
    ),
]  # fmt: skip
