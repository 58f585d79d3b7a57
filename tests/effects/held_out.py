"""Notebooks by somebody who has written none of the rules; kept as they were, also what is missed."""
# ruff: noqa: E501

from __future__ import annotations

from .notebooks import Notebook, cells_of

_WRONG = {
    ("join_multiplied_rows", "join csv one-liner"): """
    pd.DataFrame({'cid': rng.integers(0, 50, n), 'amt': rng.normal(100, 20, n)}).to_csv('o.csv', index=False)
    pd.DataFrame({'cid': list(range(50)) + [3, 4, 5], 'seg': ['x'] * 53}).to_csv('c.csv', index=False)
    # %%
    m = pd.read_csv('o.csv').merge(pd.read_csv('c.csv'), on='cid')
    m.amt.sum()
    """,
    ("join_lost_rows", "join via map lost"): """
    orders = pd.DataFrame({'sku': rng.choice(['A1', 'A2', 'B7', 'b7 '], n), 'qty': 1})
    prices = pd.DataFrame({'sku': ['A1', 'A2', 'B7'], 'price': [1.0, 2.0, 3.0]})
    # %%
    merged = pd.merge(orders, prices, how='inner', left_on='sku', right_on='sku')
    (merged.qty * merged.price).sum()
    """,
    ("join_without_partner", "set_index join"): """
    a = pd.DataFrame({'id': range(100), 'v': range(100)}).set_index('id')
    b = pd.DataFrame({'id': list(range(60)) * 2, 'w': 1}).set_index('id')
    # %%
    j = a.join(b)
    """,
    ("group_dropped_rows", "groupby nan"): """
    d = pd.DataFrame({'team': rng.choice(['r', 'g', None], n), 'pts': rng.integers(0, 9, n)})
    # %%
    by = d.groupby('team').agg(total=('pts', 'sum')).reset_index()
    by
    """,
    ("numbers_as_text", "german numbers"): """
    open('de.csv', 'w').write('k;betrag\\n' + '\\n'.join(f'{i};{i},5' for i in range(50)))
    # %%
    df = pd.read_csv('de.csv', sep=';')
    df.head()
    """,
    ("dates_ambiguous", "dates swapped"): """
    days = pd.date_range('2024-01-01', '2024-12-28', periods=80)
    open('d.csv', 'w').write('when,v\\n' + '\\n'.join(f'{d:%d/%m/%Y},1' for d in days if d.day <= 12))
    # %%
    df = pd.read_csv('d.csv', parse_dates=['when'])
    df.groupby(df.when.dt.month).v.sum()
    """,
    ("fit_before_split", "scaler before split"): """
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.model_selection import train_test_split
    from sklearn.linear_model import Ridge
    X = rng.normal(size=(n, 4)); y = X @ [1, 2, 3, 4] + rng.normal(size=n)
    # %%
    X = MinMaxScaler().fit_transform(X)
    Xtr, Xte, ytr, yte = train_test_split(X, y, random_state=1)
    Ridge().fit(Xtr, ytr).score(Xte, yte)
    """,
    ("target_among_features", "target leak"): """
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import train_test_split
    h = pd.DataFrame({'area': rng.normal(100, 20, n), 'rooms': rng.integers(1, 6, n)})
    h['price'] = h.area * 3000 + rng.normal(0, 5000, n)
    h['price_per_m2'] = h.price / h.area
    h['log_price'] = np.log(h.price.clip(lower=1))
    # %%
    X = h.drop(columns=['price'])
    y = h['price']
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = LinearRegression().fit(X_train, y_train)
    print(model.score(X_test, y_test))
    """,
    ("score_on_training_rows", "train score"): """
    from sklearn.tree import DecisionTreeRegressor
    from sklearn.metrics import r2_score
    from sklearn.model_selection import train_test_split
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list('abc')); y = X.a * 2
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    # %%
    t = DecisionTreeRegressor(random_state=0)
    t.fit(X_train, y_train)
    pred = t.predict(X_train)
    print('R2', r2_score(y_train, pred))
    """,
    ("no_seed", "no seed sample"): """
    d = pd.DataFrame({'x': range(n)})
    # %%
    boot = d.sample(frac=0.5)
    boot.x.mean()
    """,
    ("no_seed", "kmeans no seed"): """
    from sklearn.cluster import KMeans
    X = rng.normal(size=(n, 2))
    # %%
    labels = KMeans(n_clusters=3, n_init=1).fit_predict(X)
    """,
    ("copy_changed", "chained"): """
    d = pd.DataFrame({'x': range(n), 'y': 0})
    # %%
    d[d.x > 100]['y'] = 1
    d.y.sum()
    """,
    ("result_thrown_away", "fillna ignored"): """
    d = pd.DataFrame({'x': [1.0, None, 3.0] * 10})
    # %%
    d.fillna(0)
    d.x.mean()
    """,
    ("mean_of_means", "mean of mean"): """
    d = pd.DataFrame({'g': ['a'] * 90 + ['b'] * 10, 'v': range(100)})
    # %%
    per_group = d.groupby('g')['v'].mean()
    overall = per_group.mean()
    """,
    ("filter_keeps_nothing", "filter nothing"): """
    d = pd.DataFrame({'status': ['Open', 'Closed'] * 50, 'v': 1})
    # %%
    open_ones = d.query("status == 'open'")
    len(open_ones)
    """,
    ("bar_axis_above_zero", "bar axis"): """
    import matplotlib.pyplot as plt
    d = pd.DataFrame({'k': list('abc'), 'v': [98, 99, 97]})
    # %%
    fig, ax = plt.subplots()
    ax.bar(d.k, d.v)
    ax.set_ylim(95, 100)
    """,
    ("bar_axis_above_zero", "bar axis pandas"): """
    d = pd.DataFrame({'k': list('abc'), 'v': [98, 99, 97]})
    # %%
    ax = d.plot.bar(x='k', y='v', ylim=(96, 100))
    """,
    ("column_all_missing", "to_numeric coerce"): """
    d = pd.DataFrame({'p': [f'EUR {i}' for i in range(40)]})
    # %%
    d['p'] = pd.to_numeric(d['p'], errors='coerce')
    """,
    ("column_lost_time_zone", "tz lost"): """
    d = pd.DataFrame({'t': pd.date_range('2024-01-01', periods=50, tz='Europe/Berlin')})
    # %%
    d['t'] = d['t'].dt.tz_localize(None)
    """,
    ("comparison_dropped_rows", "compare nan"): """
    d = pd.DataFrame({'score': [1.0, None, 5.0, 7.0] * 30})
    # %%
    low = d[d['score'] < 6]
    high = d[d['score'] >= 6]
    len(low) / len(d)
    """,
    ("future_in_training", "time split random"): """
    from sklearn.model_selection import train_test_split
    d = pd.DataFrame({'date': pd.date_range('2022-01-01', periods=n), 'sales': rng.normal(size=n)})
    d['lag'] = d.sales.shift(1)
    d = d.dropna()
    # %%
    train, test = train_test_split(d, test_size=0.2, random_state=42)
    """,
    ("tuned_on_test", "grid on test"): """
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.model_selection import train_test_split
    X = rng.normal(size=(n, 2)); y = X[:, 0]
    Xtr, Xte, ytr, yte = train_test_split(X, y, random_state=0)
    # %%
    best, best_k = -9, None
    for k in range(1, 20):
        s = KNeighborsRegressor(k).fit(Xtr, ytr).score(Xte, yte)
        if s > best:
            best, best_k = s, k
    print(best_k, best)
    """,
    ("join_multiplied_rows", "polars join"): """
    import polars as pl
    o = pl.DataFrame({'k': [1, 2, 3] * 20, 'v': range(60)})
    c = pl.DataFrame({'k': [1, 2, 2, 3], 'n': list('abcd')})
    # %%
    j = o.join(c, on='k', how='left')
    """,
    ("duplicates_across_split", "dup across split"): """
    from sklearn.model_selection import train_test_split
    base = pd.DataFrame({'a': rng.integers(0, 5, n), 'b': rng.normal(size=n).round(3)})
    data = pd.concat([base, base.sample(60, random_state=1)], ignore_index=True)
    # %%
    tr, te = train_test_split(data, random_state=0)
    """,
}

