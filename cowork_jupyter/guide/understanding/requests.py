"""From what was read to requests: what is wanted, and what else could be meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..request import Aggregate, Chart, Filter, Gaps, Request, Verb
from .measuring import Measuring
from .names import is_key, measures
from .periods import before, period_of, within
from .reading import main_measure, spans_of_one_length
from .synonyms import usual_aggregate

_MAX_ALTERNATIVES = 4
_GROWTH = re.compile(r"\b(?:growth|wachstum)\b", re.IGNORECASE)
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


class Builder(Measuring):
    def requests(self) -> list[Request]:
        """Empty if the table lacks what is needed."""
        verb = self._verb()
        if verb is None:
            return []
        if verb != "compare":
            self.reading.ignored += _GROWTH.findall(self.text)
        found: Sequence[Request | None] = []
        if verb == "aggregate":
            found = self._suggested() or self._several()
        found = found or [self._of(verb)]
        return [drawn for request in found if request and (drawn := self._drawable(request))]

    def _suggested(self) -> list[Request]:
        """Default charts for a bare `plot it`."""
        reading = self.reading
        named = reading.columns or reading.by or reading.which or reading.aggregates
        more = reading.over_time or reading.period or reading.chart or reading.counts
        if not reading.draws or named or more or reading.rows or reading.rank is not None:
            return []
        whole = self._aggregate(None)
        groups = [column.name for column in self.table.categories][:1]
        found = []
        if reading.time:
            time = replace(whole, time=reading.time, period=self._usual_period(), groups=())
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
        reading = self.reading
        numbers = self._numbers(reading.columns)
        if len({column for _, column in reading.measured}) > 1 and len(reading.aggregates) > 1:
            return [self._aggregate(how, name) for how, name in dict.fromkeys(reading.measured)]
        if len(reading.aggregates) > 1 and "share" not in reading.aggregates:
            return [self._aggregate(aggregate) for aggregate in dict.fromkeys(reading.aggregates)]
        if len(numbers) > 1 and not reading.counts and not reading.says:
            how = reading.aggregates[0] if reading.aggregates else None
            return [self._aggregate(how, name) for name in numbers]
        return []

    def alternatives(self, request: Request) -> list[Request]:
        found: list[Request] = []
        if self.is_reversed(request):
            found.append(replace(request, ascending=not request.ascending))
        if request.verb in ("aggregate", "compare") and self._numbers(request.columns):
            if not self.reading.aggregates and request.aggregate in ("sum", "mean"):
                other: Aggregate = "mean" if request.aggregate == "sum" else "sum"
                found.append(replace(request, aggregate=other))
            for name in self._other_measures(request.columns[0]):
                aggregate = request.aggregate
                if not self.reading.aggregates and aggregate in ("sum", "mean"):
                    aggregate = usual_aggregate(name)
                found.append(replace(request, columns=(name,), aggregate=aggregate))
        for at, group in enumerate(request.groups):
            for name in self.reading.alternatives.get(group, ())[:2]:
                groups = (*request.groups[:at], name, *request.groups[at + 1 :])
                found.append(replace(request, groups=groups))
        others = [alternative for alternative in dict.fromkeys(found) if alternative != request]
        return others[:_MAX_ALTERNATIVES]

    def _other_measures(self, taken: str) -> list[str]:
        known = self.reading.alternatives.get(taken, ())
        said = self.reading.says.value if self.reading.says else ""
        named = taken in (*self.reading.columns, *self.reading.by, said) or self.reading.newest
        numbers = measures(self.table)
        rest = [] if named else [column for column in numbers if column != taken]
        return [*[column for column in known if column in numbers], *rest][:2]

    def _verb(self) -> Verb | None:
        reading = self.reading
        verbs = [verb for verb in reading.verbs if verb not in ("preview", "why", "compare")]
        if "join" in verbs:
            return None
        if "fix" in verbs and ({"missing", "duplicates"} & set(verbs) or reading.picks_rows):
            return "clean"
        if "fix" in verbs and "clean" not in verbs and "why" not in reading.verbs:
            return None
        if "clean" in verbs:
            return "missing" if _IS_CLEAN.match(self.text) else "clean"
        if self._compares():
            return "compare"
        if self._is_sorted():
            return "preview"
        if reading.verbs and set(reading.verbs) == {"why"} and not self._is_aggregate():
            return None
        for verb in ("model", "relate", "duplicates", "outliers", "missing", "distribution"):
            if verb in verbs:
                return verb
        if "columns" in verbs and not reading.aggregates and not reading.by:
            return "columns"
        if reading.chart == "scatter":
            return "relate"
        if reading.chart in ("histogram", "box"):
            return "distribution"
        described = self._numbers(reading.columns) and not (reading.by or reading.aggregates)
        if "profile" in verbs and described:
            return "distribution"
        if self._only_picks_rows():
            return "preview"
        if self._is_aggregate():
            return "aggregate"
        if "profile" in verbs:
            return "profile"
        if reading.draws and len(self._numbers(reading.columns)) == 2 and not reading.over_time:
            return "relate"
        if reading.draws or reading.columns:
            return "aggregate"
        if reading.verbs or self.filters or reading.rows or reading.limit:
            return "preview"
        return None

    def _is_sorted(self) -> bool:
        """`sort employees by salary`."""
        reading = self.reading
        more = reading.columns or reading.which or reading.counts or reading.aggregates
        listed = "preview" in reading.verbs and len(reading.by) == len(self._numbers(reading.by))
        is_order = reading.sorts or (listed and bool(reading.by) and reading.rows)
        by = reading.by or reading.dates or reading.period
        return bool(is_order and by and not (more or reading.draws or reading.rank is not None))

    def _only_picks_rows(self) -> bool:
        reading = self.reading
        grouped = reading.by or reading.period or reading.over_time or reading.draws
        ranked = reading.rank is not None or reading.says or reading.act
        measured = reading.counts or reading.aggregates or self._numbers(reading.columns)
        return reading.picks_rows and not (grouped or ranked or measured)

    def _is_aggregate(self) -> bool:
        reading = self.reading
        grouped = reading.by or reading.which or reading.period
        if reading.rows and not (reading.counts or grouped):
            ranked = reading.rank is not None or reading.says or reading.newest
            return bool(ranked or reading.aggregates or reading.columns)
        if reading.draws and len(self._numbers(reading.columns)) == 2:
            return bool(reading.by or reading.period or reading.over_time)
        ranked = reading.rank is not None or reading.says or reading.newest
        measured = reading.aggregates or reading.counts or self._numbers(reading.columns)
        return bool(grouped or ranked or measured or reading.over_time or reading.act)

    def _compares(self) -> bool:
        reading = self.reading
        if "why" in reading.verbs and not (reading.period and not reading.spans):
            about = reading.spans or reading.period or reading.act or self._numbers(reading.columns)
            return bool(reading.time and about)
        wanted = "compare" in reading.verbs or "than" in self.text.lower().split()
        return wanted and (len(self._compared_spans()) == 2 or bool(self._compared_values()))

    def _compared_spans(self) -> list[str]:
        spans = list(dict.fromkeys(self.reading.spans))
        return spans if len(spans) == 2 and spans_of_one_length(spans) else []

    def _compared_values(self) -> tuple[str, str, str] | None:
        pairs = list(dict.fromkeys(self.reading.pairs))
        for column, _ in pairs:
            values = [value for name, value in pairs if name == column]
            if len(values) == 2:
                return column, values[0], values[1]
        return None

    def _of(self, verb: Verb) -> Request | None:
        reading, table = self.reading, self.table
        match verb:
            case "clean":
                gaps: Gaps = "drop" if reading.picks_rows else "keep"
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
                    by = [*reading.by, *reading.dates][:1] or [reading.period or ""]
                    reading.ignored.append(f"by {by[0]}")
                request = Request("preview", table, limit=reading.limit)
                return self._filtered(request)
            case "missing" | "duplicates":
                if verb == "missing" and reading.rows and reading.columns and not reading.counts:
                    gap = Filter(reading.columns[0], "missing")
                    return Request("preview", table, filters=(gap,))
                return self._filtered(Request(verb, table, tuple(reading.columns)))
            case "outliers":
                return self._filtered(Request(verb, table, tuple(self._numbers(reading.columns))))
            case "distribution":
                return self._distribution()
            case "relate":
                return self._relate()
            case "model":
                columns = (*(reading.columns or reading.by)[:1], *reading.features)
                return Request("model", table, columns) if columns else None
        return self._aggregate(reading.aggregates[0] if reading.aggregates else None)

    def _distribution(self) -> Request:
        reading = self.reading
        named = [*reading.columns, *reading.by]
        others = [column for column in named if column not in reading.by] or named
        name = others[0] if others else main_measure(self.names)
        groups = tuple(column for column in reading.by if column != name)
        if self.table.kind_of(name) != "number":
            groups = (name, *groups) if name else groups
            chart: Chart | None = None if self.asks and not reading.draws else "bar"
            counted = Request("aggregate", self.table, (), "count", groups, chart=chart)
            return self._filtered(counted)
        is_summary = self.asks or "profile" in reading.verbs
        chart = reading.chart or (None if is_summary else "box" if groups else "histogram")
        request = Request("distribution", self.table, (name,), groups=groups, chart=chart)
        return self._filtered(request)

    def _relate(self) -> Request | None:
        reading = self.reading
        named = list(dict.fromkeys([*reading.columns, *reading.by, *reading.which]))
        chart: Chart | None = "scatter" if reading.draws else None
        if len(named) == 1 or (chart and not named):
            others = [name for name in measures(self.table) if name not in named]
            named += others[: 2 - len(named)]
        return self._filtered(Request("relate", self.table, tuple(named[:2]), chart=chart))

    def _compare(self) -> Request | None:
        reading = self.reading
        measure, aggregate = self._measure(self._numbers(reading.columns))
        request = Request("compare", self.table, measure, aggregate, tuple(self._groups(measure)))
        spans, values = self._compared_spans(), self._compared_values()
        if "why" in reading.verbs and len(spans) != 2:
            column = self.table.column(reading.time)
            last = column.last if column else ""
            newest = [within(last, reading.period or "month")] if last else []
            spans = reading.spans[-1:] or newest
            spans = [before(spans[0]), spans[0]] if spans else []
        if spans:
            ordered = spans if "why" in reading.verbs else sorted(spans)
            between = (ordered[0], ordered[-1])
            period = period_of(spans[0])
            request = replace(request, time=reading.time, period=period, between=between)
            kept = [row_filter for row_filter in self.filters if row_filter.column != reading.time]
            return replace(request, filters=tuple(kept))
        if not values:
            return None
        column_name, first, second = values
        groups = (column_name, *(group for group in request.groups if group != column_name))
        kept = [row_filter for row_filter in self.filters if row_filter.column != column_name]
        return self._filtered(replace(request, groups=groups, between=(first, second)), kept)
