"""Which numbers of a text are figures, and what they mean."""

from __future__ import annotations

import pytest

from cowork_jupyter.effects.figures import assumptions_in, find_figures

NO_FIGURES = [
    "There is nothing to count here.",
    "We looked at two files and three columns.",
    "1. Load the data\n2. Clean it\n10) Plot it",
    "## 3. Results\n### 2.1 Data",
    "**1. Load**",
    "See cell 4, step 12 and figures 13 and 14.",
    "Zelle 14, Schritt 15 und Tabelle 16.",
    "The code is `df.head(45)` and\n```python\nx = 4711\n```\nThat was all.",
    "~~~\n61.4 %\n~~~",
    "An unclosed fence:\n```\n12,431 rows",
    "It was made on 2024-03-05 at 14:31:07.",
    "From 2024-01 to 2024-12, that is from 01.02.2024 to 12/31/2024.",
    "On 5 March 2024, March 17 and the 3rd of May 2023.",
    "Am 24. Dezember 2023 um 18 Uhr.",
    "In 2023 it was better than in 2019.",
    "The 1990s, Q3 2024 and FY24.",
    "We use pandas 2.2.1, Python 3.11 and version 4.5.",
    "It runs on 192.168.10.14.",
    "The ids are A4711, order_12345, x86 and #815.",
    "COVID-19, GPT-4 and F-16 are names.",
    "The 21st and the 42nd row.",
    "Read sales_2024.csv, out/2023/report-17.ipynb and data.v13.parquet.",
    "See https://example.org/2024/4711 and [this](page-99.html).",
    "With 5-fold cross-validation and a 30-day window.",
    "The last 30 days and the top 20 customers.",
    "A 95 % confidence interval; significant at p < 0.05.",
    "An 80/20 split with random_state 42 and seed 13.",
    "There are 3 files, 7 columns and 12 groups.",
    "I made 2 charts.",
    "<img width=640> and <!-- 4711 -->",
    "The footnote [12] says so.",
    "On line 120 and row 4711.",
    "- 3 out of 7\n* 5 of 9",
    "A ratio of 1:40, open 24/7, with t(43) and χ²(25).",
    "See section 4.15; it needs pandas>=2.0 and Python3.11.",
    "Less than that: < 45 %, (>95 %), ≤ 20 and n >= 30.",
    "In week 23, on day 45, by ISO 8601.",
    "It took 1m or 2h.",
]


@pytest.mark.parametrize("text", NO_FIGURES)
def test_what_names_counts_or_dates_is_no_figure(text: str) -> None:
    assert [figure.text for figure in find_figures(text)] == []


FIGURES = [
    ("The table has 12431 rows.", "12431", 12431),
    ("The table has 12,431 rows.", "12,431", 12431),
    ("Die Tabelle hat 12.431 Zeilen.", "12.431", 12431),
    ("1'918'233 francs", "1'918'233", 1918233),
    ("1\u202f918\u202f233 francs", "1\u202f918\u202f233", 1918233),
    ("It is 1,918,233.50 in all.", "1,918,233.50", 1918233.5),
    ("Es sind 1.918.233,50 €.", "1.918.233,50 €", 1918233.5),
    ("The mean is 41.87.", "41.87", 41.87),
    ("Der Mittelwert ist 41,87.", "41,87", 41.87),
    ("A share of 0.614", "0.614", 0.614),
    ("61.4 % are paid", "61.4 %", 61.4),
    ("61% are paid", "61%", 61),
    ("61 percent are paid", "61 percent", 61),
    ("61,4 Prozent sind bezahlt", "61,4 Prozent", 61.4),
    ("up by 3 percentage points", "3 percentage points", 3),
    ("Revenue was $1,200.", "$1,200", 1200),
    ("Revenue was 1.92 M.", "1.92 M", 1_920_000),
    ("Revenue was $1.9m.", "$1.9m", 1_900_000),
    ("Revenue was €2.3bn.", "€2.3bn", 2_300_000_000),
    ("Revenue was 2 million dollars.", "2 million dollars", 2_000_000),
    ("Der Umsatz war 3,5 Mio. €", "3,5 Mio. €", 3_500_000),
    ("about 45k users", "45k", 45_000),
    ("It fell by -12.5.", "-12.5", -12.5),
    ("It is −214 rows", "−214", -214),
    ("It is +3.5 better", "+3.5", 3.5),
    ("(−214)", "−214", -214),
    ("2.5× as many", "2.5×", 2.5),
    ("1.2e-5 is small", "1.2e-5", 1.2e-5),
    ("3.1 × 10^-5 is small", "3.1 × 10^-5", 3.1e-5),
    ("The median is 7.", "7", 7),
    ("N=8", "8", 8),
    ("| a | 61.4 |", "61.4", 61.4),
    ("**12,431**", "12,431", 12431),
    ("It has 2024 rows", "2024", 2024),
    ("It took 13.2 s", "13.2 s", 13.2),
    ("1.5 GB", "1.5 GB", 1.5e9),
    ("Revenue:4711", "4711", 4711),
    ("> It has 4711 rows", "4711", 4711),
    ("went -> 4711", "4711", 4711),
    ("F1: .81", ".81", 0.81),
    ("12 431 rows", "12 431", 12431),
    ("- 45 rows", "45", 45),
    ("Here $x = 12.5$ holds", "12.5", 12.5),
    ("2,5 Mio. Euro", "2,5 Mio. Euro", 2_500_000),
    ("mean=41.87", "41.87", 41.87),
]


