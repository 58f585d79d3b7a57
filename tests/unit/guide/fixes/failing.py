"""Cells as people write them that fail; the fix of each must make it run.

All run in a notebook whose first cell is `SETUP`, in a folder that has the `FILES`.
"""

from __future__ import annotations

SETUP = """
import numpy as np
import pandas as pd
import polars as pl

df = pd.DataFrame({
    "Region": ["N", "S", "N", "W"],
    "Unit Price": [1.5, 2.0, 3.0, 4.0],
    "units": [1, 2, 3, 4],
    "amount": ["1,234", "5", "6", "x"],
    "date": ["2024-01-01", "2024-02-01", "2024-02-03", "2024-03-01"],
})
other = pd.DataFrame({"region": ["N", "S"], "manager": ["a", "b"]})
pf = pl.DataFrame({"Region": ["N", "S"], "Sales": [1, 2]})
a, b = np.arange(6), np.arange(4)
settings = {"Threshold": 3}
count = 7
zero = 0
"""

FILES = {
    "data/sales.csv": "a,b\n1,2\n",
    "data/Customers 2024.csv": "id;name\n1;a\n",
    "x.csv": "a,b\n1,2\n3,4,5\n",
}

FIXED = {
    # Columns and keys
    "another case": "df['region']",
    "as an attribute": "df.region",
    "a space in it": "df['unit_price'].mean()",
    "an attribute that needs quotes": "df.unit_price",
    "an attribute behind groupby": "df.groupby('Region').unit.sum()",
    "a part of the name": "df.groupby('Region').price.mean()",
    "in groupby": "df.groupby('region')['units'].sum()",
    "behind groupby": "df.groupby('Region')['Units'].sum()",
    "in sort_values": "df.sort_values('unit')",
    "in loc": "df.loc[:, 'Units']",
    "in a list": "df[['Region', 'unit price']]",
    "in drop": "df.drop(columns='region')",
    "drop without columns": "df.drop('Region')",
    "drop with an axis by place": "df.drop('Region', 1)",
    "in set_index": "df.set_index('region')",
    "in agg": "df.groupby('Region').agg({'Units': 'sum'})",
    "in named agg": "df.groupby('Region').agg(total=('Units', 'sum'))",
    "in pivot_table": "df.pivot_table(index='region', values='units')",
    "in query": "df.query('region == \"N\"')",
    "in nlargest": "df.nlargest(3, 'Units')",
    "in plot": "df.plot(x='region', y='units')",
    "in merge, one side": "df.merge(other, on='region')",
    "in merge, no key": "pd.merge(df, other)",
    "in polars": "pf.group_by('region').agg(pl.col('Sales').sum())",
    "in polars col": "pf.select(pl.col('sales'))",
    "in a second line": "x = 1\ny = df['Unitz'] + x",
    "in a function of the cell": "def total(t):\n    return t['Units'].sum()\n\ntotal(df)",
    "a row by place": "df[0]",
    "a key": "settings['threshold']",
    # Names
    "numpy alias": "np2 = 1\nplt.figure()",
    "a module of Python": "math.sqrt(2)",
    "a class of a module": "datetime.now()",
    "from collections": "Counter([1])",
    "a name misspelled": "cuont + 1",
    "a table misspelled": "dff.head()",
    "another language": "x = true",
    "Python 2": "[n for n in xrange(3)]",
    "reduce": "reduce(lambda one, two: one + two, [1, 2])",
    # Modules and files
    "a module misspelled": "import pandsa as p\np.DataFrame()",
    "moved in scikit-learn": "from sklearn.cross_validation import train_test_split",
    "moved in Python": "from collections import Mapping, Counter",
    "joblib": "from sklearn.externals import joblib\njoblib.__name__",
    "renamed and used": "from sklearn.preprocessing import Imputer\nImputer()",
    "a file elsewhere": "pd.read_csv('sales.csv')",
    "a file misspelled": "open('data/slaes.csv').close()",
    "a file with other case": "pd.read_csv('data/customers_2024.csv', sep=';')",
    # Types
    "thousands": "df['amount'].astype(float)",
    "thousands in assign": "df.astype({'amount': int})",
    "thousands in to_numeric": "pd.to_numeric(df['amount'])",
    "text in a sum": "df['units'] + df['amount']",
    "text in a product": "df['amount'] * 1.5",
    "sum of text": "sum(df['amount'])",
    "mean of text": "df['amount'].mean()",
    "numpy mean of text": "np.mean(df['amount'])",
    "mean of groups": "df.groupby('Region').mean()",
    "mean of all": "df.mean()",
    "correlation": "df.corr()",
    "rolling": "df.rolling(2).mean()",
    "text and number": "'units: ' + 5",
    "text and length": "print('Rows: ' + len(df))",
    "whole number with decimals": "int('3.5')",
    "decimal comma": "float('1,5')",
    "dates as text": "df['date'].dt.month",
    "dates compared": "df[df['date'] > pd.Timestamp('2024-01-02')]",
    "dates subtracted": "df['date'] - pd.Timestamp('2024-01-02')",
    "dates in several forms": "pd.to_datetime(['01.02.2024', '15.02.2024', '2024-02-16']).year",
    "resample without dates": "df.resample('D')['units'].sum()",
    "numbers as text": "df['units'].str.zfill(3)",
    # Shapes
    "columns of several lengths": "pd.DataFrame({'a': [1, 2], 'b': [1]})",
    "a short column": "df['new'] = [1, 2]",
    "a long column": "df['new'] = np.arange(9)",
    "x and y": "import matplotlib.pyplot as plt\nplt.plot(a, b)",
    "x and y scattered": "import matplotlib.pyplot as plt\nplt.scatter(a, b)",
    "a product of matrices": "np.dot(np.zeros((2, 3)), np.zeros((2, 3)))",
    "the same with @": "m = np.ones((2, 3))\nm @ m",
    "reshape": "np.arange(6).reshape(3, 3)",
    "one column for scikit-learn":
        "from sklearn.linear_model import LinearRegression\n"
        "LinearRegression().fit(df['units'], df['Unit Price'])",
    "an array for scikit-learn":
        "from sklearn.linear_model import LinearRegression\n"
        "LinearRegression().fit(b, b)",
    "a large sample": "df.sample(10)",
    "one place too far": "a[6]",
    # Changed libraries
    "append": "df = df.append(other)",
    "append a row": "df = df.append({'Region': 'E', 'units': 3}, ignore_index=True)",
    "append a column": "df['units'].append(df['units'])",
    "ix by place": "df.ix[0]",
    "ix by label": "df.ix[df['units'] > 2, 'Region']",
    "as_matrix": "df.as_matrix()",
    "get_value": "df.get_value(0, 'units')",
    "set_value": "df.set_value(0, 'units', 9)",
    "iteritems": "for name, column in df.iteritems():\n    print(name)",
    "applymap": "df.applymap(str)",
    "lookup": "df.lookup([0, 1], ['units', 'Region'])",
    "numpy of pandas": "pd.np.array([1])",
    "fillna": "df.fillna(method='ffill')",
    "fillna of a column": "df['units'].fillna(method='bfill', inplace=False)",
    "groupby axis": "df.groupby('Region', axis=0)['units'].sum()",
    "month end": "pd.date_range('2024-01-01', periods=3, freq='M')",
    "hours": "pd.date_range('2024-01-01', periods=3, freq='2H')",
    "line_terminator": "df.to_csv(line_terminator='\\n')",
    "error_bad_lines": "pd.read_csv('x.csv', error_bad_lines=False)",
    "white space": "pd.read_csv('x.csv', delim_whitespace=True)",
    "infer_datetime_format": "pd.to_datetime(df['date'], infer_datetime_format=True)",
    "Int64Index": "pd.Int64Index([1])",
    "sort": "df.sort('units')",
    "value_counts": "pd.value_counts(df['Region'])",
    "np.float": "df['units'].astype(np.float)",
    "np.int": "np.zeros(3, dtype=np.int)",
    "np.NaN": "np.NaN",
    "np.product": "np.product([1, 2])",
    "np.in1d": "np.in1d([1], [1])",
    "sparse": "from sklearn.preprocessing import OneHotEncoder\nOneHotEncoder(sparse=False)",
    "squared":
        "from sklearn.metrics import mean_squared_error\n"
        "mean_squared_error([1, 2], [1, 3], squared=False)",
    "normed": "import matplotlib.pyplot as plt\nplt.hist([1, 2, 2], normed=True)",
    "reshape of a column": "df['units'].reshape(-1, 1)",
    "has_key": "settings.has_key('Threshold')",
    # Conditions
    "and": "df[df['units'] > 1 and df['units'] < 3]",
    "or with not": "df[df['units'] > 3 or not df['Region'] == 'N']",
    "no parentheses": "df[df['units'] > 1 & df['Region'] == 'N']",
    "between": "df[1 < df['units'] < 3]",
    "if of a column": "if df['units'] > 2:\n    print('yes')",
    # Attributes, calls, arguments
    "a method misspelled": "df.drop_duplicate()",
    "a method of text": "df['Region'].upper()",
    "an argument misspelled": "df.sort_values('units', ascend=False)",
    "tables not in a list": "pd.concat(df, other)",
    "parentheses for brackets": "df('units')",
    "brackets for parentheses": "df.groupby['Region']",
    "parentheses behind a value": "df.shape()",
    "iloc with parentheses": "df.iloc(0, 1)",
    "in place": "x = df.sort_values('units', inplace=True)\nx.head()",
    "sort of a list": "x = [3, 1].copy()\ny = x.sort()\ny[0]",
    "a hidden built-in": "list = [1]\nlist((1, 2))",
    "a kind of chart": "df.plot(kind='barr', y='units')",
    "several columns in loc": "df.loc[df['units'] > 1, 'Region', 'units']",
    "division": "count / zero",
    # What Python cannot read
    "colon": "for n in range(3)\n    print(n)",
    "colon of a function": "def f(x)\n    return x\nf(1)",
    "bracket": "print(df.head()",
    "bracket in a line": "x = [1, 2\ny = 3",
    "bracket before a colon": "for n in range(len(df):\n    print(n)",
    "one bracket too many": "print(len(df)))",
    "quote": "x = 'abc",
    "quote in a call": "print('abc)",
    "equals": "if count = 3:\n    print('three')",
    "print": "print 'a'",
    "two prints": "print 'a'\nprint count",
    "f-string brace": "f'{count'",
    "f-string quotes": "f\"{df[\"Region\"]}\"",
    "no indent": "def f():\nreturn 1",
    "too much indent": "x = 1\n  y = 2",
    "tabs": "if count:\n\tx = 1\n        y = 2",
    "typographic quotes": "x = “abc”",
    "increment": "count++",
    "other operators": "if count > 1 && zero == 0:\n    print(1)",
    "else if": "if zero:\n    print(1)\nelse if count:\n    print(2)",
    "comma": "x = ['a' 'b', 'c' count]",
}  # fmt: skip

