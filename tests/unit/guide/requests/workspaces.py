"""Small tables as people have them, by the workspace that they lie in."""

from __future__ import annotations

import random
from typing import Any

from cowork_jupyter.guide.tables import Table, table_from, table_of

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


def _employees() -> list[dict[str, Any]]:
    names = ("Ada King", "Bo Lind", "Cem Oz", "Dana Roy", "Eva Maas", "Finn Moe", "Gia Neri")
    return [
        {
            "employee_id": 100 + at,
            "name": name,
            "department": ("IT", "marketing", "sales", "HR")[at % 4],
            "gender": ("female", "male")[at % 2],
            "age": 24 + 5 * at,
            "salary": 41_000 + 1_500 * at,
            "start_date": f"20{15 + at}-03-01",
            "rating": 1 + at % 5,
        }
        for at, name in enumerate(names)
    ]


def _weather() -> list[dict[str, Any]]:
    return [
        {
            "station": ("Alpha", "Bravo", "Kirkwall")[at % 3],
            "timestamp": f"{2023 + at % 2}-{1 + at % 12:02d}-{1 + at % 28:02d} {at % 24:02d}:00:00",
            "temperature_c": round(_RANDOM.uniform(-5, 30), 1),
            "rainfall_mm": round(_RANDOM.uniform(0, 12), 1),
            "humidity": _RANDOM.randint(30, 100),
            "wind_speed": round(_RANDOM.uniform(0, 20), 1),
        }
        for at in range(150)
    ]


def _orders() -> list[dict[str, Any]]:
    return [
        {
            "order_id": 5_000 + at,
            "customer_id": 1 + at % 6,
            "order_date": f"2024-{1 + at % 3:02d}-{1 + at % 28:02d}",
            "status": ("paid", "shipped", "returned", "cancelled")[at % 4],
            "total_amount": round(_RANDOM.uniform(5, 400), 2),
            "channel": ("online", "store")[at % 2],
        }
        for at in range(60)
    ]


CUSTOMERS = "id,name,country,signup_date\n" + "".join(
    f"{at},{name},{land},2023-{at:02d}-15\n"
    for at, (name, land) in enumerate(
        [("Acme", "Germany"), ("Birch", "France"), ("Corvo", "Spain"), ("Delta", "Germany")], 1
    )
)
UMSATZ = "Datum;Filiale;Artikel;Menge;Umsatz;Kunde\n" + "".join(
    f"{1 + at % 28:02d}.{1 + at % 6:02d}.2024;{('Köln', 'Bonn')[at % 2]};"
    f"{('Stuhl', 'Tisch', 'Lampe')[at % 3]};{1 + at % 9};{10 + at},50;{('Maier', 'Oz')[at % 2]}\n"
    for at in range(80)
)


def _known(table: Table | None) -> Table:
    assert table
    return table


SALES = _known(table_of("data/sales.csv", _sales()))
EMPLOYEES = _known(table_from("hr/employees.xlsx", _employees()))
WEATHER = _known(table_from("sensors/weather.parquet", _weather()))
ORDERS = _known(table_from("shop/orders.json", _orders()))
WORKSPACES: dict[str, list[Table]] = {
    "sales": [SALES],
    "shop": [SALES, EMPLOYEES, WEATHER],
    "orders": [ORDERS, _known(table_of("shop/customers.csv", CUSTOMERS))],
    "filiale": [_known(table_of("umsatz.csv", UMSATZ))],
}


def _passengers() -> str:
    lines = ["PassengerId,Survived,Pclass,Name,Sex,Age,Fare,Embarked"]
    for at in range(90):
        age = "" if at % 11 == 0 else str(3 + (at * 7) % 70)
        sex, port = ("female", "male")[at % 2], ("Southampton", "Cherbourg", "Queenstown")[at % 3]
        fare = round(_RANDOM.uniform(7, 500), 2)
        lines.append(f"{at},{at % 2},{1 + at % 3},Passenger {at},{sex},{age},{fare},{port}")
    return "\n".join(lines) + "\n"


def _expenses() -> list[dict[str, Any]]:
    return [
        {
            "Date": f"202{3 + at % 2}-{1 + at % 12:02d}-{1 + at % 27:02d}",
            "Category": ("Rent", "Groceries", "Travel", "Eating out")[at % 4],
            "Amount": round(_RANDOM.uniform(3, 900), 2),
            "Paid by": ("Mia", "Tom")[at % 2],
        }
        for at in range(70)
    ]


def _visits() -> list[dict[str, Any]]:
    return [
        {
            "day": f"2024-{1 + at % 9:02d}-{1 + at % 28:02d}",
            "page": ("/home", "/pricing", "/blog")[at % 3],
            "visitors": _RANDOM.randint(10, 900),
            "bounce_rate": round(_RANDOM.uniform(0.1, 0.9), 2),
            "country": ("France", "Japan", "Brazil")[at % 3],
        }
        for at in range(90)
    ]


WORKSPACES |= {
    "titanic": [_known(table_of("titanic.csv", _passengers()))],
    "home": [_known(table_from("expenses.xlsx", _expenses()))],
    "web": [_known(table_from("logs/traffic.parquet", _visits()))],
}


def _exams() -> str:
    rows = (
        f"S{at};{'AB'[at % 2]};{'' if at in (3, 9) else 20 + at};{('no', 'yes')[at % 3 > 0]}"
        for at in range(50)
    )
    return "\n".join(["student;class;score;passed", *rows]) + "\n"


