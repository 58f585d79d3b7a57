"""More notebooks in other styles, written together with the rules that they made necessary."""
# ruff: noqa: E501

from __future__ import annotations

from .notebooks import Notebook, cells_of

_WRONG = {
    ("join_without_partner", "ids as text"): """
    import pandas as pd
    orders = pd.DataFrame({"cid": [1.0, 2.0, 3.0, 2.0, 1.0] * 4, "eur": range(20)})
    people = pd.DataFrame({"id": ["1", "2", "3"], "name": ["Ann", "Bo", "Cy"]})
    # %%
    orders["cid"] = orders["cid"].astype(str)
    # %%
    orders = orders.merge(people, left_on="cid", right_on="id", how="left")
    """,
    ("values_became_missing", "lookup with a gap"): """
    import pandas as pd
    sales = pd.DataFrame({"land": ["DE", "AT", "CH", "DE", "FR"] * 6, "v": range(30)})
    vat = {"DE": 0.19, "AT": 0.20, "CH": 0.081}
    # %%
    sales["vat"] = sales["land"].map(vat)
    sales["gross"] = sales.v * (1 + sales.vat)
    print(sales.gross.sum())
    """,
    ("keys_repeated", "dictionary of names"): """
    import pandas as pd
    products = pd.DataFrame({"code": ["a", "b", "c", "d", "e", "b"], "price": [1, 2, 3, 4, 5, 9]})
    # %%
    price_of = dict(zip(products["code"], products["price"]))
    print(price_of["b"])
    """,
    ("dates_ambiguous", "csv in a string"): """
    import io
    import pandas as pd
    raw = \"\"\"date,amount
    02/03/2024,10
    04/05/2024,12
    06/07/2024,9
    \"\"\".replace("    ", "")
    text = io.StringIO("date,amount\\n02/03/2024,10\\n04/05/2024,12\\n06/07/2024,9\\n")
    df = pd.read_csv(text, parse_dates=["date"])
    df.groupby(df.date.dt.month).amount.sum()
    """,
    ("numbers_as_text", "compared as text"): """
    import pandas as pd
    tests = pd.DataFrame({"who": list("abcdef"), "points": ["95", "100", "8", "77", "60", "12"]})
    # %%
    good = tests[tests["points"] > "50"]
    len(good)
    """,
    ("mean_of_means", "pivot and mean"): """
    import pandas as pd
    x = pd.DataFrame({"shop": ["a"] * 50 + ["b"] * 5, "basket": [10.0] * 50 + [100.0] * 5})
    # %%
    x.pivot_table(index="shop", values="basket").mean()
    """,
    ("mean_of_means", "polars groups"): """
    import polars as pl
    t = pl.DataFrame({"k": ["a"] * 9 + ["b"], "v": [float(n) for n in range(10)]})
    # %%
    means = t.group_by("k").agg(pl.col("v").mean())
    print(means["v"].mean())
    """,
    ("fit_before_split", "split by hand"): """
    import numpy as np, pandas as pd
    from sklearn.preprocessing import StandardScaler
    from sklearn.linear_model import Ridge
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)); y = X @ [1, 2, 3] + rng.normal(size=100)
    # %%
    def prepare(values):
        return StandardScaler().fit_transform(values)
    Xs = prepare(X)
    X_train, X_test = Xs[:80], Xs[80:]
    y_train, y_test = y[:80], y[80:]
    print(Ridge().fit(X_train, y_train).score(X_test, y_test))
    """,
    ("fit_before_split", "words of all texts"): """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    import pandas as pd
    mails = pd.DataFrame({"text": ["win money now", "meeting at ten", "cheap pills", "see you at lunch"] * 10, "spam": [1, 0, 1, 0] * 10})
    # %%
    vec = TfidfVectorizer()
    X = vec.fit_transform(mails.text)
    X_train, X_test, y_train, y_test = train_test_split(X, mails.spam, random_state=0)
    LogisticRegression().fit(X_train, y_train).score(X_test, y_test)
    """,
    ("tuned_on_test", "threshold by the test set"): """
    import numpy as np
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.model_selection import train_test_split
    X, y = make_classification(n_samples=400, weights=[0.8], random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    clf = LogisticRegression().fit(X_train, y_train)
    # %%
    proba = clf.predict_proba(X_test)[:, 1]
    thresholds = np.linspace(0.1, 0.9, 17)
    f1s = [f1_score(y_test, proba > t) for t in thresholds]
    best = thresholds[np.argmax(f1s)]
    print(best, max(f1s))
    """,
    ("tuned_on_test", "one line"): """
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split
    from sklearn.tree import DecisionTreeClassifier
    X, y = load_iris(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    # %%
    scores = {d: DecisionTreeClassifier(max_depth=d, random_state=0).fit(X_train, y_train).score(X_test, y_test) for d in range(1, 6)}
    best_depth = max(scores, key=scores.get)
    """,
    ("score_on_training_rows", "accuracy by hand"): """
    from sklearn.datasets import load_wine
    from sklearn.neighbors import KNeighborsClassifier
    data = load_wine(as_frame=True)
    X, y = data.data, data.target
    # %%
    knn = KNeighborsClassifier(1).fit(X, y)
    acc = (knn.predict(X) == y).mean()
    print(f"accuracy: {acc:.2f}")
    """,
    ("score_on_training_rows", "fitted on everything, then split"): """
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import train_test_split
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    # %%
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
    rf = RandomForestRegressor(n_estimators=10, random_state=1)
    rf.fit(X, y)
    print("R2", rf.score(X_test, y_test))
    """,
    ("copy_changed", "query then assign"): """
    import pandas as pd
    df = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
    # %%
    df.query("a > 1")["b"] = 0
    """,
    ("copy_changed", "two columns in place"): """
    import pandas as pd
    df = pd.DataFrame({"a": [1, None, 3], "b": [4, 5, None]})
    # %%
    df[["a", "b"]].fillna(0, inplace=True)
    df.sum()
    """,
    ("result_thrown_away", "dates converted for nobody"): """
    import pandas as pd
    df = pd.DataFrame({"d": ["2024-01-02", "2023-05-06"], "v": [1, 2]})
    # %%
    pd.to_datetime(df["d"])
    df = df.sort_values("d")
    """,
    ("column_lost_time_zone", "the index"): """
    import pandas as pd
    load = pd.DataFrame({"kw": range(48)}, index=pd.date_range("2024-03-30", periods=48, freq="h", tz="Europe/Vienna"))
    # %%
    load.index = load.index.tz_localize(None)
    load.resample("D").sum()
    """,
    ("column_changed_type", "two files with other types"): """
    import pandas as pd
    jan = pd.DataFrame({"id": [1, 2, 3], "v": [5.0, 6.0, 7.0]})
    feb = pd.DataFrame({"id": [4, 5], "v": ["8.0", "n/a"]})
    # %%
    both = pd.concat([jan, feb], ignore_index=True)
    """,
    ("comparison_dropped_rows", "a series"): """
    import numpy as np, pandas as pd
    waits = pd.Series([3.0, np.nan, 9.0, 12.0, np.nan, 1.0], name="minutes")
    # %%
    short = waits[waits < 10]
    print(len(short) / len(waits))
    """,
    ("filter_keeps_nothing", "isin with other case"): """
    import pandas as pd
    tickets = pd.DataFrame({"state": ["Open", "Closed", "Open", "Waiting"], "age": [3, 4, 9, 1]})
    # %%
    todo = tickets[tickets["state"].isin(["open", "waiting"])]
    todo["age"].max()
    """,
    ("chart_shows_fewer_points", "range of a histogram"): """
    import numpy as np, pandas as pd, matplotlib.pyplot as plt
    pay = pd.DataFrame({"eur": np.random.default_rng(0).lognormal(8, 0.6, 400)})
    # %%
    plt.hist(pay["eur"], bins=30, range=(0, 5000))
    plt.title("Salaries")
    """,
    ("bar_axis_above_zero", "set with a tuple"): """
    import matplotlib.pyplot as plt
    fig, ax = plt.subplots()
    ax.bar(["old", "new"], [72.0, 74.5])
    ax.set(ylim=(70, 75), title="Satisfaction")
    """,
    ("future_in_training", "the later part trains"): """
    import numpy as np, pandas as pd
    from sklearn.linear_model import LinearRegression
    rng = np.random.default_rng(0)
    d = pd.DataFrame({"ts": pd.date_range("2021-01-01", periods=100), "x": rng.normal(size=100)})
    d["y"] = d.x + rng.normal(size=100)
    # %%
    test_df = d[d.ts < "2021-02-01"]
    train_df = d[d.ts >= "2021-02-01"]
    m = LinearRegression().fit(train_df[["x"]], train_df["y"])
    print(m.score(test_df[["x"]], test_df["y"]))
    """,
    ("no_seed", "shuffled by hand"): """
    import numpy as np, pandas as pd
    df = pd.DataFrame({"a": range(50)})
    idx = np.random.permutation(len(df))
    first, second = df.iloc[idx[:40]], df.iloc[idx[40:]]
    """,
}

