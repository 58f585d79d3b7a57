"""Figures looked up by value in what code has put out."""

from __future__ import annotations

import time
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.effects import DataEffect, FieldState, TableState
from cowork_jupyter.domain.figures import FigureSource
from cowork_jupyter.effects.figure_index import Numbers, Output, look_up, without_source
from cowork_jupyter.effects.figures import find_figures

SOURCE = FigureSource(call_id="call_1")


def unseen(text: str, *outputs: str) -> list[str]:
    return without_source(look_up(text, [Output(one, SOURCE) for one in outputs]))


FOUND = [
    ("12,431 rows", "12431"),
    ("12,431 rows", "12,431"),
    ("12,431 rows", "(12431, 7)"),
    ("12431 rows", "12_431"),
    ("Es sind 12.431 Zeilen", "12431"),
    ("Es sind 12,431 Zeilen", "12431"),
    ("1.918.233,50 € und mehr", "1918233.5"),
    ("1,918,233", "1.918.233"),
    ("1'918'233", "1918233"),
    ("a mean of 41.87", "mean    41.866667"),
    ("a mean of 41.9", "41.866667"),
    ("a mean of 42", "The median is 41 and the mean 41.866667"),
    ("a mean of 41.87", "41,87"),
    ("0.5 is half", "0.45"),
    ("0.4 is rounded to even", "0.45"),
    ("61.4 % are paid", "0.614"),
    ("61.4 % are paid", "0.61397"),
    ("61.4 % are paid", "61.4%"),
    ("61.4 % are paid", "61.41"),
    ("61 % are paid", "share 61"),
    ("61 % are paid", "61%"),
    ("61 percent are paid", "0.6139"),
    ("61,4 Prozent sind bezahlt", "0.614"),
    ("a share of 0.614", "61.4%"),
    ("1.92 M in revenue", "1918233"),
    ("1.92 M in revenue", "1,918,233.17"),
    ("1.92 M in revenue", "1.918"),
    ("$1.92 million", "1.918233e+06"),
    ("2 million", "1918233"),
    ("€1.9m", "1918233"),
    ("3,5 Mio. € Umsatz", "3487654.20"),
    ("45k users", "45123"),
    ("2.3 bn", "2312345678"),
    ("1.5 GB", "1610612736"),
    ("1.5 GB", "1500000000"),
    ("fell by 12 %", "-0.1204"),
    ("a loss of 500 €", "-500"),
    ("214 fewer rows", "-214"),
    ("−214 rows", "(−214)"),
    ("−214 rows", "-214"),
    ("-12.5 in all", "-12.49"),
    ("about 12,000 rows", "12217"),
    ("roughly 500 rows", "487"),
    ("over 12,000 rows", "12911"),
    ("nearly 13,000 rows", "12217"),
    ("15–20 %", "0.152 0.198"),
    ("1.2e-5", "1.234e-05"),
    ("3.1 × 10^-5", "0.000031"),
    ("The median is 7.", "7.0"),
    ("a row of 4711", "[1,2,4711,5]"),
    ("a cell of 61.4", "<td>61.4</td>"),
    ("2.5× as many", "2.49"),
    ("| a | share (%) |\n|---|---|\n| x | 61.4 |", "0.6141"),
    ("It took 13.2 s", "13.24"),
]


@pytest.mark.parametrize(("text", "output"), FOUND)
def test_a_figure_is_found_where_rounding_gives_it(text: str, output: str) -> None:
    assert find_figures(text)
    assert unseen(text, output) == []


