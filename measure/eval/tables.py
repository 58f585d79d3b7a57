"""The tables that questions are about: made from a seed, so that everybody has the same."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from tests.workbook import write_workbook

SEED = 20_261_116
Tables = dict[str, pd.DataFrame]


def make_tables() -> Tables:
    """All tables by file name, as they should be read."""
    random = np.random.default_rng(SEED)
    return {
        "sales.csv": _sales(random),
        "houses.csv": _houses(random),
        "patients.csv": _patients(random),
        "customers.csv": _customers(random),
        "orders.csv": _orders(random),
        "bestellungen.csv": _german_orders(random),
        "readings.csv": _readings(random),
        "students.csv": _students(random),
        "stock.xlsx": _stock(random),
        "trips.parquet": _trips(random),
        "discounts.csv": _discounts(random),
        "members.csv": _members(),
    }


def write_tables(tables: Tables, folder: Path) -> None:
    """Write them as people send them: one has commas for decimals, one dates of another kind."""
    for name, table in tables.items():
        if name.endswith(".xlsx"):
            rows = [list(table.columns), *table.astype(object).to_numpy().tolist()]
            write_workbook(folder / name, {"Stock": rows})
        elif name.endswith(".parquet"):
            duckdb.from_df(table).write_parquet(str(folder / name))
        elif name == "bestellungen.csv":
            table.to_csv(folder / name, index=False, sep=";", decimal=",", date_format="%d.%m.%Y")
        else:
            table.to_csv(folder / name, index=False, date_format="%Y-%m-%d")


def _sales(random: np.random.Generator) -> pd.DataFrame:
    rows = 240
    table = pd.DataFrame(
        {
            "date": pd.Timestamp("2025-01-01")
            + pd.to_timedelta(random.integers(0, 365, rows), "D"),
            "region": random.choice(["North", "South", "East", "West"], rows),
            "product": random.choice(["tea", "coffee", "cocoa"], rows, p=[0.3, 0.5, 0.2]),
            "units": random.integers(1, 60, rows),
            "price": random.choice([3.5, 4.25, 5.0, 7.75], rows),
        }
    ).sort_values("date", ignore_index=True)
    table["revenue"] = (table["units"] * table["price"]).round(2)
    table.loc[random.choice(rows, 12, replace=False), "revenue"] = np.nan
    return table


def _houses(random: np.random.Generator) -> pd.DataFrame:
    rows = 150
    area = random.normal(110, 30, rows).clip(35, 220).round(1)
    age = random.integers(0, 90, rows)
    rooms = (area / 28 + random.normal(0, 0.7, rows)).round().clip(1, 9).astype(int)
    price = 2_400 * area - 900 * age + 8_000 * rooms + random.normal(0, 18_000, rows)
    city = random.choice(["Lund", "Malmö", "Ystad"], rows)
    return pd.DataFrame(
        {"city": city, "area": area, "rooms": rooms, "age": age, "price": price.round(-2)}
    )


def _patients(random: np.random.Generator) -> pd.DataFrame:
    rows = 180
    table = pd.DataFrame(
        {
            "patient": [f"P{number:03}" for number in range(1, rows + 1)],
            "group": random.choice(["placebo", "treated"], rows),
            "weight": random.normal(74, 12, rows).round(1),
            "pressure": random.normal(128, 14, rows).round(),
        }
    )
    table.loc[table["group"] == "treated", "pressure"] -= 9
    table.loc[random.choice(rows, 3, replace=False), "weight"] = [740.0, 7.2, 681.0]
    table.loc[random.choice(rows, 15, replace=False), "pressure"] = np.nan
    return table


def _customers(random: np.random.Generator) -> pd.DataFrame:
    rows = 40
    return pd.DataFrame(
        {
            "customer_id": range(1, rows + 1),
            "country": random.choice(["DE", "FR", "IT", "PL"], rows),
            "since": random.integers(2015, 2025, rows),
        }
    )


def _orders(random: np.random.Generator) -> pd.DataFrame:
    rows = 160
    return pd.DataFrame(
        {
            "order_id": range(1001, 1001 + rows),
            # some customers are in no list
            "customer_id": random.integers(1, 46, rows),
            "amount": random.gamma(2.0, 40.0, rows).round(2),
            "status": random.choice(["paid", "open", "returned"], rows, p=[0.7, 0.2, 0.1]),
        }
    )


def _german_orders(random: np.random.Generator) -> pd.DataFrame:
    rows = 90
    days = pd.to_timedelta(random.integers(0, 180, rows), "D")
    return pd.DataFrame(
        {
            "Datum": pd.Timestamp("2025-03-01") + days,
            "Kunde": random.choice(["Müller", "Schäfer", "Voß"], rows),
            "Betrag": random.gamma(3.0, 55.0, rows).round(2),
            "Menge": random.integers(1, 20, rows),
        }
    )


def _readings(random: np.random.Generator) -> pd.DataFrame:
    hours = 24 * 14
    times = pd.date_range("2025-06-01", periods=hours, freq="h")
    cycle = 18 + 6 * np.sin(np.arange(hours) * 2 * np.pi / 24)
    temperature = (cycle + random.normal(0, 1, hours)).round(2)
    table = pd.DataFrame({"time": times.strftime("%Y-%m-%d %H:%M"), "temperature": temperature})
    table["humidity"] = (90 - 1.8 * table["temperature"] + random.normal(0, 3, hours)).round(1)
    return table.drop(index=random.choice(hours, 9, replace=False)).reset_index(drop=True)


def _students(random: np.random.Generator) -> pd.DataFrame:
    rows = 120
    hours = random.gamma(3.0, 2.5, rows).round(1)
    score = (42 + 3.1 * hours + random.normal(0, 9, rows)).clip(0, 100).round(1)
    table = pd.DataFrame(
        {
            "name": [f"S{number}" for number in range(rows)],
            "school": random.choice(["A", "B", "C"], rows),
            "hours": hours,
            "score": score,
        }
    )
    return pd.concat([table, table.sample(6, random_state=1)], ignore_index=True)


def _stock(random: np.random.Generator) -> pd.DataFrame:
    rows = 60
    return pd.DataFrame(
        {
            "item": [f"I{number:02}" for number in range(rows)],
            "warehouse": random.choice(["Bremen", "Kassel"], rows),
            "quantity": random.integers(0, 400, rows),
            "cost": random.gamma(2.0, 9.0, rows).round(2),
        }
    )


def _trips(random: np.random.Generator) -> pd.DataFrame:
    rows = 400
    return pd.DataFrame(
        {
            "vehicle": random.choice(["bus", "tram", "ferry"], rows, p=[0.5, 0.4, 0.1]),
            "minutes": random.gamma(4.0, 5.0, rows).round(1),
            "passengers": random.integers(0, 90, rows),
        }
    )


def _discounts(random: np.random.Generator) -> pd.DataFrame:
    """Some customers have two, in no order."""
    table = pd.DataFrame(
        {
            "customer_id": [*range(1, 31), *range(1, 13)],
            "valid_from": [*["2025-01-01"] * 30, *["2025-06-01"] * 12],
            "percent": random.integers(1, 30, 42),
        }
    )
    return table.sample(frac=1, random_state=1).reset_index(drop=True)


def _members() -> pd.DataFrame:
    rows = [
        ("007", " berlin", "12,50"),
        ("010", "Bonn", "n/a"),
        ("042", "BERLIN ", "900,00"),
        ("100", "bonn", "9"),
        ("042", "Berlin", "1200,00"),
        ("101", "-", "-"),
    ]
    return pd.DataFrame(rows, columns=["id", "city", "fee"])