_RIGHT = {
    "sanity checks": """
    import pandas as pd
    df = pd.DataFrame({"id": [1, 2, 3, 4, 5], "age": [30, 41, 25, 63, 37], "p": [1.0, 2.0, 3.0, 4.0, 5.0]})
    # %%
    assert df["id"].is_unique
    assert df[df["age"] < 0].empty
    negative = df[df["p"] < 0]
    df[df.duplicated()]
    # %%
    df = df[df["p"] > 0]
    df[df.isna().any(axis=1)]
    """,
    "explore, then convert": """
    import pandas as pd
    df = pd.DataFrame({"price": ["1,50", "2,75", "10,00"], "when": ["03.02.2024", "14.02.2024", "05.03.2024"]})
    # %%
    df.head(); df.describe(); print(df.dtypes)
    # %%
    df["price"] = df["price"].str.replace(",", ".").astype(float)
    df["when"] = pd.to_datetime(df["when"], format="%d.%m.%Y")
    # %%
    df.sort_values("price")
    """,
    "a pretty table at the end": """
    import pandas as pd
    t = pd.DataFrame({"g": list("aabb"), "h": list("xyxx"), "v": [1, 2, 3, 4]})
    wide = t.pivot_table(index="g", columns="h", values="v", aggfunc="sum")
    wide.fillna(0)
    # %%
    t.groupby("g")["v"].agg(["mean", "max"]).rename(columns={"mean": "average"})
    """,
    "refit on everything": """
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import train_test_split
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
    # %%
    model = Ridge().fit(X_train, y_train)
    print("R2 on test rows", model.score(X_test, y_test))
    # %%
    final = Ridge()
    final.fit(X, y)
    """,
    "noise-free line": """
    import numpy as np
    from sklearn.linear_model import LinearRegression
    x = np.arange(30).reshape(-1, 1)
    y = 2 * x.ravel() + 1
    line = LinearRegression().fit(x, y)
    print(line.coef_, line.intercept_)
    """,
    "scaler in a loop over folds": """
    import numpy as np
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold
    from sklearn.preprocessing import StandardScaler
    X, y = load_wine(return_X_y=True)
    scores = []
    for train_idx, test_idx in KFold(5, shuffle=True, random_state=0).split(X):
        scaler = StandardScaler().fit(X[train_idx])
        clf = LogisticRegression(max_iter=500).fit(scaler.transform(X[train_idx]), y[train_idx])
        scores.append(clf.score(scaler.transform(X[test_idx]), y[test_idx]))
    print(np.mean(scores), min(scores))
    """,
    "one to many both ways": """
    import pandas as pd
    authors = pd.DataFrame({"author_id": [1, 2, 3], "name": ["A", "B", "C"]})
    books = pd.DataFrame({"book_id": range(9), "author_id": [1, 1, 1, 2, 2, 3, 3, 3, 3]})
    loans = pd.DataFrame({"book_id": [0, 0, 1, 4, 8, 8, 8], "day": range(7)})
    # %%
    shelf = books.merge(authors, on="author_id")
    lent = loans.merge(shelf, on="book_id", how="left")
    lent.groupby("name").size()
    """,
    "labels by several bounds": """
    import numpy as np, pandas as pd
    df = pd.DataFrame({"v": [1.0, 5.0, 9.0, 14.0]})
    df["band"] = np.select([df.v < 3, df.v < 10], ["low", "mid"], default="high")
    df["big"] = (df["v"] > 8).astype(int)
    df.loc[df["v"] > 12, "v"] = 12
    df["v"] = df["v"].clip(upper=10)
    """,
    "a line that does not start at zero": """
    import pandas as pd, matplotlib.pyplot as plt
    s = pd.Series([101.2, 101.9, 102.4], index=pd.date_range("2024-01-01", periods=3))
    ax = s.plot()
    ax.set_ylim(100, 103)
    plt.figure()
    plt.bar(["a", "b"], [3, 4])
    plt.show()
    """,
    "last days, as the title says": """
    import numpy as np, pandas as pd
    daily = pd.DataFrame({"v": np.arange(365.0)}, index=pd.date_range("2023-01-01", periods=365))
    daily.tail(30).plot(title="Last 30 days")
    # %%
    daily["v"].nlargest(10).plot(kind="bar")
    """,
    "lookups": """
    import pandas as pd
    codes = pd.DataFrame({"code": ["a", "b", "c"], "label": ["Alpha", "Beta", "Gamma"]})
    df = pd.DataFrame({"code": ["a", "c", "b", "a"]})
    label_of = dict(zip(codes.code, codes.label))
    df["label"] = df["code"].map(label_of)
    df["again"] = df["code"].map(codes.set_index("code")["label"])
    """,
    "lags of one's own target": """
    import numpy as np, pandas as pd
    from sklearn.linear_model import LinearRegression
    rng = np.random.default_rng(1)
    y = pd.Series(rng.normal(size=120).cumsum(), index=pd.date_range("2024-01-01", periods=120), name="y")
    f = pd.DataFrame({"y": y})
    f["lag"] = f["y"].shift(1)
    f["mean3"] = f["y"].shift(1).rolling(3).mean()
    f = f.dropna()
    train, test = f.iloc[:90], f.iloc[90:]
    lm = LinearRegression().fit(train[["lag", "mean3"]], train["y"])
    lm.score(test[["lag", "mean3"]], test["y"])
    """,
}

STRANGERS_AGAIN = [
    *(Notebook(name, cells_of(text), defect) for (defect, name), text in _WRONG.items()),
    *(Notebook(name, cells_of(text)) for name, text in _RIGHT.items()),
]
