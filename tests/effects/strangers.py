"""Notebooks in other styles, by the author of the rules but after them; lines are not wrapped."""
# ruff: noqa: E501

from __future__ import annotations

from .notebooks import Notebook, cells_of

_WRONG = {
    ("join_multiplied_rows", "retail in one go"): """
    # Load everything
    import pandas as pd, numpy as np
    np.random.seed(0)
    transactions = pd.DataFrame({
        'store_id': np.random.randint(1, 11, 500),
        'sales': np.random.exponential(100, 500).round(2)
    })
    stores = pd.DataFrame({
        'store_id': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3, 7],
        'city': ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'C2', 'G2']
    })
    # Join and summarise
    df = transactions.merge(stores, on='store_id', how='left')
    total = df['sales'].sum()
    print(f'Total sales: {total:,.2f}')
    """,
    ("join_multiplied_rows", "overwritten names"): """
    import pandas as pd
    import numpy as np
    df = pd.DataFrame({"emp": np.arange(50), "dept": np.repeat(list("abcde"), 10),
                       "pay": np.linspace(2000, 5000, 50)})
    # %%
    heads = pd.DataFrame({"dept": ["a", "b", "c", "d", "e", "e"],
                          "head": ["Ann", "Bob", "Cat", "Dan", "Eve", "Eva"]})
    df = df.merge(heads, on="dept")
    df.pay.sum()
    """,
    ("join_lost_rows", "pipeline of methods"): """
    import pandas as pd
    sensors = pd.DataFrame({"sensor_id": [1, 2, 3, 4], "room": ["a", "b", "c", "d"]})
    readings = pd.DataFrame({"sid": [1, 2, 3, 4, 5, 6] * 40, "t": range(240)})
    # %%
    result = (
        readings
        .rename(columns={"sid": "sensor_id"})
        .merge(sensors, how="inner", on="sensor_id")
        .groupby("room", as_index=False)["t"].mean()
    )
    result
    """,
    ("join_missing_keys", "NaN keys on both sides"): """
    import pandas as pd
    import numpy as np
    left = pd.DataFrame({"key": ["x", "y", np.nan, np.nan, "z"], "a": range(5)})
    right = pd.DataFrame({"key": ["x", "y", "z", np.nan], "b": [10, 20, 30, 40]})
    # %%
    out = left.merge(right, on="key", how="left")
    print(out)
    """,
    ("group_dropped_rows", "share per category"): """
    import pandas as pd
    expenses = pd.DataFrame({
        "category": ["food", "rent", None, "food", None, "fun", "rent", "food"],
        "eur": [12.0, 700.0, 55.0, 8.5, 120.0, 30.0, 700.0, 21.0],
    })
    # %%
    totals = expenses.groupby(["category"])["eur"].sum().sort_values(ascending=False)
    shares = totals / totals.sum()
    print(shares)
    """,
    ("comparison_dropped_rows", "filter in steps"): """
    import pandas as pd, numpy as np
    rng = np.random.default_rng(1)
    patients = pd.DataFrame({"bmi": rng.normal(26, 4, 80), "sex": rng.choice(["f", "m"], 80)})
    patients.iloc[5:20, 0] = np.nan
    # %%
    mask = (patients.bmi > 25) & (patients.sex == "f")
    overweight = patients[mask]
    print(len(overweight), "of", (patients.sex == "f").sum())
    """,
    ("filter_keeps_nothing", "trailing space"): """
    import pandas as pd
    flights = pd.DataFrame({"carrier": ["LH ", "LH ", "AF ", "BA "], "delay": [5, 12, 0, 44]})
    # %%
    lh = flights.query("carrier == 'LH'")
    print("mean delay", lh["delay"].mean())
    """,
    ("filter_keeps_all", "wrong operator"): """
    import pandas as pd
    import numpy as np
    temps = pd.DataFrame({"station": list("abcd") * 25, "celsius": np.linspace(-12, 36, 100)})
    # %%
    plausible = temps[(temps["celsius"] > -50) | (temps["celsius"] < 60)]
    plausible["celsius"].mean()
    """,
    ("dates_ambiguous", "dates typed in Europe"): """
    import pandas as pd
    bookings = pd.DataFrame({
        "booked": ["01/02/2024", "05/03/2024", "07/04/2024", "11/12/2024", "03/10/2024"],
        "nights": [2, 3, 1, 5, 2],
    })
    bookings["booked"] = pd.to_datetime(bookings["booked"])
    bookings["month"] = bookings["booked"].dt.month
    bookings.groupby("month")["nights"].sum()
    """,
    ("numbers_as_text", "thousand separators"): """
    import pandas as pd
    from io import StringIO
    csv = StringIO('country,population\\nFrance,"67,391,582"\\nSpain,"47,351,567"\\nMalta,"525,285"\\n')
    pop = pd.read_csv(csv)
    # %%
    largest = pop.sort_values("population", ascending=False).iloc[0]
    print(largest["country"])
    """,
    ("column_all_missing", "index that does not fit"): """
    import pandas as pd
    scores = pd.DataFrame({"student": ["s1", "s2", "s3", "s4"], "points": [10, 14, 9, 17]})
    bonus = pd.Series([1, 2, 3, 4], index=["s1", "s2", "s3", "s4"])
    # %%
    scores["bonus"] = bonus
    scores["total"] = scores["points"] + scores["bonus"].fillna(0)
    scores
    """,
    ("column_lost_time_zone", "to naive and back"): """
    import pandas as pd
    events = pd.DataFrame({"at": pd.to_datetime(["2024-03-31T00:30:00+01:00", "2024-03-31T03:30:00+02:00"], utc=True), "n": [1, 2]})
    events["at"] = events["at"].dt.tz_convert("Europe/Berlin")
    # %%
    local = events.assign(at=events["at"].dt.tz_localize(None))
    local["at"].diff()
    """,
    ("copy_changed", "loc twice"): """
    import pandas as pd
    stock = pd.DataFrame({"item": list("abcdef"), "qty": [4, 0, 7, -1, 3, -5]})
    # %%
    stock.loc[stock.qty < 0]["qty"] = 0
    assert len(stock) == 6
    """,
    ("result_thrown_away", "several cleanings"): """
    import pandas as pd
    raw = pd.DataFrame({"Name ": ["a", "b", None], "Value": [1.0, None, 3.0]})
    # %%
    raw.columns = [c.strip().lower() for c in raw.columns]
    raw.fillna({"value": 0})
    raw.dropna(subset=["name"])
    print(raw.isna().sum())
    """,
    ("mean_of_means", "numpy on top"): """
    import pandas as pd, numpy as np
    ratings = pd.DataFrame({"film": ["x"] * 200 + ["y"] * 3 + ["z"] * 40,
                            "stars": np.r_[np.full(200, 4.0), np.full(3, 1.0), np.full(40, 3.0)]})
    # %%
    film_means = ratings.groupby("film").stars.mean()
    print("average rating:", np.mean(film_means))
    """,
    ("fit_before_split", "min-max in the frame"): """
    import pandas as pd, numpy as np
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.model_selection import train_test_split
    from sklearn.neighbors import KNeighborsClassifier
    rng = np.random.default_rng(42)
    data = pd.DataFrame(rng.normal(size=(200, 3)), columns=["f1", "f2", "f3"])
    data["label"] = (data.f1 + data.f2 + rng.normal(size=200) > 0).astype(int)
    # %%
    features = ["f1", "f2", "f3"]
    scaler = MinMaxScaler()
    data[features] = scaler.fit_transform(data[features])
    X_train, X_test, y_train, y_test = train_test_split(
        data[features], data["label"], test_size=0.2, random_state=42)
    # %%
    knn = KNeighborsClassifier(n_neighbors=5)
    knn.fit(X_train, y_train)
    print("accuracy:", knn.score(X_test, y_test))
    """,
    ("target_among_features", "refund tells churn"): """
    import pandas as pd, numpy as np
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split
    rng = np.random.default_rng(7)
    n = 300
    churn = rng.integers(0, 2, n)
    df = pd.DataFrame({"age": rng.integers(18, 80, n), "visits": rng.poisson(5, n),
                       "cancel_fee": np.where(churn == 1, rng.uniform(10, 30, n), 0.0), "churn": churn})
    X = df.drop(columns=["churn"]); y = df["churn"]
    Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, random_state=7)
    rf = RandomForestClassifier(random_state=7).fit(Xtr, ytr)
    print(rf.score(Xte, yte))
    """,
    ("target_among_features", "target encoding on everything"): """
    import pandas as pd, numpy as np
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split
    rng = np.random.default_rng(3)
    cars = pd.DataFrame({"brand": rng.choice(list("abcdefgh"), 200), "km": rng.uniform(0, 2e5, 200)})
    cars["price"] = 30000 - 0.1 * cars["km"] + rng.normal(0, 2000, 200)
    # %%
    cars["brand_price"] = cars.groupby("brand")["price"].transform("mean")
    X = cars[["km", "brand_price"]]
    y = cars["price"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = LinearRegression()
    model.fit(X_train, y_train)
    print(model.score(X_test, y_test))
    """,
    ("score_on_training_rows", "mse of the fit"): """
    import numpy as np, pandas as pd
    from sklearn.tree import DecisionTreeRegressor
    from sklearn.metrics import mean_squared_error, r2_score
    rng = np.random.RandomState(0)
    X = pd.DataFrame({"x": rng.rand(100)})
    y = np.sin(6 * X["x"]) + rng.normal(0, 0.1, 100)
    # %%
    reg = DecisionTreeRegressor(random_state=0).fit(X, y)
    y_hat = reg.predict(X)
    print("MSE", mean_squared_error(y, y_hat), "R2", r2_score(y, y_hat))
    """,
    ("tuned_on_test", "best of a list"): """
    import numpy as np, pandas as pd
    from sklearn.datasets import make_classification
    from sklearn.model_selection import train_test_split
    from sklearn.neighbors import KNeighborsClassifier
    X, y = make_classification(n_samples=300, random_state=1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
    # %%
    ks = [1, 3, 5, 7, 9, 15]
    accs = []
    for k in ks:
        knn = KNeighborsClassifier(n_neighbors=k)
        knn.fit(X_train, y_train)
        accs.append(knn.score(X_test, y_test))
    best_k = ks[int(np.argmax(accs))]
    print("best k", best_k, "accuracy", max(accs))
    """,
    ("future_in_training", "shuffled prices"): """
    import numpy as np, pandas as pd
    from sklearn.model_selection import train_test_split
    from sklearn.linear_model import LinearRegression
    rng = np.random.default_rng(0)
    prices = pd.DataFrame({"date": pd.date_range("2020-01-01", periods=400, freq="B"),
                           "close": 100 + rng.normal(0, 1, 400).cumsum()})
    prices["prev"] = prices["close"].shift(1)
    prices["ma5"] = prices["close"].shift(1).rolling(5).mean()
    prices = prices.dropna().reset_index(drop=True)
    # %%
    X = prices[["prev", "ma5"]]
    y = prices["close"]
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=42)
    lr = LinearRegression().fit(X_tr, y_tr)
    print(lr.score(X_te, y_te))
    """,
    ("duplicates_across_split", "augmented first"): """
    import numpy as np, pandas as pd
    from sklearn.model_selection import train_test_split
    from sklearn.svm import SVC
    rng = np.random.default_rng(5)
    base = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("wxyz"))
    base["cls"] = (base.w + rng.normal(size=120) > 0.8).astype(int)
    # balance the classes
    minority = base[base["cls"] == 1]
    balanced = pd.concat([base, minority, minority], ignore_index=True)
    # %%
    X, y = balanced.drop("cls", axis=1), balanced["cls"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    print(SVC().fit(X_train, y_train).score(X_test, y_test))
    """,
    ("no_seed", "clusters"): """
    import numpy as np, pandas as pd
    from sklearn.cluster import KMeans
    pts = pd.DataFrame({"x": np.r_[np.arange(20), np.arange(100, 120)], "y": np.r_[np.arange(20), np.arange(50, 70)]})
    km = KMeans(n_clusters=2, n_init=10)
    pts["cluster"] = km.fit_predict(pts[["x", "y"]])
    pts.groupby("cluster").mean()
    """,
    ("bar_axis_above_zero", "axes method"): """
    import pandas as pd
    import matplotlib.pyplot as plt
    approval = pd.Series([48.2, 50.1, 51.3, 49.8], index=["Q1", "Q2", "Q3", "Q4"])
    ax = approval.plot(kind="bar", color="teal")
    ax.set_ylim(47, 52)
    ax.set_ylabel("percent")
    plt.tight_layout()
    """,
    ("chart_shows_fewer_points", "sample of a cloud"): """
    import numpy as np, pandas as pd, matplotlib.pyplot as plt
    rng = np.random.default_rng(0)
    cloud = pd.DataFrame({"a": rng.normal(size=5000), "b": rng.normal(size=5000)})
    # %%
    subset = cloud.sample(300, random_state=0)
    fig, ax = plt.subplots()
    ax.scatter(subset["a"], subset["b"], s=4)
    ax.set_title("a against b")
    """,
}

