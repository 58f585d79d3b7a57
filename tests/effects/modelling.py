"""Leakage and models."""

from __future__ import annotations

from .notebooks import Pair

LOANS = """
    import numpy as np
    import pandas as pd
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(21)
    n = 240
    df = pd.DataFrame({
        "income": rng.normal(50, 12, n),
        "debt": rng.normal(20, 6, n),
        "years": rng.integers(0, 30, n),
    })
    df["default"] = (df.debt - 0.3 * df.income + rng.normal(0, 6, n) > 6).astype(int)
"""

HOUSES = """
    import numpy as np
    import pandas as pd
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split

    rng = np.random.default_rng(4)
    houses = pd.DataFrame({"area": rng.uniform(40, 200, 150), "rooms": rng.integers(1, 8, 150)})
    houses["price"] = 2000 * houses["area"] + 9000 * houses["rooms"] + rng.normal(0, 30000, 150)
"""

SPLIT = """
    X = df.drop(columns="default")
    y = df["default"]
"""

LEAKAGE = [
    Pair(
        "scaled before the split", "fit_before_split",
        LOANS + SPLIT,
        """
    X_scaled = StandardScaler().fit_transform(X)
    X_train, X_test, y_train, y_test = train_test_split(X_scaled, y, random_state=0)
    # %%
    model = LogisticRegression().fit(X_train, y_train)
    print(model.score(X_test, y_test))
    """,
        """
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    scaler = StandardScaler()
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.transform(X_test)
    # %%
    model = LogisticRegression().fit(X_train, y_train)
    print(model.score(X_test, y_test))
    """,
    ),
    Pair(
        "imputed in the frame", "fit_before_split",
        LOANS + """
    df.loc[::9, "income"] = np.nan
    from sklearn.impute import SimpleImputer
    """,
        """
    df[["income"]] = SimpleImputer(strategy="median").fit_transform(df[["income"]])
    # %%
    train, test = train_test_split(df, test_size=0.25, random_state=2)
    clf = LogisticRegression().fit(train[["income", "debt"]], train["default"])
    clf.score(test[["income", "debt"]], test["default"])
    """,
        """
    from sklearn.pipeline import make_pipeline
    train, test = train_test_split(df, test_size=0.25, random_state=2)
    clf = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression())
    clf.fit(train[["income", "debt"]], train["default"])
    clf.score(test[["income", "debt"]], test["default"])
    """,
    ),
    Pair(
        "best features of all rows", "fit_before_split",
        LOANS + SPLIT + """
    from sklearn.feature_selection import SelectKBest, f_classif
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import Pipeline
    """,
        """
    selector = SelectKBest(f_classif, k=2)
    selector.fit(X, y)
    X_best = selector.transform(X)
    scores = cross_val_score(LogisticRegression(), X_best, y, cv=5)
    scores.mean()
    """,
        """
    pipe = Pipeline([("best", SelectKBest(f_classif, k=2)), ("clf", LogisticRegression())])
    scores = cross_val_score(pipe, X, y, cv=5)
    scores.mean()
    """,
    ),
    Pair(
        "scaled by hand", "fit_before_split",
        HOUSES,
        """
    houses["area"] = (houses["area"] - houses["area"].mean()) / houses["area"].std()
    tr, te = train_test_split(houses, random_state=1)
    lm = LinearRegression().fit(tr[["area", "rooms"]], tr.price)
    lm.score(te[["area", "rooms"]], te.price)
    """,
        """
    tr, te = train_test_split(houses, random_state=1)
    tr, te = tr.copy(), te.copy()
    center, width = tr["area"].mean(), tr["area"].std()
    tr["area"] = (tr["area"] - center) / width
    te["area"] = (te["area"] - center) / width
    lm = LinearRegression().fit(tr[["area", "rooms"]], tr.price)
    lm.score(te[["area", "rooms"]], te.price)
    """,
    ),
    Pair(
        "the target among the features", "target_among_features",
        HOUSES,
        """
    X = houses
    y = houses["price"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    reg = LinearRegression()
    reg.fit(X_train, y_train)
    reg.score(X_test, y_test)
    """,
        """
    X = houses[["area", "rooms"]]
    y = houses["price"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    reg = LinearRegression()
    reg.fit(X_train, y_train)
    reg.score(X_test, y_test)
    """,
    ),
    Pair(
        "price per square metre", "target_among_features",
        HOUSES,
        """
    houses["per_area"] = houses["price"] / houses["area"]
    features = ["area", "rooms", "per_area"]
    # %%
    a, b, c, d = train_test_split(houses[features], houses["price"], random_state=3)
    print(LinearRegression().fit(a, c).score(b, d))
    """,
        """
    houses["per_room"] = houses["area"] / houses["rooms"]
    features = ["area", "rooms", "per_room"]
    # %%
    a, b, c, d = train_test_split(houses[features], houses["price"], random_state=3)
    print(LinearRegression().fit(a, c).score(b, d))
    """,
    ),
    Pair(
        "the target in other words", "target_among_features",
        LOANS + """
    df["status"] = df["default"].map({0: 1, 1: 7})
    """,
        """
    X = df.drop(["default"], axis=1)
    y = df.default
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1, stratify=y)
    LogisticRegression(max_iter=500).fit(X_train, y_train).score(X_test, y_test)
    """,
        """
    X = df.drop(["default", "status"], axis=1)
    y = df.default
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1, stratify=y)
    LogisticRegression(max_iter=500).fit(X_train, y_train).score(X_test, y_test)
    """,
    ),
    Pair(
        "rows on both sides", "duplicates_across_split",
        HOUSES + """
    houses = pd.concat([houses, houses.sample(30, random_state=0)], ignore_index=True)
    """,
        """
    train, test = train_test_split(houses, test_size=0.3, random_state=8)
    m = LinearRegression().fit(train[["area", "rooms"]], train["price"])
    m.score(test[["area", "rooms"]], test["price"])
    """,
        """
    houses = houses.drop_duplicates()
    train, test = train_test_split(houses, test_size=0.3, random_state=8)
    m = LinearRegression().fit(train[["area", "rooms"]], train["price"])
    m.score(test[["area", "rooms"]], test["price"])
    """,
    ),
    Pair(
        "tomorrow predicts yesterday", "future_in_training",
        """
    import numpy as np
    import pandas as pd
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import train_test_split

    rng = np.random.default_rng(9)
    days = pd.date_range("2023-01-01", periods=300)
    load = pd.DataFrame({"day": days, "temp": rng.normal(10, 8, 300)})
    load["power"] = 100 - 2 * load.temp + np.sin(np.arange(300) / 7) * 9 + rng.normal(0, 3, 300)
    load["lag"] = load["power"].shift(1)
    load = load.dropna()
    """,
        """
    X, y = load[["temp", "lag"]], load["power"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    Ridge().fit(X_train, y_train).score(X_test, y_test)
    """,
        """
    X, y = load[["temp", "lag"]], load["power"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, shuffle=False)
    Ridge().fit(X_train, y_train).score(X_test, y_test)
    """,
    ),
    Pair(
        "sampled from a series", "future_in_training",
        """
    import numpy as np
    import pandas as pd
    from sklearn.linear_model import LinearRegression
    rng = np.random.default_rng(9)
    idx = pd.date_range("2022-01-01", periods=200, freq="D")
    ts = pd.DataFrame({"x": rng.normal(size=200).cumsum()}, index=idx)
    ts["y"] = ts.x * 2 + rng.normal(size=200)
    """,
        """
    train = ts.sample(frac=0.8, random_state=1)
    test = ts.drop(train.index)
    LinearRegression().fit(train[["x"]], train["y"]).score(test[["x"]], test["y"])
    """,
        """
    train, test = ts.iloc[:160], ts.iloc[160:]
    LinearRegression().fit(train[["x"]], train["y"]).score(test[["x"]], test["y"])
    """,
    ),
    Pair(
        "accuracy of what it knows", "score_on_training_rows",
        LOANS + SPLIT + """
    from sklearn.metrics import accuracy_score
    from sklearn.tree import DecisionTreeClassifier
    """,
        """
    tree = DecisionTreeClassifier(random_state=0)
    tree.fit(X, y)
    # %%
    predicted = tree.predict(X)
    print("accuracy", accuracy_score(y, predicted))
    """,
        """
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    tree = DecisionTreeClassifier(random_state=0)
    tree.fit(X_train, y_train)
    # %%
    print("train", accuracy_score(y_train, tree.predict(X_train)))
    print("test", accuracy_score(y_test, tree.predict(X_test)))
    """,
    ),
    Pair(
        "best depth by the test set", "tuned_on_test",
        LOANS + SPLIT + """
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    """,
        """
    best, best_depth = 0, None
    for depth in range(1, 8):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X_train, y_train)
        score = model.score(X_test, y_test)
        if score > best:
            best, best_depth = score, depth
    print(best_depth, best)
    """,
        """
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": list(range(1, 8))})
    search.fit(X_train, y_train)
    print(search.best_params_, search.score(X_test, y_test))
    """,
    ),
    Pair(
        "scores in a dictionary", "tuned_on_test",
        LOANS + SPLIT + """
    from sklearn.metrics import f1_score
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    """,
        """
    results = {}
    for c in [0.01, 0.1, 1, 10]:
        clf = LogisticRegression(C=c).fit(X_train, y_train)
        results[c] = f1_score(y_test, clf.predict(X_test))
    best_c = max(results, key=results.get)
    """,
        """
    X_fit, X_val, y_fit, y_val = train_test_split(X_train, y_train, random_state=1)
    results = {}
    for c in [0.01, 0.1, 1, 10]:
        clf = LogisticRegression(C=c).fit(X_fit, y_fit)
        results[c] = f1_score(y_val, clf.predict(X_val))
    best_c = max(results, key=results.get)
    final = LogisticRegression(C=best_c).fit(X_train, y_train)
    print(f1_score(y_test, final.predict(X_test)))
    """,
    ),
    Pair(
        "a forest that grows anew", "no_seed",
        LOANS + SPLIT + """
    from sklearn.ensemble import RandomForestClassifier
    """,
        """
    Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.2)
    forest = RandomForestClassifier(n_estimators=10).fit(Xa, ya)
    forest.score(Xb, yb)
    """,
        """
    SEED = 13
    Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.2, random_state=SEED)
    forest = RandomForestClassifier(n_estimators=10, random_state=SEED).fit(Xa, ya)
    forest.score(Xb, yb)
    """,
    ),
]  # fmt: skip