NOT_FOUND = [
    ("12,431 rows", "12430"),
    ("12,000 rows", "12"),
    ("12,000 rows", "12217"),
    ("a mean of 41.87", "41.88"),
    ("a mean of 41.87", "41.9"),
    ("61.4 % are paid", "0.61"),
    ("61.4 % are paid", "0.6134 of 614"),
    ("61.4 % are paid", "0.615"),
    ("12 % more", "12"),
    ("2 million", "2"),
    ("1.92 M", "1926000"),
    ("rose by 12 %", "-0.12"),
    ("−214 rows", "214"),
    ("a difference of 214", "12431 12217"),
    ("a ratio of 2.5", "5 2"),
    ("4711 rows", "id_4711 x4711"),
    ("45.2", ""),
    ("The median is 7.", "8"),
]


@pytest.mark.parametrize(("text", "output"), NOT_FOUND)
def test_what_no_output_has_is_not_found(text: str, output: str) -> None:
    assert len(unseen(text, output)) == 1


def test_the_first_output_that_has_it_is_the_source() -> None:
    cell, call = FigureSource(cell_id="c1"), FigureSource(call_id="call_2")
    outputs = [Output("41", call), Output("12431", cell), Output("12431", call)]
    (figure,) = look_up("It has 12,431 rows, yes 12,431.", outputs)
    assert (figure.text, figure.value, figure.source) == ("12,431", 12431, cell)


def test_what_is_known_is_nobodys_finding() -> None:
    assert look_up("Of your 4711 rows", [], [Output("I have 4711 rows")]) == []


def test_facts_without_a_source_need_none_but_an_output_comes_first() -> None:
    facts, call = Output("salary from 30000 to 69000"), FigureSource(call_id="call_1")
    assert look_up("At most 69,000", [facts]) == []
    (figure,) = look_up("From 30,000 to 69,000", [Output("69000", call), facts])
    assert (figure.text, figure.source) == ("69,000", call)


def test_tables_around_a_run_are_a_source() -> None:
    before = TableState(rows=12431, columns=14)
    paid = FieldState(name="amount", type="float64", missing=37, total=1918233.17)
    after = TableState(rows=12217, columns=15, duplicates=44, fields=[paid])
    effect = DataEffect(of="orders", cell_id="c1", before=before, after=after, line="(−214)")
    output = Output.of_effect(effect)
    text = "12,431 rows became 12,217 (−214), 37 missing, 44 duplicates, 1.92 M in all, 15 columns"
    found = look_up(text, [output])
    assert without_source(found) == []
    assert {figure.source.cell_id for figure in found if figure.source} == {"c1"}


def test_an_output_of_a_megabyte_is_read_in_a_moment() -> None:
    numbers = "\n".join(f"{n * 7919 % 1_000_003 / 13:.3f}" for n in range(110_000))
    began = time.thread_time()
    Numbers.of(numbers)
    assert time.thread_time() - began < 1.0  # it takes 40 ms; machines that test are busy


NUMBERS = st.decimals(min_value=13, max_value=10**7, places=4)


@given(NUMBERS, st.integers(min_value=0, max_value=3))
def test_a_number_rounded_to_any_precision_is_found(number: Decimal, places: int) -> None:
    rounded = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    assert unseen(f"a value of {rounded:,}", str(number)) == []
    assert unseen(f"a value of {rounded}", f"{number:,}") == []


@given(NUMBERS, st.integers(min_value=1, max_value=3))
def test_a_number_that_is_off_by_more_than_half_a_digit_is_not_found(
    number: Decimal, places: int
) -> None:
    step = Decimal(1).scaleb(-places)
    off = number.quantize(step, ROUND_HALF_UP) + step * 2
    assert unseen(f"a value of {off}", str(number)) == [str(off)]


@given(st.decimals(min_value=0, max_value=1, places=6), st.integers(min_value=1, max_value=2))
def test_a_share_is_found_as_a_percentage(share: Decimal, places: int) -> None:
    percent = (share * 100).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    assert unseen(f"It is {percent} %.", f"{share:f}") == []


@given(st.integers(min_value=1_000_000, max_value=999_000_000))
def test_millions_are_found_in_full(number: int) -> None:
    assert unseen(f"It is {number / 1e6:.2f} M.", str(number)) == []