_RIGHT = {
    "clean analysis": """
    orders = pd.DataFrame({'cid': rng.integers(0, 50, n), 'amt': rng.normal(100, 20, n)})
    cust = pd.DataFrame({'cid': range(50), 'seg': rng.choice(['x', 'y'], 50)})
    # %%
    m = orders.merge(cust, on='cid', how='left', validate='many_to_one')
    m.groupby('seg').amt.agg(['sum', 'mean', 'count'])
    # %%
    top = m.nlargest(10, 'amt')
    big = m[m.amt > 120]
    m['share'] = m.amt / m.amt.sum()
    m.sort_values('amt', ascending=False).head(5)
    """,
    "clean ml": """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split, GridSearchCV, cross_val_score
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list('abcd')); y = (X.a + X.b > 0).astype(int)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    # %%
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(random_state=0, n_estimators=10))
    search = GridSearchCV(pipe, {'randomforestclassifier__max_depth': [2, 4]}, cv=3)
    search.fit(X_train, y_train)
    print(search.best_score_, search.score(X_test, y_test))
    # %%
    scores = cross_val_score(pipe, X_train, y_train, cv=3)
    scores.mean()
    """,
    "clean time": """
    d = pd.DataFrame({'date': pd.date_range('2022-01-01', periods=n), 'sales': rng.normal(10, 1, n)})
    cut = pd.Timestamp('2022-09-01')
    train, test = d[d.date < cut], d[d.date >= cut]
    # %%
    naive = train.sales.iloc[-1]
    mae = (test.sales - naive).abs().mean()
    monthly = d.set_index('date').sales.resample('MS').sum()
    d['month'] = d.date.dt.month
    d.groupby('month').sales.mean()
    """,
    "clean plots": """
    import matplotlib.pyplot as plt
    d = pd.DataFrame({'x': range(n), 'y': rng.normal(50, 2, n)})
    # %%
    fig, ax = plt.subplots(figsize=(6, 3))
    ax.plot(d.x, d.y)
    ax.set_ylim(40, 60)
    ax.set_title('Levels')
    # %%
    d.y.hist(bins=20)
    plt.xlabel('y')
    # %%
    d.assign(b=pd.cut(d.y, 4)).groupby('b', observed=True).y.count().plot(kind='bar')
    """,
    "clean cleaning": """
    raw = pd.DataFrame({'name': [' Ann', 'Bob ', None] * 30, 'age': ['31', '44', 'n/a'] * 30})
    # %%
    clean = raw.copy()
    clean['name'] = clean['name'].str.strip()
    clean['age'] = pd.to_numeric(clean['age'].replace('n/a', None))
    clean = clean.dropna(subset=['name', 'age']).astype({'age': int})
    # %%
    clean = clean.drop_duplicates()
    adults = clean[clean.age >= 40]
    adults.describe()
    """,
    "clean outer": """
    a = pd.DataFrame({'m': range(1, 13), 'plan': 1})
    b = pd.DataFrame({'m': range(3, 13), 'actual': 2})
    # %%
    c = a.merge(b, on='m', how='outer', indicator=True)
    c['actual'] = c['actual'].fillna(0)
    c['gap'] = c.plan - c.actual
    """,
    "clean polars": """
    import polars as pl
    df = pl.DataFrame({'k': ['a', 'b'] * 50, 'v': range(100)})
    # %%
    out = df.group_by('k').agg(pl.col('v').mean()).sort('k')
    f = df.filter(pl.col('v') > 50)
    df = df.with_columns((pl.col('v') * 2).alias('w'))
    """,
    "clean numpy": """
    x = rng.normal(size=(100, 3))
    # %%
    z = (x - x.mean(0)) / x.std(0)
    w, *_ = np.linalg.lstsq(np.c_[np.ones(100), x], x[:, 0], rcond=None)
    sel = x[x[:, 0] > 0]
    """,
    "clean eda": """
    df = pd.DataFrame({'city': rng.choice(['A', 'B', 'C'], n), 'rent': rng.gamma(3, 300, n).round(), 'size': rng.normal(70, 15, n)})
    df.loc[::40, 'rent'] = None
    # %%
    df.info()
    df.isna().sum()
    df['rent'] = df.groupby('city')['rent'].transform(lambda s: s.fillna(s.median()))
    # %%
    df['per_m2'] = df['rent'] / df['size']
    pivot = df.pivot_table(index='city', values=['rent', 'per_m2'], aggfunc='median')
    expensive = df.loc[df['per_m2'] > df['per_m2'].quantile(0.9), ['city', 'rent']]
    corr = df[['rent', 'size']].corr()
    """,
}

_SETUP = """
    import pandas as pd, numpy as np
    rng = np.random.default_rng(7)
    n = 300
    # %%
    """

HELD_OUT = (
    *(Notebook(name, cells_of(_SETUP + text), defect) for (defect, name), text in _WRONG.items()),
    *(Notebook(name, cells_of(_SETUP + text)) for name, text in _RIGHT.items()),
)
