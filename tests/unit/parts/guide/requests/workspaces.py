"""Small tables as people have them, by the workspace that they lie in."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from cowork_jupyter.parts.guide.tables import Table

from ..desk import known

_RANDOM = random.Random(20)


def _sales() -> str:
    regions = ("north", "south", "west", "north ", "North")
    lines = ["date,region,product,customer,units,price,revenue"]
    for number in range(120):
        units, price = _RANDOM.randint(1, 40), _RANDOM.choice((4.5, 12.0, 89.9))
        day = f"2024-{1 + number % 6:02d}-{1 + number % 28:02d}"
        product = ("chair", "table", "lamp", "desk")[number % 4]
        customer = ("Acme", "Birch Ltd", "Corvo", "Delta & Co")[number % 3]
        region = regions[number % 5]
        lines.append(f"{day},{region},{product},{customer},{units},{price},{units * price:.2f}")
    return "\n".join(lines) + "\n"


def _sheet(path: str, head: str, rows: Iterable[Sequence[object]]) -> Table:
    """As the tools tell of a file that is no text."""
    lines = ["\t".join(map(str, row)) for row in (head.split(), *rows)]
    return known(path, "\n".join(lines))


NAMES = ("Ada King", "Bo Lind", "Cem Oz", "Dana Roy", "Eva Maas", "Finn Moe", "Gia Neri")
EMPLOYEES = _sheet(
    "hr/employees.xlsx",
    "employee_id name department gender age salary start_date rating",
    (
        (
            *(100 + n, name, ("IT", "marketing", "sales", "HR")[n % 4], ("female", "male")[n % 2]),
            *(24 + 5 * n, 41_000 + 1_500 * n, f"20{15 + n}-03-01", 1 + n % 5),
        )
        for n, name in enumerate(NAMES)
    ),
)
WEATHER = _sheet(
    "sensors/weather.parquet",
    "station timestamp temperature_c rainfall_mm humidity wind_speed",
    (
        (
            ("Alpha", "Bravo", "Kirkwall")[n % 3],
            f"{2023 + n % 2}-{1 + n % 12:02d}-{1 + n % 28:02d} {n % 24:02d}:00:00",
            *(n % 35 - 5.5, n % 12 + 0.5, 30 + n % 70, n % 20 + 0.5),
        )
        for n in range(150)
    ),
)
ORDERS = _sheet(
    "shop/orders.json",
    "order_id customer_id order_date status total_amount channel",
    (
        (
            *(5_000 + n, 1 + n % 6, f"2024-{1 + n % 3:02d}-{1 + n % 28:02d}"),
            ("paid", "shipped", "returned", "cancelled")[n % 4],
            *(n * 6.5, ("online", "store")[n % 2]),
        )
        for n in range(60)
    ),
)
CUSTOMERS = known(
    "shop/customers.csv",
    "id,name,country,signup_date\n1,Acme,Germany,2023-01-15\n2,Birch,France,2023-02-15\n"
    "3,Corvo,Spain,2023-03-15\n4,Delta,Germany,2023-04-15\n",
)


def table(name: str, head: str, rows: Sequence[str]) -> Table:
    return known(f"{name}.csv", "\n".join([head, *rows, ""]), lines=len(rows) + 1)


PURCHASES = table(
    "orders",
    "order_id,customer_id,date,region,product,units,price,revenue",
    [
        f"{n},{n % 9},202{4 + n % 2}-0{n % 9 + 1}-03,{region},{'AB'[n % 2]},{n % 7},{n}.5,{n * 9}"
        for n, region in enumerate(["North", "South"] * 20)
    ],
)
PEOPLE = ["F,yes,none,31", "female,no,Flu,40", "M,Yes,flu,52", "male,no,none,18", "f ,no,Flu,18"]
PATIENTS = table("patients", "sex,smoker,diagnosis,age", PEOPLE)
GERMAN = table("umsatz", "Filiale;Umsatz", ["Ost;1.417,39", "West;12,5"])
EXAMS = table(
    "exams",
    "student,exam_date,status",
    ["A,11/02/2024,200", "B,03/04/2024,404", "A,11/02/2024,200"],
)
SMALL = (
    table("points", "a,b", ["1,2", "3,4"]),
    table("rents", "town,rent", ["Oslo,3", "Rome,"]),
    table("towns", "town,zeta", ["Oslo,3", "Rome,4.5", "Oslo,5", "Rome,1"]),
    table("crops", "field,year,harvest_date,area", ["A,2021,2021-07-03,1", "B,2021,2022-01-15,2"]),
    table("visits", "day,visitors", [f"202{y}-03-0{d},{d}" for y in (3, 4) for d in range(1, 9)]),
)
SALES_CSV = _sales()
SALES = known("data/sales.csv", SALES_CSV)
WORKSPACES = {
    "sales": [SALES],
    "shop": [SALES, EMPLOYEES, WEATHER],
    "orders": [ORDERS, CUSTOMERS],
    **{each.path: [each] for each in (PURCHASES, PATIENTS, GERMAN, EXAMS, *SMALL)},
}