ADVISED = {
    "df['nonsense']": "has no column `nonsense`. It has `Region`",
    "df.loc[10]": "No row has the label 10",
    "a + b": "have the shapes (6,) and (4,)",
    "df.columns = ['a']": "has 5 columns, and 1 names were given",
    "1 / 0": "you cannot divide by 0",
    "def f(one, two): return one\nf(1)": "also needs `two`",
    "pd.read_csv('nothing.xlsx')": "no file `nothing.xlsx`",
    "zzz": "Nothing is called `zzz`",
    "raise ZeroDivisionError": "divided by 0",
    "df.swaplevel()": "I have no rule for this error",
    "class Odd(Exception): pass\nraise Odd('so')": "rule for this error. Connect a model",
    "[1, 2][7]": "has no position 7",
    "settings['nothing']": "`list(settings)` shows its keys",
    "pd.Panel()": "removed from pandas",
    "df['units'].dt.year": "contains numbers, not dates",
    "assert count == 1": "not as the code expects",
}

HELD_OUT = {
    "summary = df.groupby('REGION')['units'].sum()\nsummary.sort_values(ascending=False)",
    "df['month'] = df['date'].dt.to_period('M')\ndf.groupby('month')['units'].sum()",
    "big = df[(df.units > 2) and (df['Region'] == 'N')]\nbig",
    "merged = df.merge(other, on='region', how='left')\nmerged.head()",
    "ax = df.plot(kind='histogram', y='units')",
    "clean = df.drop_duplicates(subset='Region', inplace=True)\nprint(clean.shape)",
    "df.set_index(pd.to_datetime(df['date'])).resample('H')['units'].sum()",
    "arr = np.array([1, 2, 3], dtype=np.int)\narr.mean()",
    "df.describe().transpos()",
    "df.loc[df['Region'].startswith('N')]",
    "plt.hist(df['units'], bins=3)",
    "top = ddf.nlargest(2, 'units')\ntop",
    "if df['units'].max() = 4:\n    print('four')",
}
"""Written without looking at the rules; of 25 such cells 23 were repaired the first time."""