@pytest.mark.parametrize(("text", "written", "value"), FIGURES)
def test_a_figure_is_found_with_its_value(text: str, written: str, value: float) -> None:
    (figure,) = find_figures(text)
    assert figure.text == written
    assert figure.value == pytest.approx(value, rel=1e-12)


def test_a_unit_behind_a_range_is_of_both_ends() -> None:
    low, high = find_figures("between 15–20 %")
    assert (low.text, low.is_percent, high.is_percent) == ("15", True, True)
    low, high = find_figures("1.2 to 1.4 million")
    assert (low.value, high.value) == (1_200_000, 1_400_000)


def test_a_column_in_percent_says_so_in_its_head() -> None:
    table = "| region | rows | share (%) |\n|---|---|---|\n| north | 4711 | 61.4 |"
    rows, share = find_figures(table)
    assert (rows.is_percent, share.is_percent) == (False, True)


def test_words_say_that_a_number_is_a_loss() -> None:
    (fell,) = find_figures("Revenue fell by 12 %.")
    (rose,) = find_figures("Revenue rose by 12 %.")
    assert (fell.may_be_loss, rose.may_be_loss) == (True, False)


def test_a_small_scale_is_one_only_of_money() -> None:
    (metres,) = find_figures("It is 250 m long.")
    assert metres.value == 250


def test_figures_come_in_the_order_of_the_text() -> None:
    found = find_figures("12,431 rows, of which 61.4 % are paid; the mean is $41.87.")
    assert [figure.text for figure in found] == ["12,431", "61.4 %", "$41.87"]


def test_a_long_text_is_read_in_a_moment() -> None:
    assert find_figures("a 12 % b\n" * 100_000)


@pytest.mark.timeout(120)  # patterns that go back and forth took hours
@pytest.mark.parametrize(
    "run", ["x", "1", "1.", "1,", "-", "a/", " ", "\n", "> ", "123 ", "$ = ", "<!--", "`", ">\n"]
)
def test_whatever_a_model_writes_is_read_soon(run: str) -> None:
    assert len(find_figures(run * 20_000)) <= 20_000


STATED = ["`ordered_at` is the date", "Rows without a region are left out"]
HEADINGS = [
    "## Assumptions",
    "**Assumptions**",
    "**Assumptions:**",
    "Assumptions:",
    "### My assumptions:",
    "__Annahmen__",
    "## Annahmen",
    "Annahmen:",
]


@pytest.mark.parametrize("heading", HEADINGS)
@pytest.mark.parametrize("mark", ["-", "*", "1.", "2)", "- [ ]"])
def test_a_list_below_the_heading_is_what_is_assumed(heading: str, mark: str) -> None:
    text = f"The mean is 41.87.\n\n{heading}\n\n" + "\n".join(f"{mark} {one}" for one in STATED)
    assert [one.text for one in assumptions_in(text)] == STATED
    assert all(one.status == "open" for one in assumptions_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "The mean is 41.87.",
        "My assumptions are sound:\n- yes",
        "## Assumptions\n\nThere are none.",
        "## Assumptions\n- None.",
        "## Assumptions\n",
    ],
)
def test_nothing_is_assumed_without_a_list(text: str) -> None:
    assert assumptions_in(text) == []


def test_the_list_ends_where_something_else_begins() -> None:
    text = "## Assumptions\n- one\n  and a half\n\n- two\n\nThat is all.\n- three"
    assert [one.text for one in assumptions_in(text)] == ["one and a half", "two"]
