from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.llm import tokens
from cowork_jupyter.llm.tokens import TokenCounter, cut_middle, estimate_tokens

CHANCE = random.Random(1)
CODE = """
def mean_of(frame: pd.DataFrame, column: str) -> float:
    \"\"\"The mean of a column, without missing values.\"\"\"
    values = frame[column].dropna()
    return float(values.mean()) if len(values) else 0.0
"""


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        # The bounds are what common tokenizers (cl100k, Llama 3, Qwen 2.5) make of such text.
        ("The quick brown fox jumps over the lazy dog. " * 50, 450, 900),
        (CODE * 10, 500, 1000),
        ('{"tool": "read_file", "parameters": {"path": "a.py"}}', 15, 30),
        ("数据科学家可以信任的代理程序。" * 20, 180, 450),
        ("これはデータ科学のためのテストです。" * 20, 200, 500),
        ("데이터 과학자를 위한 도구입니다. " * 20, 180, 500),
        ("Привет, это проверка подсчёта. " * 20, 140, 400),
        ("สวัสดีชาวโลก" * 20, 120, 400),
        ("😀🎉🚀" * 20, 60, 240),
        (base64.b64encode(CHANCE.randbytes(3000)).decode(), 2000, 4000),
        (CHANCE.randbytes(2000).hex(), 1800, 4000),
        ("".join(CHANCE.choices("acgt", k=4000)), 1200, 4000),
        (",".join(f"{CHANCE.random():.6f}" for _ in range(500)), 1700, 4500),
        ("\n".join("    " * (n % 4) + "x = 1" for n in range(200)), 600, 1600),
        ("", 0, 0),
        ("a", 1, 1),
    ],
)
def test_the_estimate_is_in_the_range_of_real_tokenizers(text: str, least: int, most: int) -> None:
    assert least <= estimate_tokens(text) <= most


@given(st.text())
def test_no_text_is_more_tokens_than_bytes_or_less_than_a_sixteenth(text: str) -> None:
    visible = "".join(text.split())
    assert len(visible) / 16 <= estimate_tokens(text) <= len(text.encode())


@given(st.lists(st.sampled_from(["word", "x_1", "()", "\n", "\n\n", " ", "   ", "é", "\t"])))
def test_paragraphs_counted_one_by_one_are_what_the_whole_is(parts: list[str]) -> None:
    text = "".join(parts)
    assert estimate_tokens(text) == len(tokens._PIECE.findall(text))


def test_long_texts_are_judged_by_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (CODE * 10 + "数据" * 100) * 2_000
    looked_at: list[int] = []
    count = tokens._pieces

    def watched(part: str) -> int:
        looked_at.append(len(part))
        return count(part)

    with monkeypatch.context() as patch:
        patch.setattr(tokens, "_pieces", watched)
        sampled = estimate_tokens(text)
    assert sum(looked_at) < 100_000 < len(text)
    exact = estimate_tokens(text[: len(text) // 2000]) * 2000
    assert sampled == pytest.approx(exact, rel=0.1)


def test_the_counter_learns_the_ratio_of_the_model_in_use() -> None:
    counter = TokenCounter()
    before = counter(CODE * 10)
    for _ in range(20):
        counter.learn([CODE * 5, CODE * 5], int(before * 1.5))
    assert counter(CODE * 10) == pytest.approx(before * 1.5, rel=0.02)


def test_too_low_an_estimate_is_corrected_faster_than_too_high_a_one() -> None:
    high, low = TokenCounter(), TokenCounter()
    estimate = estimate_tokens(CODE * 10)
    high.learn([CODE * 10], int(estimate * 1.4))
    low.learn([CODE * 10], int(estimate * 0.6))
    assert high.ratio - 1 > 2 * (1 - low.ratio) > 0


@given(st.lists(st.integers(-10, 10**9), max_size=30))
def test_no_report_takes_the_ratio_out_of_bounds(reports: list[int]) -> None:
    counter = TokenCounter()
    for reported in reports:
        counter.learn([CODE * 10], reported)
    assert 0.6 <= counter.ratio <= 3


def test_a_short_request_teaches_nothing_because_its_frame_outweighs_it() -> None:
    counter = TokenCounter()
    counter.learn(["hi"], 90)
    assert counter.ratio == 1


def test_a_cut_text_says_what_is_missing_and_how_to_read_on() -> None:
    text = "\n".join(f"line {n}" for n in range(1, 1001))
    cut = cut_middle(text, 200, estimate_tokens, "Use fewer lines.")
    assert cut.startswith("line 1\nline 2\n")
    assert cut.endswith("\nline 999\nline 1000")
    assert "of 1000, " in cut
    assert "characters. Use fewer lines.]" in cut


def test_one_long_line_is_cut_by_characters() -> None:
    cut = cut_middle("x" * 10_000, 100, estimate_tokens)
    assert "[cut here: " in cut
    assert "of 10,000 characters.]" in cut
    assert "lines" not in cut


@settings(max_examples=2 * settings().max_examples)
@given(st.text(max_size=400), st.integers(-5, 80))
def test_a_cut_text_is_within_its_limit_and_a_short_one_untouched(text: str, limit: int) -> None:
    cut = cut_middle(text, limit, estimate_tokens, "hint")
    assert estimate_tokens(cut) <= max(limit, 0)
    if estimate_tokens(text) <= limit:
        assert cut == text
