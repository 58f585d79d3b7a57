"""Cells as people write them that fail: what repairs them, and what nothing surely repairs.

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
people = pd.DataFrame({
    "customer_name": ["Ada", "Bo", "Cy"],
    "price": ["1,50", "2,25", "3,10"],
    "fee": ["$1,200", "$3", "$4"],
    "born": ["03.04.2001", "15.06.2002", "02.01.2003"],
    "seen": ["01/02/2024", "03/04/2024", "05/06/2024"],
    "postcode": ["01067", "04109", "99084"],
    "sales_2022": [1, 2, 3],
    "sales_2024": [1, 2, 3],
    "unpaid": [1, 2, 3],
    "generated": [1, 2, 3],
    "region_x": [1, 2, 3],
    "region_y": [1, 2, 3],
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
}

FIXED = (
    # Columns
    "df.region", "df.groupby('Region').price.mean()", "df.groupby('Region')['Units'].sum()",
    "df.loc[:, 'Units']", "df.drop(columns='region')", "df.drop('Region')",
    "df.groupby('Region').agg(total=('Units', 'sum'))",
    "pf.group_by('region').agg(pl.col('Sales').sum())",
    "def total(t):\n    return t['Units'].sum()\n\ntotal(df)",
    # Names
    "np2 = 1\nplt.figure()", "math.sqrt(2)", "datetime.now()", "Counter([1])", "cuont + 1",
    "x = true", "reduce(lambda one, two: one + two, [1, 2])",
    # Modules and files
    "import pandsa as p\np.DataFrame()", "pd.read_csv('sales.csv')",
    "open('data/slaes.csv').close()", "pd.read_csv('data/customers_2024.csv', sep=';')",
    # Types
    "df['amount'].astype(float)", "pd.to_numeric(df['amount'])", "df['units'] + df['amount']",
    "df['amount'].mean()", "df.groupby('Region').mean()", "df.corr()", "print('Rows: ' + len(df))",
    "pd.to_datetime(['01.02.2024', '15.02.2024', '2024-02-16']).year",
    # Changed libraries
    "df = df.append({'Region': 'E', 'units': 3}, ignore_index=True)", "df.as_matrix()",
    "for name, column in df.iteritems():\n    print(name)", "df.applymap(str)",
    "df['units'].fillna(method='bfill', inplace=False)",
    "df.groupby('Region', axis=0)['units'].sum()", "df.to_csv(line_terminator='\\n')",
    "pd.to_datetime(df['date'], infer_datetime_format=True)", "df.sort('units')",
    "df['units'].astype(np.float)", "np.NaN", "np.product([1, 2])", "np.in1d([1], [1])",
    "from sklearn.preprocessing import OneHotEncoder\nOneHotEncoder(sparse=False)",
    "import matplotlib.pyplot as plt\nplt.hist([1, 2, 2], normed=True)",
    "import sklearn.preprocessing as p\np.OneHotEncoder().fit([[1]]).get_feature_names()",
    "df['units'].reshape(-1, 1)",
    # Conditions
    "df[df['units'] > 3 or not df['Region'] == 'N']", "df[df['units'] > 1 & df['Region'] == 'N']",
    # Attributes and arguments
    "df['Region'].upper()", "df.describe().transpos()", "df.sort_values('units', ascend=False)",
    # What Python cannot read
    "for n in range(3)\n    print(n)", "x = [1, 2\ny = 3", "print(len(df)))",
    "if count = 3:\n    print('three')", "x = “abc”", "x = 'abc", "print('abc)", "print(df.head()",
)  # fmt: skip
# what is proposed, to the letter: it would run in other ways, but wrongly
EXACT = {
    "people['price'].astype(float)":
        "pd.to_numeric(people['price'].str.replace(\",\", \".\"), errors=\"coerce\")",
    "people['fee'].astype(int)":
        "pd.to_numeric(people['fee'].str.replace(r\"[$]\", \"\", regex=True)"
        ".str.replace(\",\", \"\"), errors=\"coerce\").astype(\"Int64\")",
    "people['born'].dt.month": "pd.to_datetime(people['born'], format=\"%d.%m.%Y\").dt.month",
    "people['born'].month": "pd.to_datetime(people['born'], format=\"%d.%m.%Y\").dt.month",
    "df[df['Region'] == 'region']['region']": "df[df['Region'] == 'region']['Region']",
    "df[df['units'] > 1 and df['units'] < 3 or df['units'] == 4]":
        "df[((df['units'] > 1) & (df['units'] < 3)) | (df['units'] == 4)]",
    "'no. ' + df['units']": "'no. ' + df['units'].astype(str)",
    "df.merge(other, left_on='region', right_on='region')":
        "df.merge(other, left_on='Region', right_on='region')",
    "df['units'].append(pd.Series([1]))": "pd.concat([df['units'], pd.Series([1])])",
    "df[df['units'] > 1 & df['units'] < 3 | df['units'] == 4]":
        "df[(df['units'] > 1) & (df['units'] < 3) | (df['units'] == 4)]",
    "np.float(3) + np.int(2)": "float(3) + int(2)",
    "x = ['a' 'b', 'c' count]": "x = ['a' 'b', 'c', count]",
}  # fmt: skip

ADVISED = {
    # A proposal would lose values, or mean something else
    "pd.to_numeric(people['customer_name'])": "`Ada`, which I cannot read as numbers",
    "people['customer_name'].mean()": "cannot read as numbers",
    "people['customer_name'] * 1.5": "cannot read as numbers",
    "df[['amount', 'units']].astype(float)": "`1,234` is not a plain number",
    "people['postcode'].mean()": "cannot read as numbers",
    "people['customer_name'].rolling(2).mean()": "I have no rule for this error",
    "people['seen'].dt.month": "cannot surely read as dates",
    "pd.to_datetime(people['customer_name'], format='%Y-%m-%d')": "Some values are not dates",
    "people['customer_id']": "has no column `customer_id`. It has `customer_name`",
    "people['sales_2023']": "has no column `sales_2023`",
    "people['paid']": "has no column `paid`",
    "people['rate']": "has no column `rate`",
    "people['region']": "has no column `region`",
    "people.merge(df, on='customer')": "Not both tables have",
    "people2.head()": "Nothing is called `people2`",
    "queue.append(1)": "Nothing is called `queue`",
    "x = product": "Nothing is called `product`",
    "inputs + 1": "Nothing is called `inputs`",
    "import my_own_helpers": "I know no package that has it",
    "df.to_csv('out/x.csv')": "There is no folder `out`",
    "open('results/sales.csv', 'w')": "The folder of `results/sales.csv` does not exist",
    "pd.read_csv('data/sales_2023.csv')": "no file `data/sales_2023.csv`",
    "df.merge(other, on='region')": '`left_on="Region", right_on="region"`',
    "df.query('region == \"N\"')": "Text needs quotes in a query",
    "df.drop('Region', 1)": "as in `axis=1`",
    "df['units'].append([5])": "It takes a list of tables",
    "df['units'].str.zfill(3)": '`.astype("string")` before `.str`',
    "pd.date_range('2024-01-01', periods=3, freq='M')": "writes the frequency `M` as `ME`",
    "pd.date_range('2024-01-01', periods=3, freq='2H')": "writes the frequency `H` as `h`",
    "if df['units'] > 2 and count:\n    print(1)": "`.any()` asks whether",
    "'5' + 3": "This mixes text with something else",
    "df.sort_values('units', group=1)": "has no argument `group`. It has `by`",
    "np.dot(np.zeros((2, 3)), np.zeros((2, 3)))": "as many columns on the left",
    "from sklearn.linear_model import LinearRegression\n"
    "LinearRegression().fit(df['units'], df['Unit Price'])": '`df[["column"]]`',
    "df[df['date'] > pd.Timestamp('2024-01-02')]": "convert it to dates first",
    "df[df['amount'] > 3]": "Text is compared with a number",
    "'5' > 3": "Text is compared with a number",
    "df.groupby('Region')['amount'].mean()": '`df["amount"] = pd.to_numeric(df["amount"].str.',
    "x = df.sort_values('units', inplace=True)\nx.head()": "or those with `inplace=True`",
    "'a' + None": "Something is `None` here",
    "def f():\nreturn 1": "expected an indented block",
    "df['new'] = np.arange(9)": "9 values, the table 4 rows",
    "print('a, b)": "Python cannot read the code",
    "if x = 'abc\ny = 1": "Python cannot read the code",
    "for n in range(2):\nprint(n)\nprint(zero)": "Python cannot read the code",
    "df[0]": "`.iloc[0]` selects by position",
    "from collections import Mapping": "may have moved",
    # Nothing to repair
    "df['nonsense']": "has no column `nonsense`. It has `Region`",
    "a + b": "have the shapes (6,) and (4,)",
    "df.columns = ['a']": "has 5 columns, and 1 names were given",
    "count / zero": "divided by 0",
    "def f(one, two): return one\nf(1)": "also needs 'two'",
    "class Odd(Exception): pass\nraise Odd('so')": "rule for this error. Connect a model",
    "[1, 2][7]": "This position is past the end",
    "a[6]": "There is no position 6: there are 6",
    "settings['nothing']": "`list(settings)` shows its keys",
    "df('units')": "called like a function",
    "df['units'].dt.year": "contains numbers, not dates",
    "df['units'].upper()": "is for text; `units` has the type `int64`",
}