def _year_of_sales() -> str:
    lines = ["date,region,product,units,price,revenue"]
    for at in range(120):
        day = f"2024-{1 + at // 10:02d}-{1 + at % 28:02d}"
        product = ("Lamp", "Desk", "Chair")[at % 3]
        lines.append(f"{day},{('north', 'south')[at % 2]},{product},{at % 9},20,{20 * (at % 9)}")
    return "\n".join(lines) + "\n"


def _staff() -> str:
    lines = ["name,department,salary,hire_date,age"]
    for at in range(40):
        team = ("HR", "IT", "Sales")[at % 3]
        lines.append(
            f"P{at},{team},{30_000 + 1_000 * at},{2010 + at % 14}-05-{1 + at % 28:02d},{21 + at}"
        )
    return "\n".join(lines) + "\n"


JUNE = "city,day,temperature,rain_mm\n" + "".join(
    f"{city},2024-06-{day:02d},{10 + day / 2},{day % 3}\n"
    for city in ("Bonn", "Kiel")
    for day in range(1, 31)
)
ACCOUNTS = "account,region,is_active,spend\n" + "".join(
    f"A{at},{('north', 'south')[at % 2]},{('yes', 'no')[at % 3 > 1]},{at * 3}\n" for at in range(30)
)


def _short(path: str, text: str) -> Table:
    """A table of which all lines were read."""
    return _known(table_of(path, text, lines=text.count("\n")))


WORKSPACES |= {
    "school": [_short("data/exam results.csv", _exams())],
    "office": [
        _short("employees.csv", _staff()),
        _short("weather.json", JUNE),
        _short("data/exam results.csv", _exams()),
        _short("data/sales.csv", _year_of_sales()),
    ],
    "accounts": [_short("accounts.csv", ACCOUNTS)],
    "booleans": [
        _short("accounts.csv", ACCOUNTS.replace(",yes,", ",true,").replace(",no,", ",false,"))
    ],
}


def _books() -> str:
    lines = ["title,author,genre,year,rating,copies,price"]
    for at in range(60):
        author, genre = f"Author {at % 20}", ("Crime", "Poetry", "Travel")[at % 3]
        numbers = f"{1985 + at % 39},{1 + at % 5},{at * 900},{8 + at % 20}"
        lines.append(f"Book {at},{author},{genre},{numbers}")
    return "\n".join(lines) + "\n"


DELIVERIES = "courier,city,delay_min,returned,shipped\n" + "".join(
    f"{('Swift', 'Hermes', 'Otto')[at % 3]},{('Bonn', 'Kiel')[at % 2]},{at % 90},"
    f"{int(at % 7 == 0)},2024-{1 + at % 12:02d}-{1 + at % 28:02d}\n"
    for at in range(80)
)
MEMBERS = "member_id;sex;age;plan;joined;fee\n" + "".join(
    f"{at};{'FM'[at % 2]};{18 + at};{('basic', 'gold')[at % 2]};"
    f"{1 + at % 28:02d}.{1 + at % 12:02d}.2023;{20 + at % 9}\n"
    for at in range(50)
)
VEHICLES = "model,maker,baujahr,cost_eur,defects\n" + "".join(
    f"Model {at},{('Audi', 'Fiat')[at % 2]},{1990 + at % 30},{9_000 + 100 * at},{at % 6}\n"
    for at in range(40)
)
WORKSPACES |= {
    "library": [
        _short("books.csv", _books()),
        _short("deliveries.csv", DELIVERIES),
        _short("members.csv", MEMBERS),
    ],
    "garage": [_short("vehicles.csv", VEHICLES), _short("members.csv", MEMBERS)],
}


VISITS = "visit_id,customer_id,date,channel,minutes,spent_eur\n" + "".join(
    f"{at},C{at % 17:02d},{1 + at % 28:02d}/{1 + at % 12:02d}/2025,"
    f"{('web', 'shop', 'phone')[at % 3]},{5 + at % 30},{at % 50}.5\n"
    for at in range(90)
)
CLIENTS = "customer_id,name,country,signed_up\n" + "".join(
    f"C{at:02d},Name {at},{('DE', 'FR', 'us')[at % 3]},2024-{1 + at % 12:02d}-03\n"
    for at in range(20)
)
WORKSPACES |= {
    "salon": [_short("visits.csv", VISITS), _short("customers.csv", CLIENTS)],
    "numbered": [
        _short("visits.csv", VISITS.replace(",C0", ",").replace(",C", ",")),
        _short("customers.csv", CLIENTS.replace("\nC0", "\n").replace("\nC", "\n")),
    ],
}


PRICED = "order_id,order_date,cust,product,qty,unit_price,discount,status\n" + "".join(
    f"O{at},{1 + at % 28}.{1 + at % 12}.2024,K{at % 9},{('pen', 'book', 'mug')[at % 3]},"
    f"{1 + at % 7},{2 + at % 3}.5,{(0, 0.1, 0.2)[at % 3]},{('shipped', 'open')[at % 2]}\n"
    for at in range(90)
)
STAFF = "emp_id,name,dept_id,salary\n" + "".join(
    f"{at},P{at},{at % 4},{40_000 + 700 * at}\n" for at in range(60)
)
DEPARTMENTS = "dept_id,dept_name,budget\n0,IT,9000\n1,Sales,8000\n2,HR,500\n3,Legal,700\n"
WORKSPACES |= {
    "priced": [_short("orders.csv", PRICED)],
    "staff": [_short("employees.csv", STAFF), _short("departments.csv", DEPARTMENTS)],
}
