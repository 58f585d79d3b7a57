"""Joins and their keys."""

from __future__ import annotations

from .notebooks import Pair

SHOP = """
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(3)
    customers = pd.DataFrame({
        "customer_id": range(100, 160),
        "region": rng.choice(["North", "South", "West"], 60),
    })
    orders = pd.DataFrame({
        "order_id": range(1, 401),
        "customer_id": rng.integers(100, 160, 400),
        "amount": rng.gamma(2.0, 40.0, 400).round(2),
    })
"""

JOINS = [
    Pair(
        "customers listed twice", "join_multiplied_rows",
        SHOP + """
    customers = pd.concat([customers, customers.head(7)], ignore_index=True)
    # %%
    orders.head()
    """,
        """
    sales = orders.merge(customers, on="customer_id", how="left")
    # %%
    sales.groupby("region")["amount"].sum()
    """,
        """
    sales = orders.merge(customers.drop_duplicates("customer_id"), on="customer_id", how="left")
    # %%
    sales.groupby("region")["amount"].sum()
    """,
    ),
    Pair(
        "price list with two versions", "join_multiplied_rows",
        """
    import pandas as pd

    prices = pd.DataFrame({
        "sku": ["A1", "A2", "A3", "A4", "A5", "A6", "A2"],
        "price": [3.5, 4.0, 2.25, 9.0, 1.1, 7.4, 4.2],
        "valid": [2023, 2023, 2023, 2023, 2023, 2023, 2024],
    })
    lines = pd.DataFrame({"sku": ["A1", "A2", "A2", "A3", "A6"] * 20, "qty": [1, 2, 1, 4, 2] * 20})
    """,
        """
    basket = pd.merge(lines, prices, on="sku")
    basket["total"] = basket.qty * basket.price
    print(basket.total.sum())
    """,
        """
    newest = prices.sort_values("valid").drop_duplicates("sku", keep="last")
    basket = pd.merge(lines, newest, on="sku", validate="many_to_one")
    basket["total"] = basket.qty * basket.price
    print(basket.total.sum())
    """,
    ),
    Pair(
        "orders of customers nobody knows", "join_lost_rows",
        SHOP + """
    orders.loc[::25, "customer_id"] = 999
    """,
        """
    def with_region(sales, people):
        return sales.merge(people, left_on="customer_id", right_on="customer_id")

    joined = with_region(orders, customers)
    joined["amount"].sum()
    """,
        """
    def with_region(sales, people):
        return sales.merge(people, left_on="customer_id", right_on="customer_id", how="left")

    joined = with_region(orders, customers)
    joined["region"] = joined["region"].fillna("unknown")
    joined["amount"].sum()
    """,
    ),
    Pair(
        "names in another case", "join_without_partner",
        """
    import pandas as pd

    cities = pd.DataFrame({"city": ["Berlin", "Paris", "Rome", "Oslo"],
                           "people": [3.7, 2.1, 2.8, 0.7]})
    visits = pd.DataFrame({"city": ["berlin", "Paris", "ROME", "Oslo", "Paris", "rome"] * 10,
                           "days": [2, 3, 1, 4, 2, 5] * 10})
    """,
        """
    visits = visits.merge(cities, on="city", how="left")
    print(visits["people"].mean())
    """,
        """
    visits["city"] = visits["city"].str.title()
    # %%
    visits = visits.merge(cities, on="city", how="left")
    print(visits["people"].mean())
    """,
    ),
    Pair(
        "visits without a patient", "join_missing_keys",
        """
    import numpy as np
    import pandas as pd

    known = [f"p{n}" for n in range(40)]
    patients = pd.DataFrame({"patient": [*known, None], "age": range(20, 61)})
    visits = pd.DataFrame({"patient": [f"p{n % 40}" for n in range(150)], "cost": np.arange(150.0)})
    visits.loc[visits.index[:9], "patient"] = None
    """,
        """
    table = pd.merge(visits, patients, how="left", on="patient")
    table.groupby("age").cost.sum()
    """,
        """
    known = visits.dropna(subset=["patient"])
    table = pd.merge(known, patients.dropna(), how="left", on="patient")
    table.groupby("age").cost.sum()
    """,
    ),
    Pair(
        "join of polars with repeated stations", "join_multiplied_rows",
        """
    import polars as pl

    stations = pl.DataFrame({"station": list("abcdeb"), "height": [1, 5, 3, 8, 2, 5]})
    weather = pl.DataFrame({"station": ["a", "b", "c", "d", "e"] * 12, "rain": list(range(60))})
    """,
        """
    both = weather.join(stations, on="station", how="left")
    print(both["rain"].sum())
    """,
        """
    both = weather.join(stations.unique(subset=["station"]), on="station", how="left")
    print(both["rain"].sum())
    """,
    ),
    Pair(
        "lookup by index", "join_multiplied_rows",
        """
    import pandas as pd

    rates = pd.DataFrame({"currency": ["EUR", "USD", "GBP", "CHF", "JPY", "USD"],
                          "rate": [1.0, 0.92, 1.17, 1.04, 0.006, 0.91]})
    payments = pd.DataFrame({"currency": ["EUR", "USD", "USD", "GBP"] * 30, "sum": range(120)})
    """,
        """
    in_euro = payments.join(rates.set_index("currency"), on="currency")
    in_euro.eval("sum * rate").sum()
    """,
        """
    rates = rates.drop_duplicates(subset="currency", keep="last").set_index("currency")
    in_euro = payments.join(rates, on="currency")
    in_euro.eval("sum * rate").sum()
    """,
    ),
    Pair(
        "everything in one cell", "join_lost_rows",
        """
    import pandas as pd
    """,
        """
    staff = pd.DataFrame({"name": ["Ann", "Bo", "Cy", "Di", "Ed"], "dept": [1, 2, 2, 3, 9]})
    depts = pd.DataFrame({"dept": [1, 2, 3, 4], "title": ["Sales", "IT", "HR", "Law"]})
    merged = staff.merge(depts)
    print(len(merged), "people")
    """,
        """
    staff = pd.DataFrame({"name": ["Ann", "Bo", "Cy", "Di", "Ed"], "dept": [1, 2, 2, 3, 4]})
    depts = pd.DataFrame({"dept": [1, 2, 3, 4], "title": ["Sales", "IT", "HR", "Law"]})
    merged = staff.merge(depts)
    print(len(merged), "people")
    """,
    ),
]  # fmt: skip
