"""What is asked, and how an answer is checked. The right answers are computed, not typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from .tables import Tables

UNKNOWN = "unknown"
Half = Literal["tune", "report"]
Truth = float | int | str


def half_of(name: str) -> Half:
    """Prompts are tuned on one half of all questions and tasks, and judged by the other."""
    return "tune" if sum(map(ord, name)) % 2 else "report"


@dataclass(frozen=True)
class Question:
    """A question about tables; what is right follows from them."""

    id: str
    files: tuple[str, ...]
    text: str
    name: str
    """What the answer is called: `@name[value]`."""
    truth: Callable[[Tables], Truth]
    decimals: int | None = None
    probe = ""

    @property
    def half(self) -> Half:
        """Whether prompts are tuned on it, or judged by it."""
        return half_of(self.id)

    @property
    def wording(self) -> str:
        """The question as it is asked."""
        rounded = "" if self.decimals is None else f", rounded to {self.decimals} decimals"
        # All ways know which files are meant, as whoever asks does.
        if any(name not in self.text for name in self.files):
            text = f"{self.text} (The data: {', '.join(self.files)}.)"
        else:
            text = self.text
        return (
            f"{text} End your answer with @{self.name}[value]{rounded}. If the data cannot "
            f"tell, write @{self.name}[{UNKNOWN}]."
        )

    def is_right(self, answer: str, tables: Tables, _folder: Path) -> bool:
        """Whether the last value that is given under the name is the right one."""
        given = re.findall(rf"@{re.escape(self.name)}\[([^\]]*)\]", answer)
        return bool(given) and _same(given[-1].strip(), self.truth(tables), self.decimals)


def _same(given: str, truth: Truth, decimals: int | None) -> bool:
    if isinstance(truth, str):
        return given.strip("'\"").casefold() == truth.casefold()
    try:
        value = float(given.replace(",", "").rstrip("%"))
    except ValueError:
        return False
    return abs(value - truth) <= 0.51 * 10.0 ** -(decimals or 0)


def _of(file: str) -> Callable[[Tables], pd.DataFrame]:
    return lambda tables: tables[file]


def _joined(tables: Tables) -> pd.DataFrame:
    return tables["orders.csv"].merge(tables["customers.csv"], on="customer_id")


def _days(tables: Tables) -> pd.Series[str]:
    return tables["readings.csv"]["time"].str[:10]


def _plausible(tables: Tables) -> pd.DataFrame:
    patients = tables["patients.csv"]
    return patients[patients["weight"].between(30, 250)]


SALES, HOUSES, PATIENTS = _of("sales.csv"), _of("houses.csv"), _of("patients.csv")
ORDERS, GERMAN, READINGS = _of("orders.csv"), _of("bestellungen.csv"), _of("readings.csv")
STOCK, TRIPS = _of("stock.xlsx"), _of("trips.parquet")
STUDENTS, CUSTOMERS = _of("students.csv"), _of("customers.csv")


def _q(
    id: str,  # noqa: A002 (it is one)
    files: str,
    text: str,
    name: str,
    truth: Callable[[Tables], Truth],
    decimals: int | None = None,
) -> Question:
    return Question(id, tuple(files.split()), text, name, truth, decimals)


QUESTIONS: tuple[Question, ...] = (
    # Statistics
    _q("mean-units", "sales.csv", "What is the mean of units in sales.csv?", "mean",
       lambda t: SALES(t)["units"].mean(), 2),
    _q("median-price", "houses.csv", "What is the median price in houses.csv?", "median",
       lambda t: HOUSES(t)["price"].median(), 1),
    _q("sd-area", "houses.csv", "What is the sample standard deviation of area in houses.csv?",
       "sd", lambda t: HOUSES(t)["area"].std(), 2),
    _q("corr-area-price", "houses.csv",
       "What is the Pearson correlation of area and price in houses.csv?", "correlation",
       lambda t: HOUSES(t)["area"].corr(HOUSES(t)["price"]), 2),
    _q("corr-age-price", "houses.csv",
       "What is the Pearson correlation of age and price in houses.csv?", "correlation",
       lambda t: HOUSES(t)["age"].corr(HOUSES(t)["price"]), 2),
    _q("spearman", "students.csv",
       "What is the Spearman rank correlation of hours and score in students.csv?", "correlation",
       lambda t: STUDENTS(t)["hours"].rank().corr(STUDENTS(t)["score"].rank()), 2),
    _q("quantile", "orders.csv", "What is the 90 % quantile of amount in orders.csv?", "quantile",
       lambda t: ORDERS(t)["amount"].quantile(0.9), 2),
    _q("iqr", "houses.csv", "What is the interquartile range of price in houses.csv?", "iqr",
       lambda t: HOUSES(t)["price"].quantile(0.75) - HOUSES(t)["price"].quantile(0.25), 1),
    _q("total", "sales.csv", "What is the total of units in sales.csv?", "total",
       lambda t: int(SALES(t)["units"].sum())),
    _q("skew", "orders.csv", "What is the skewness of amount in orders.csv (as pandas has it)?",
       "skewness", lambda t: ORDERS(t)["amount"].skew(), 2),
    # Filters
    _q("count-north", "sales.csv", "How many rows of sales.csv have the region North?", "count",
       lambda t: int((SALES(t)["region"] == "North").sum())),
    _q("count-old", "houses.csv", "How many houses in houses.csv are older than 50 years?", "count",
       lambda t: int((HOUSES(t)["age"] > 50).sum())),
    _q("two-filters", "houses.csv",
       "How many houses in houses.csv are in Lund and have at least 4 rooms?", "count",
       lambda t: int(((HOUSES(t)["city"] == "Lund") & (HOUSES(t)["rooms"] >= 4)).sum())),
    _q("share-paid", "orders.csv", "What share of the orders in orders.csv is paid, in percent?",
       "share", lambda t: (ORDERS(t)["status"] == "paid").mean() * 100, 1),
    _q("mean-filtered", "sales.csv", "What is the mean of units of coffee in sales.csv?", "mean",
       lambda t: SALES(t).query("product == 'coffee'")["units"].mean(), 2),
    _q("row-max", "houses.csv", "What is the area of the house with the highest price?", "area",
       lambda t: HOUSES(t).loc[HOUSES(t)["price"].idxmax(), "area"], 1),
    _q("row-min", "students.csv", "Which student (name) has the lowest score?", "name",
       lambda t: str(STUDENTS(t).loc[STUDENTS(t)["score"].idxmin(), "name"])),
    _q("distinct", "customers.csv", "How many different countries are in customers.csv?", "count",
       lambda t: int(CUSTOMERS(t)["country"].nunique())),
    # Groups
    _q("top-region", "sales.csv", "Which region has the highest total of units in sales.csv?",
       "region", lambda t: str(SALES(t).groupby("region")["units"].sum().idxmax())),
    _q("mean-by-group", "houses.csv",
       "What is the mean price of houses in Malmö, in houses.csv?", "mean",
       lambda t: HOUSES(t).query("city == 'Malmö'")["price"].mean(), 1),
    _q("diff-groups", "students.csv",
       "By how much is the mean score of school A above that of school B in students.csv "
       "(negative if it is below)?", "difference",
       lambda t: (lambda means: means["A"] - means["B"])(
           STUDENTS(t).groupby("school")["score"].mean()), 2),
    _q("largest-group", "orders.csv", "Which status do most orders in orders.csv have?", "status",
       lambda t: str(ORDERS(t)["status"].value_counts().idxmax())),
    _q("group-max-mean", "sales.csv", "Which product has the highest mean of units per row?",
       "product", lambda t: str(SALES(t).groupby("product")["units"].mean().idxmax())),
    _q("pivot", "sales.csv", "How many units of tea were sold in the region West?", "units",
       lambda t: int(SALES(t).query("product == 'tea' and region == 'West'")["units"].sum())),
    _q("customers-many", "orders.csv",
       "How many customers (customer_id) have at least 5 orders in orders.csv?", "count",
       lambda t: int((ORDERS(t)["customer_id"].value_counts() >= 5).sum())),
    # Joins
    _q("join-rows", "orders.csv customers.csv",
       "How many orders in orders.csv have a customer_id that is in customers.csv?", "count",
       lambda t: len(_joined(t))),
    _q("join-missing", "orders.csv customers.csv",
       "How many orders in orders.csv have a customer_id that is not in customers.csv?", "count",
       lambda t: len(ORDERS(t)) - len(_joined(t))),
    _q("join-sum", "orders.csv customers.csv",
       "What is the total amount of orders by customers from DE? Customers are in customers.csv.",
       "total", lambda t: _joined(t).query("country == 'DE'")["amount"].sum(), 2),
    _q("join-top", "orders.csv customers.csv",
       "Customers from which country have the highest mean amount per order?", "country",
       lambda t: str(_joined(t).groupby("country")["amount"].mean().idxmax())),
    _q("join-none", "orders.csv customers.csv",
       "How many customers in customers.csv have no order in orders.csv?", "count",
       lambda t: int((~CUSTOMERS(t)["customer_id"].isin(ORDERS(t)["customer_id"])).sum())),
    # Dates
    _q("rows-march", "sales.csv", "How many rows of sales.csv are from March 2025?", "count",
       lambda t: int((SALES(t)["date"].dt.month == 3).sum())),
    _q("top-month", "sales.csv", "In which month of 2025 (1 to 12) were most units sold?", "month",
       lambda t: int(SALES(t).groupby(SALES(t)["date"].dt.month)["units"].sum().idxmax())),
    _q("weekday", "sales.csv", "How many rows of sales.csv are on a Monday?", "count",
       lambda t: int((SALES(t)["date"].dt.day_of_week == 0).sum())),
    _q("span", "sales.csv", "How many days lie between the first and the last date?", "days",
       lambda t: int((SALES(t)["date"].max() - SALES(t)["date"].min()).days)),
    _q("hot-day", "readings.csv", "Which day (YYYY-MM-DD) has the highest mean temperature?",
       "day", lambda t: str(READINGS(t).groupby(_days(t))["temperature"].mean().idxmax())),
    _q("gaps", "readings.csv",
       "readings.csv should have one row for each hour of 14 days. How many are missing?",
       "missing", lambda t: 24 * 14 - len(READINGS(t))),
    _q("noon", "readings.csv", "What is the mean temperature at 12:00?", "mean",
       lambda t: READINGS(t).loc[READINGS(t)["time"].str.endswith("12:00"), "temperature"].mean(),
       2),
    # Missing values, doubles, outliers
    _q("missing", "sales.csv", "How many values of revenue are missing in sales.csv?", "missing",
       lambda t: int(SALES(t)["revenue"].isna().sum())),
    _q("mean-missing", "sales.csv",
       "What is the mean revenue in sales.csv, leaving out missing values?", "mean",
       lambda t: SALES(t)["revenue"].mean(), 2),
    _q("filled-mean", "sales.csv",
       "Missing revenue is units times price. What is the mean revenue once it is filled in?",
       "mean", lambda t: (SALES(t)["units"] * SALES(t)["price"]).round(2).mean(), 2),
    _q("doubles", "students.csv", "How many rows of students.csv are exact duplicates of others "
       "before them?", "count", lambda t: int(STUDENTS(t).duplicated().sum())),
    _q("mean-unique", "students.csv",
       "What is the mean score in students.csv once duplicate rows are removed?", "mean",
       lambda t: STUDENTS(t).drop_duplicates()["score"].mean(), 2),
    _q("outliers", "patients.csv",
       "How many weights in patients.csv (kg, adults) are below 30 or above 250?", "count",
       lambda t: len(PATIENTS(t)) - len(_plausible(t))),
    _q("mean-plausible", "patients.csv",
       "What is the mean weight in patients.csv, leaving out weights below 30 or above 250?",
       "mean", lambda t: _plausible(t)["weight"].mean(), 2),
    _q("complete", "patients.csv", "How many rows of patients.csv have no missing value?", "count",
       lambda t: len(PATIENTS(t).dropna())),
    # German number formats
    _q("de-sum", "bestellungen.csv", "What is the total of Betrag in bestellungen.csv? It has "
       "decimal commas.", "total", lambda t: GERMAN(t)["Betrag"].sum(), 2),
    _q("de-mean", "bestellungen.csv", "What is the mean of Betrag for Kunde Müller?", "mean",
       lambda t: GERMAN(t).query("Kunde == 'Müller'")["Betrag"].mean(), 2),
    _q("de-month", "bestellungen.csv", "How many orders in bestellungen.csv are from May 2025?",
       "count", lambda t: int((GERMAN(t)["Datum"].dt.month == 5).sum())),
    _q("de-max", "bestellungen.csv", "Which Kunde has the order with the highest Betrag?", "kunde",
       lambda t: str(GERMAN(t).loc[GERMAN(t)["Betrag"].idxmax(), "Kunde"])),
    # Excel and Parquet
    _q("xl-total", "stock.xlsx", "What is the total quantity in stock.xlsx?", "total",
       lambda t: int(STOCK(t)["quantity"].sum())),
    _q("xl-value", "stock.xlsx", "What are all goods in stock.xlsx worth (quantity times cost)?",
       "value", lambda t: (STOCK(t)["quantity"] * STOCK(t)["cost"]).sum(), 2),
    _q("xl-filter", "stock.xlsx", "How many items of stock.xlsx are in Kassel?", "count",
       lambda t: int((STOCK(t)["warehouse"] == "Kassel").sum())),
    _q("pq-mean", "trips.parquet", "What is the mean of minutes in trips.parquet?", "mean",
       lambda t: TRIPS(t)["minutes"].mean(), 2),
    _q("pq-top", "trips.parquet", "Which vehicle in trips.parquet carried the most passengers?",
       "vehicle", lambda t: str(TRIPS(t).groupby("vehicle")["passengers"].sum().idxmax())),
    _q("pq-empty", "trips.parquet", "How many trips in trips.parquet had no passengers?", "count",
       lambda t: int((TRIPS(t)["passengers"] == 0).sum())),
    # Features, tests and baselines
    _q("per-area", "houses.csv", "What is the mean price per unit of area (price / area)?", "mean",
       lambda t: (HOUSES(t)["price"] / HOUSES(t)["area"]).mean(), 2),
    _q("slope", "students.csv",
       "Fit score = a + b * hours by least squares to students.csv. What is b?", "slope",
       lambda t: STUDENTS(t)["hours"].cov(STUDENTS(t)["score"]) / STUDENTS(t)["hours"].var(), 2),
    _q("r-squared", "houses.csv",
       "Fit price by a straight line of area in houses.csv. What is R squared?", "r2",
       lambda t: HOUSES(t)["area"].corr(HOUSES(t)["price"]) ** 2, 2),
    _q("effect", "patients.csv",
       "By how much is the mean pressure of the treated group below that of the placebo group?",
       "difference", lambda t: (lambda means: means["placebo"] - means["treated"])(
           PATIENTS(t).groupby("group")["pressure"].mean()), 2),
    _q("binned", "houses.csv",
       "How many houses fall into the age bins 0 to 29, and 30 and more? Give the first number.",
       "count", lambda t: int((HOUSES(t)["age"] < 30).sum())),
    _q("z-score", "houses.csv",
       "What is the z-score of the highest price (sample standard deviation)?", "z",
       lambda t: (HOUSES(t)["price"].max() - HOUSES(t)["price"].mean()) / HOUSES(t)["price"].std(),
       2),
    _q("baseline", "houses.csv",
       "Predict every price in houses.csv by the mean price. What is the mean absolute error?",
       "mae", lambda t: (HOUSES(t)["price"] - HOUSES(t)["price"].mean()).abs().mean(), 1),
    _q("cumulative", "sales.csv", "Sorted by date, after how many rows has half of all units been "
       "sold?", "rows", lambda t: int(
           (SALES(t)["units"].cumsum() < SALES(t)["units"].sum() / 2).sum()) + 1),
    # What the data cannot tell
    _q("no-column", "houses.csv", "What is the mean energy rating of the houses in houses.csv?",
       "mean", lambda _: UNKNOWN, 2),
    _q("no-year", "sales.csv", "What was the total of units in 2024, by sales.csv?", "total",
       lambda _: UNKNOWN),
    _q("no-cause", "patients.csv", "What is the mean age of the patients in patients.csv?", "mean",
       lambda _: UNKNOWN, 1),
    _q("no-person", "students.csv", "Which score has the student called Anna?", "score",
       lambda _: UNKNOWN, 1),
)  # fmt: skip
