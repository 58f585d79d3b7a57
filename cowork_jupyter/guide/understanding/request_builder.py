"""From the slots to requests: what is wanted, and what else could be meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..request import Aggregate, Chart, Filter, Gaps, Request, Verb
from .aggregates import AggregateBuilder
from .names import is_key, measures
from .periods import period_of, previous_span, span_of_day
from .slots import main_measure, spans_of_one_length
from .synonyms import usual_aggregate

_MAX_ALTERNATIVES = 4
_GROWTH = re.compile(r"\b(?:growth|gr[eo]w|grown|wachstum|gewachsen)\b", re.IGNORECASE)
_IS_CLEAN = re.compile(r"\s*(?:is|are|how|ist|sind|wie)\b", re.IGNORECASE)
_GAPS: tuple[tuple[str, Gaps], ...] = (
    (r"\b(?:fill|filled|impute\w*|median|auff\w*llen|f\w*lle)\b", "fill"),
    (
        r"\b(?:drop|remove|delete|entfern\w*|l\w*sch\w*)\b[\w ]{0,40}\b(?:missing|gaps|nans?|nulls?"
        r"|fehlende\w*|l\w*cken|empty(?! rows| lines))",
        "drop",
    ),
    (
        r"\b(?:keep|leave|behalte\w*)\b[\w ]{0,40}\b(?:missing|gaps|nans?|nulls?|fehlende\w*)",
        "keep",
    ),
)


def gaps_in(text: str) -> Gaps | None:
    """None if the text does not say what to do with missing values."""
    lower = text.lower()
    return next((gaps for pattern, gaps in _GAPS if re.search(pattern, lower)), None)


class RequestBuilder(AggregateBuilder):
    def requests(self) -> list[Request]:
        """Empty if the table lacks what is needed."""
        verb = self._verb()
        if verb is None:
            return []
        if verb != "compare":
            self.slots.ignored += _GROWTH.findall(self.text)
        found: Sequence[Request | None] = []
        if verb == "aggregate":
            found = self._suggested() or self._several()
        found = found or [self._of(verb)]
        return [drawn for request in found if request and (drawn := self._drawable(request))]

    def _suggested(self) -> list[Request]:
        """Default charts for a bare `plot it`."""
        slots = self.slots
        named = slots.columns or slots.by or slots.which or slots.aggregates
        more = slots.over_time or slots.period or slots.chart or slots.counts
        if not slots.wants_chart or named or more or slots.rows or slots.rank is not None:
            return []
        whole = self._aggregate(None)
        groups = [column.name for column in self.table.categories][:1]
        found = []
        if slots.time:
            time = replace(whole, time=slots.time, period=self._usual_period(), groups=())
            found.append(replace(time, chart="line"))
        if groups:
            found.append(replace(whole, groups=tuple(groups), chart="bar"))
        return found or [replace(whole, groups=(), chart="bar")]

    def _drawable(self, request: Request) -> Request | None:
        """A single number is no chart: show its distribution instead."""
        if request.verb != "aggregate" or not request.chart or request.groups or request.period:
            return request
        name = next(iter(request.columns), "")
        column = self.table.column(name) if name else None
        if column and column.kind == "number":
            spread = Request("distribution", self.table, (name,), chart="histogram")
            return self._filtered(spread)
        texts = [name for name in self.table.names_of("text") if not is_key(name)]
        return replace(request, groups=tuple(texts[:1])) if texts else None

    def _several(self) -> list[Request]:
        """Several measures or aggregates become one request each."""
        slots = self.slots
        numbers = self._numbers(slots.columns)
        if slots.both_ends:
            slots.both_ends = False
            return [*self._end(ascending=False), *self._end(ascending=True)]
        if slots.counts and slots.rows and slots.aggregates and slots.aggregated:
            groups = tuple(self._groups(tuple(numbers)))
            counted = self._with_time(Request("aggregate", self.table, (), "count", groups))
            slots.counts = False  # the rest is understood without it
            measured = self._several() or [self._aggregate(slots.aggregates[0])]
            return [self._filtered(self._charted(counted)), *measured]
        if len({column for _, column in slots.aggregated}) > 1 and len(slots.aggregates) > 1:
            return [self._aggregate(how, name) for how, name in dict.fromkeys(slots.aggregated)]
        if len(slots.aggregates) > 1 and "share" not in slots.aggregates:
            return [self._aggregate(aggregate) for aggregate in dict.fromkeys(slots.aggregates)]
        if len(numbers) > 1 and not slots.counts and not slots.superlative:
            how = slots.aggregates[0] if slots.aggregates else None
            return [self._aggregate(how, name) for name in numbers]
        return []

    def _end(self, *, ascending: bool) -> list[Request]:
        self.slots.ascending = ascending
        return self._several() or [self._aggregate(next(iter(self.slots.aggregates), None))]

    def alternatives(self, request: Request) -> list[Request]:
        found: list[Request] = []
        if self.is_reversed(request):
            found.append(replace(request, ascending=not request.ascending))
        if request.verb in ("aggregate", "compare") and self._numbers(request.columns):
            if not self.slots.aggregates and request.aggregate in ("sum", "mean"):
                other: Aggregate = "mean" if request.aggregate == "sum" else "sum"
                found.append(replace(request, aggregate=other))
            for name in self._other_measures(request.columns[0]):
                aggregate = request.aggregate
                if not self.slots.aggregates and aggregate in ("sum", "mean"):
                    aggregate = usual_aggregate(name)
                found.append(replace(request, columns=(name,), aggregate=aggregate))
        for at, group in enumerate(request.groups):
            for name in self.slots.alternatives.get(group, ())[:2]:
                groups = (*request.groups[:at], name, *request.groups[at + 1 :])
                found.append(replace(request, groups=groups))
        others = [alternative for alternative in dict.fromkeys(found) if alternative != request]
        return others[:_MAX_ALTERNATIVES]

    def _other_measures(self, taken: str) -> list[str]:
        known = self.slots.alternatives.get(taken, ())
        said = self.slots.superlative.value if self.slots.superlative else ""
        named = taken in (*self.slots.columns, *self.slots.by, said) or self.slots.newest
        numbers = measures(self.table)
        rest = [] if named else [column for column in numbers if column != taken]
        return [*[column for column in known if column in numbers], *rest][:2]

    def _verb(self) -> Verb | None:
        slots = self.slots
        verbs = [verb for verb in slots.verbs if verb not in ("preview", "why", "compare")]
        if "join" in verbs:
            return None
        if "fix" in verbs and ({"missing", "duplicates"} & set(verbs) or slots.picks_rows):
            return "clean"
        if "fix" in verbs and "clean" not in verbs and "why" not in slots.verbs:
            return None
        if "clean" in verbs:
            return "missing" if _IS_CLEAN.match(self.text) else "clean"
        if self._compares():
            return "compare"
        if self._is_sorted():
            return "preview"
        if slots.verbs and set(slots.verbs) == {"why"} and not self._is_aggregate():
            return None
        for verb in ("model", "relate", "duplicates", "outliers", "missing", "distribution"):
            if verb in verbs:
                return verb
        if "columns" in verbs and not slots.aggregates and not slots.by:
            return "columns"
        if slots.chart == "scatter":
            return "relate"
        if slots.chart in ("histogram", "box"):
            return "distribution"
        described = self._numbers(slots.columns) and not (slots.by or slots.aggregates)
        if "profile" in verbs and described:
            return "distribution"
        if self._only_picks_rows():
            return "preview"
        if self._is_aggregate():
            return "aggregate"
        if "profile" in verbs:
            return "profile"
        if slots.wants_chart and len(self._numbers(slots.columns)) == 2 and not slots.over_time:
            return "relate"
        if slots.wants_chart or slots.columns:
            return "aggregate"
        if slots.verbs or self.filters or slots.rows or slots.limit:
            return "preview"
        return None

    def _is_sorted(self) -> bool:
        """`sort employees by salary`."""
        slots = self.slots
        more = slots.columns or slots.which or slots.counts or slots.aggregates
        listed = "preview" in slots.verbs and len(slots.by) == len(self._numbers(slots.by))
        is_order = slots.sorts or (listed and bool(slots.by) and slots.rows)
        by = slots.by or slots.dates or slots.period
        return bool(is_order and by and not (more or slots.wants_chart or slots.rank is not None))

    def _only_picks_rows(self) -> bool:
        slots = self.slots
        grouped = slots.by or slots.period or slots.over_time or slots.wants_chart
        ranked = slots.rank is not None or slots.superlative or slots.verb_column
        measured = slots.counts or slots.aggregates or self._numbers(slots.columns)
        return slots.picks_rows and not (grouped or ranked or measured)

    def _is_aggregate(self) -> bool:
        slots = self.slots
        grouped = slots.by or slots.which or slots.period
        if slots.rows and not (slots.counts or grouped):
            ranked = slots.rank is not None or slots.superlative or slots.newest
            return bool(ranked or slots.aggregates or slots.columns)
        if slots.wants_chart and len(self._numbers(slots.columns)) == 2:
            return bool(slots.by or slots.period or slots.over_time)
        ranked = slots.rank is not None or slots.superlative or slots.newest
        measured = slots.aggregates or slots.counts or self._numbers(slots.columns)
        return bool(grouped or ranked or measured or slots.over_time or slots.verb_column)

    def _compares(self) -> bool:
        slots = self.slots
        if "why" in slots.verbs and not (slots.period and not slots.spans):
            about = slots.spans or slots.period or slots.verb_column or self._numbers(slots.columns)
            return bool(slots.time and about)
        wanted = "compare" in slots.verbs or "than" in self.text.lower().split()
        return wanted and (len(self._compared_spans()) == 2 or bool(self._compared_values()))

    def _compared_spans(self) -> list[str]:
        spans = list(dict.fromkeys(self.slots.spans))
        return spans if len(spans) == 2 and spans_of_one_length(spans) else []

    def _compared_values(self) -> tuple[str, str, str] | None:
        pairs = list(dict.fromkeys(self.slots.pairs))
        for column, _ in pairs:
            values = [value for name, value in pairs if name == column]
            if len(values) == 2:
                return column, values[0], values[1]
        return None

    def _of(self, verb: Verb) -> Request | None:
        slots, table = self.slots, self.table
        match verb:
            case "clean":
                gaps: Gaps = "drop" if slots.picks_rows else "keep"
                return Request("clean", table, gaps=gaps_in(self.text) or gaps)
            case "profile":
                return Request("profile", table)
            case "columns":
                return Request("columns", table)
            case "compare":
                return self._compare()
            case "preview":
                ordered = self._sorted() if self._is_sorted() else None
                if ordered:
                    return ordered
                if self._is_sorted():
                    by = [*slots.by, *slots.dates][:1] or [slots.period or ""]
                    slots.ignored.append(f"by {by[0]}")
                request = Request("preview", table, limit=slots.limit)
                return self._filtered(request)
            case "missing" | "duplicates":
                if verb == "missing" and slots.rows and slots.columns and not slots.counts:
                    gap = Filter(slots.columns[0], "missing")
                    return Request("preview", table, filters=(gap,))
                return self._filtered(Request(verb, table, tuple(slots.columns)))
            case "outliers":
                return self._filtered(Request(verb, table, tuple(self._numbers(slots.columns))))
            case "distribution":
                return self._distribution()
            case "relate":
                return self._relate()
            case "model":
                columns = (*(slots.columns or slots.by)[:1], *slots.features)
                return Request("model", table, columns) if columns else None
        return self._aggregate(slots.aggregates[0] if slots.aggregates else None)

    def _distribution(self) -> Request:
        slots = self.slots
        named = [*slots.columns, *slots.by]
        others = [column for column in named if column not in slots.by] or named
        name = others[0] if others else main_measure(self.names)
        groups = tuple(column for column in slots.by if column != name)
        if self.table.kind_of(name) != "number":
            groups = (name, *groups) if name else groups
            chart: Chart | None = None if self.is_question and not slots.wants_chart else "bar"
            counted = Request("aggregate", self.table, (), "count", groups, chart=chart)
            return self._filtered(counted)
        is_summary = self.is_question or "profile" in slots.verbs
        chart = slots.chart or (None if is_summary else "box" if groups else "histogram")
        request = Request("distribution", self.table, (name,), groups=groups, chart=chart)
        return self._filtered(request)

    def _relate(self) -> Request | None:
        slots = self.slots
        named = list(dict.fromkeys([*slots.columns, *slots.by, *slots.which]))
        chart: Chart | None = "scatter" if slots.wants_chart else None
        if len(named) == 1 or (chart and not named):
            others = [name for name in measures(self.table) if name not in named]
            named += others[: 2 - len(named)]
        return self._filtered(Request("relate", self.table, tuple(named[:2]), chart=chart))

    def _compare(self) -> Request | None:
        slots = self.slots
        measure, aggregate = self._measure(self._numbers(slots.columns))
        if slots.picks_rows and not self._numbers(slots.columns):
            measure, aggregate = (), "count"  # `did women survive more than men`
        request = Request("compare", self.table, measure, aggregate, tuple(self._groups(measure)))
        spans, values = self._compared_spans(), self._compared_values()
        if "why" in slots.verbs and len(spans) != 2:
            column = self.table.column(slots.time)
            last = column.last if column else ""
            newest = [span_of_day(last, slots.period or "month")] if last else []
            spans = slots.spans[-1:] or newest
            spans = [previous_span(spans[0]), spans[0]] if spans else []
        if spans:
            ordered = spans if "why" in slots.verbs else sorted(spans)
            between = (ordered[0], ordered[-1])
            period = period_of(spans[0])
            request = replace(request, time=slots.time, period=period, between=between)
            kept = [row_filter for row_filter in self.filters if row_filter.column != slots.time]
            return replace(request, filters=tuple(kept))
        if not values:
            return None
        column_name, first, second = values
        groups = (column_name, *(group for group in request.groups if group != column_name))
        kept = [row_filter for row_filter in self.filters if row_filter.column != column_name]
        return self._filtered(replace(request, groups=groups, between=(first, second)), kept)