_RIGHT = {
    "exploring a file": """
    import pandas as pd
    from pathlib import Path
    Path("people.csv").write_text("name,age,city\\nAnn,34,Rome\\nBob,45,Oslo\\nCid,,Rome\\nDee,29,\\n")
    df = pd.read_csv("people.csv")
    df.head()
    # %%
    df.info()
    df.describe()
    # %%
    print(df.isna().sum())
    df["age"] = df["age"].fillna(df["age"].median())
    df = df.dropna(subset=["city"])
    # %%
    df[df["age"] > 30].sort_values("age")
    """,
    "one customer, many orders": """
    import pandas as pd, numpy as np
    rng = np.random.default_rng(2)
    customers = pd.DataFrame({"id": range(20), "name": [f"c{i}" for i in range(20)]})
    orders = pd.DataFrame({"id": np.arange(20).repeat(5), "eur": rng.uniform(5, 90, 100)})
    # %%
    per_order = customers.merge(orders, on="id", how="left")
    per_customer = per_order.groupby(["id", "name"], as_index=False)["eur"].sum()
    per_customer.nlargest(5, "eur")
    """,
    "left join with a fallback": """
    import pandas as pd
    items = pd.DataFrame({"sku": ["a", "b", "c", "d"] * 5, "n": range(20)})
    names = pd.DataFrame({"sku": ["a", "b", "c"], "label": ["Apple", "Banana", "Cherry"]})
    # %%
    items = items.merge(names, on="sku", how="left")
    items["label"] = items["label"].fillna("other")
    items.groupby("label")["n"].sum()
    """,
    "time series done well": """
    import numpy as np, pandas as pd
    from sklearn.linear_model import Ridge
    from sklearn.metrics import mean_absolute_error
    rng = np.random.default_rng(12)
    s = pd.DataFrame({"day": pd.date_range("2023-01-01", periods=200), "y": rng.normal(size=200).cumsum()})
    s["lag1"] = s["y"].shift(1)
    s["lag7"] = s["y"].shift(7)
    s = s.dropna()
    # %%
    cut = pd.Timestamp("2023-06-01")
    train = s[s["day"] < cut]
    test = s[s["day"] >= cut]
    # %%
    cols = ["lag1", "lag7"]
    model = Ridge().fit(train[cols], train["y"])
    print(mean_absolute_error(test["y"], model.predict(test[cols])))
    """,
    "pipeline with a search": """
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, train_test_split
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    data = load_wine(as_frame=True)
    X, y = data.data, data.target
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    # %%
    pipe = Pipeline([("scale", StandardScaler()), ("clf", LogisticRegression(max_iter=1000))])
    grid = GridSearchCV(pipe, {"clf__C": [0.1, 1, 10]}, cv=3)
    grid.fit(X_train, y_train)
    # %%
    print(grid.best_params_)
    print("test accuracy", grid.score(X_test, y_test))
    """,
    "charts": """
    import numpy as np, pandas as pd, matplotlib.pyplot as plt
    months = pd.date_range("2024-01-01", periods=12, freq="MS")
    sales = pd.DataFrame({"month": months, "eur": np.linspace(900, 1400, 12)})
    fig, (left, right) = plt.subplots(1, 2)
    left.plot(sales["month"], sales["eur"])
    left.set_ylim(800, 1500)
    right.bar(sales["month"].dt.month, sales["eur"])
    right.set_ylim(0, 1500)
    # %%
    top = sales.sort_values("eur", ascending=False).head(3)
    plt.figure()
    plt.barh(top["month"].astype(str), top["eur"])
    plt.xlim(left=0)
    plt.title("Three best months")
    """,
    "polars from start to end": """
    import polars as pl
    df = pl.DataFrame({"g": ["a", "b", None, "a"], "v": [1.0, 2.0, 3.0, 4.0]})
    lookup = pl.DataFrame({"g": ["a", "b"], "name": ["first", "second"]})
    # %%
    out = (
        df.drop_nulls("g")
        .join(lookup, on="g", how="left")
        .filter(pl.col("v") > 1.5)
        .group_by("name").agg(pl.col("v").mean())
        .sort("name")
    )
    out
    """,
    "dates with care": """
    import pandas as pd
    rows = pd.DataFrame({"d": ["2024-01-05", "2024-02-07", "2024-05-09", "2024-11-12"], "v": [1, 2, 3, 4]})
    rows["d"] = pd.to_datetime(rows["d"])
    rows["eu"] = pd.to_datetime(pd.Series(["05.01.2024", "07.02.2024", "09.05.2024", "12.11.2024"]), dayfirst=True)
    rows = rows.set_index("d").sort_index()
    rows.resample("QS")["v"].sum()
    """,
    "weighted and unweighted": """
    import pandas as pd
    df = pd.DataFrame({"team": ["a"] * 6 + ["b"] * 6, "score": range(12)})
    by_team = df.groupby("team")["score"].mean()
    print(by_team.mean())
    print(by_team.max() - by_team.min())
    """,
    "a subset of one's own": """
    import pandas as pd
    df = pd.DataFrame({"k": list("aabbcc"), "x": [3, -1, 4, -1, 5, 9]})
    pos = df[df["x"] > 0].copy()
    pos["log"] = pos["x"] ** 0.5
    pos = pos.rename(columns={"log": "root"}).reset_index(drop=True)
    pos.drop(columns="k").head()
    # %%
    pos.sort_values("root")
    """,
    "bootstrap with a generator": """
    import numpy as np, pandas as pd
    rng = np.random.default_rng(seed=2024)
    x = pd.Series(rng.exponential(3, 80), name="x")
    boots = [x.sample(frac=1, replace=True, random_state=int(rng.integers(1e9))).mean() for _ in range(50)]
    lo, hi = np.quantile(boots, [0.025, 0.975])
    print(lo, hi)
    """,
    "validation set for the choice": """
    import numpy as np
    from sklearn.datasets import make_regression
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import train_test_split
    X, y = make_regression(n_samples=200, n_features=5, noise=12, random_state=3)
    X_tmp, X_test, y_tmp, y_test = train_test_split(X, y, test_size=0.2, random_state=3)
    X_train, X_val, y_train, y_val = train_test_split(X_tmp, y_tmp, test_size=0.25, random_state=3)
    # %%
    best_alpha, best_score = None, -np.inf
    for alpha in (0.1, 1.0, 10.0):
        r2 = Ridge(alpha=alpha).fit(X_train, y_train).score(X_val, y_val)
        if r2 > best_score:
            best_alpha, best_score = alpha, r2
    final = Ridge(alpha=best_alpha).fit(X_tmp, y_tmp)
    print(final.score(X_test, y_test))
    """,
    "cleaning in a function": """
    import pandas as pd
    def clean(frame):
        out = frame.copy()
        out.columns = out.columns.str.strip().str.lower()
        out["price"] = pd.to_numeric(out["price"].str.replace(",", "."), errors="coerce")
        return out.dropna(subset=["price"]).drop_duplicates()
    raw = pd.DataFrame({" Item": ["a", "b", "b", "c"], "Price ": ["1,5", "2,0", "2,0", "x"]})
    tidy = clean(raw)
    tidy["price"].sum()
    """,
    "zip codes stay text": """
    import pandas as pd
    addr = pd.DataFrame({"plz": ["01067", "10115", "80331"], "hausnr": ["1", "12", "7"], "n": [3, 1, 2]})
    addr = addr.sort_values(["plz", "hausnr"])
    addr.groupby("plz")["n"].sum()
    """,
    "numpy work": """
    import numpy as np
    rng = np.random.default_rng(0)
    m = rng.normal(size=(50, 4))
    m[m < -2] = -2
    m[0][1] = 5.0
    z = (m - m.mean(axis=0)) / m.std(axis=0)
    big = m[m[:, 0] > 0]
    print(z.mean(), big.shape)
    """,
    "train and test scores": """
    import pandas as pd
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import classification_report
    from sklearn.model_selection import cross_val_score, train_test_split
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=42)
    # %%
    rf = RandomForestClassifier(n_estimators=20, random_state=42)
    rf.fit(X_train, y_train)
    print("train", rf.score(X_train, y_train), "test", rf.score(X_test, y_test))
    print(classification_report(y_test, rf.predict(X_test)))
    # %%
    cross_val_score(rf, X_train, y_train, cv=3).mean()
    """,
    "pivot and share": """
    import pandas as pd, numpy as np
    rng = np.random.default_rng(8)
    t = pd.DataFrame({"q": rng.choice(["Q1", "Q2"], 60), "p": rng.choice(list("xyz"), 60), "v": rng.integers(1, 9, 60)})
    wide = t.pivot_table(index="q", columns="p", values="v", aggfunc="sum", fill_value=0)
    share = wide.div(wide.sum(axis=1), axis=0)
    share.plot.bar(stacked=True)
    """,
    "outer join on purpose": """
    import pandas as pd
    a = pd.DataFrame({"k": [1, 2, 3], "x": [1, 2, 3]})
    b = pd.DataFrame({"k": [2, 3, 4], "y": [5, 6, 7]})
    both = a.merge(b, on="k", how="outer", indicator=True)
    both["_merge"].value_counts()
    """,
    "time zones kept": """
    import pandas as pd
    log = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=48, freq="h", tz="UTC"), "v": range(48)})
    log["local"] = log["t"].dt.tz_convert("America/New_York")
    log["hour"] = log["local"].dt.hour
    log.groupby("hour")["v"].mean()
    """,
    "a guard that may drop something": """
    import pandas as pd
    df = pd.DataFrame({"amount": [5.0, 7.5, -1.0, 12.0], "kind": ["a", "b", "a", "b"]})
    valid = df[df["amount"].between(0, 10)]
    share = len(valid) / len(df)
    df["size"] = pd.cut(df["amount"], [-10, 0, 10, 100], labels=["neg", "small", "large"])
    df["kind"] = df["kind"].map({"a": "alpha", "b": "beta"})
    """,
}

STRANGERS = [
    *(Notebook(name, cells_of(text), defect) for (defect, name), text in _WRONG.items()),
    *(Notebook(name, cells_of(text)) for name, text in _RIGHT.items()),
]
