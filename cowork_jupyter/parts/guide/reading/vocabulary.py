"""The words the guide knows. A word that is not here, and no name or value of a table, stops it."""

from __future__ import annotations

from .tokens import normalize, word_set

_WORDS = {
    # what is computed
    "how:sum": "sum, sum up, total, total amount, overall, summed",
    "how:mean": "mean, average, avg, on average, averaged",
    "how:median": "median",
    "how:min": "minimum, min",
    "how:max": "maximum, max",
    "how:std": "standard deviation, std",
    "count": "how many, number, count, amount of rows, no of, headcount",
    "distinct": "different, distinct, unique",
    "share": "share, percentage, percent, proportion, fraction, %",
    "overtime": "over time, trend, develop, develops, developed, development, evolve, evolved,"
    " evolution, time series",
    # for what
    "by": "by, per, for each, for every, in each, of each, each, every, across, grouped by,"
    " group by, broken down by, split by, depending on, within each",
    "period:day": "day, days, date",
    "period:week": "week, weeks",
    "period:month": "month, months",
    "period:quarter": "quarter, quarters",
    "period:year": "year, years",
    "period:weekday": "weekday, weekdays, day of week, day of the week",
    "period:hour": "hour, hours, hour of day, hour of the day",
    "each:day": "daily",
    "each:week": "weekly",
    "each:month": "monthly",
    "each:quarter": "quarterly",
    "each:year": "yearly, annual, annually",
    # in which order
    "most:": "highest, largest, biggest, greatest, most, top",
    "most:good": "best",
    "least:": "lowest, smallest, least, fewest, bottom",
    "least:good": "worst",
    "common:most": "most common, most frequent",
    "common:least": "least common, least frequent, rarest",
    "descending": "sorted from most to least, from most to least, highest first, largest first,"
    " descending, from highest to lowest",
    "ascending": "sorted from least to most, from least to most, smallest first, lowest first,"
    " ascending, from lowest to highest",
    "which": "which, who",
    "why": "why",
    "low": "low, high, weak, strong, bad, good, drop, dropped, rise, fall, fell, down, up",
    # charts
    "chart:": "chart, plot, graph, draw, visualize, visualise, diagram, figure",
    "chart:bar": "bars, bar chart, bar graph, bar plot, barchart, bar diagram",
    "chart:line": "line chart, line graph, line plot, linechart",
    "chart:pie": "pie chart, pie, pie graph",
    "chart:histogram": "histogram, hist",
    "chart:scatter": "scatter plot, scatterplot, scatter, scatter chart",
    "chart:box": "box plot, boxplot, box plots, boxplots, box and whisker plot",
    # which rows
    "where": "where, whose, that are, which are, who are, only, having, when, that have",
    "op:>": "above, over, more than, greater than, higher than, larger than, exceeding, >",
    "op:>=": "at least, >=, ≥, no less than",
    "op:<": "below, under, less than, fewer than, lower than, smaller than, <",
    "op:<=": "at most, <=, ≤, up to, no more than",
    "op:=": "=, equals, equal to, exactly",
    "than:age >": "older than",
    "than:age <": "younger than",
    "than:price <": "cheaper than",
    "than:duration >": "longer than",
    "than:duration <": "shorter than",
    "contains": "contains, containing, contain",
    "oneof": "one of",
    "known": "known, not missing, not empty",
    "not": "not, except, excluding, exclude, other than, no, without, but not",
    "between": "between",
    "bound:>=": "since, starting",
    "bound:>": "after",
    "bound:<": "before",
    "bound:<=": "until, till",
    "from": "from",
    "to": "to, into",
    "with": "with",
    "on": "on, using",
    "as": "as",
    "and": "and, &, plus, as well as, ;",
    "or": "or",
    "vs": "vs, versus, against, compared to, compared with",
    "dates:day": "dates day first, day first",
    "dates:month": "dates month first, month first",
    # recipes
    "compare": "compare, comparison, difference, differ, change, changed, changes",
    "relation": "correlation, correlations, correlate, correlated, relationship, relation, related,"
    " association, depend, affect, affects, influence, influences, go together, goes together",
    "distribution": "distribution, distributed, distributions, spread",
    "outliers": "outliers, outlier, anomalies, extreme values, weird values, unusual values",
    "missing": "missing values, missing, missing value, nulls, null, nan, nans, empty values,"
    " empty cells, gaps, empty, missing data",
    "duplicates": "duplicates, duplicate, duplicated, duplicate rows, duplicate values,"
    " duplicated rows, double rows, duplicate entries, duplicate records",
    "empty": "empty rows, empty columns, empty rows and columns, completely empty rows,"
    " completely empty columns",
    "columns": "columns, column names, fields, variables, data types, datatypes, dtypes,"
    " column types",
    "first": "first, head, preview, sample",
    "rows": "rows, row, records, record, entries, entry, lines, observations, data points",
    "profile": "profile, describe, summary, summarize, summarise, overview, statistics, stats,"
    " explore, analyze, analyse, summary statistics, what is in, what is inside",
    "clean": "clean, clean up, tidy, tidy up, cleanse, cleaned",
    "drop": "drop, remove, delete, discard, get rid of, dedupe, deduplicate",
    "fill": "fill, fill in, impute, replace, fill up",
    "trim": "trim, strip, trim spaces, trim whitespace, strip spaces, strip whitespace,"
    " trim the spaces, strip whitespace from, surrounding spaces",
    "unify": "unify, standardize, standardise, normalize spelling, unify the spelling,"
    " unify spelling, harmonize",
    "fillwith:most frequent": "mode, most frequent, most common, most frequent value,"
    " most common value",
    "fillwith:zero": "zero, zeros",
    "fillwith:previous": "previous value, previous, last value, forward fill",
    "join": "join, merge, combine, joined, link",
    "model": "predict, baseline model, prediction, regression model, train a model,"
    " fit a model, build a model that predicts, model, model that predicts, classifier",
    "export": "export, save, write, store",
    "show": "show, show me, give, give me, tell, tell me, display, list, print, find, get, see,"
    " calculate, compute, look at, check, make, create, build, generate, view, return,"
    " want to see, would like to see, let me see, what does, know, determine, need, open",
    "sold": "sold, sell, sells, made, make, earned, earn, generated, generate, brought in,"
    " bring in, got, get, have, had",
    "this": "data, dataset, data set, table, file, it, sheet, spreadsheet, dataframe, everything,"
    " this table, this file, this data, this dataset",
    # what says nothing
    "": "the, a, an, of, in, for, please, pls, kindly, me, us, i, we, you, can, could, would,"
    " want, like, to know, is, are, was, were, be, been, do, does, did, has, have, had, there,"
    " what, whats, how, how much, our, my, your, their, its, some, any, all, now, here, just,"
    " also, hi, hello, hey, thanks, thank you, values, value, let, then, individual, respective,"
    " quick, quickly, simple, so, at, work, works, working, live, lives, exist, exists, contain,"
    " within, during, i'd,"
    " would like, need to, want to, like to, each of, ok, okay, about, too, total number of rows",
}
_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
COUNTS = {
    word: number
    for number, word in enumerate(_TO_TWELVE.split(" "), 1)
} | {"fifteen": 15, "twenty": 20, "hundred": 100}  # fmt: skip

PHRASES: dict[tuple[str, ...], list[str]] = {}
for _tag, _phrases in _WORDS.items():
    for _phrase in _phrases.split(","):
        PHRASES.setdefault(tuple(normalize(_phrase.strip()).split()), []).append(_tag)
LONGEST = max(map(len, PHRASES))

# Words that begin another request after a comma or “and”.
VERBS = word_set(
    "show plot draw chart graph visualize clean tidy profile describe list count compare find join"
    " merge predict export save drop remove fill compute calculate give tell summarize display"
    " create make trim check"
)
# A word for a column, by what columns are called; only where no column has the word itself.
SYNONYMS = (
    word_set("revenue sales turnover income proceeds amount"),
    word_set("units quantity qty pieces"),
    word_set("salary wage pay earnings"),
    word_set("customer client buyer"),
    word_set("product item article"),
    word_set("gender sex"),
    word_set("price cost"),
    word_set("amount total"),
    word_set("temperature temp"),
    word_set("rain rainfall precipitation"),
    word_set("country nation"),
    word_set("department team"),
)
ROW_NOUNS = (
    word_set("employee staff people person worker colleague"),
    word_set("customer client buyer"),
    word_set("order purchase sale transaction"),
    word_set("student pupil"),
    word_set("trip ride journey"),
    word_set("patient person people"),
    word_set("product item article"),
)
VALUES = (
    word_set("female f women woman girls girl"),
    word_set("male m men man boys boy"),
    word_set("germany german de"),
    word_set("usa us america"),
    word_set("uk britain"),
)
# The column an adjective is about, and whether it means the smallest.
SUPERLATIVES = {
    "most expensive": ("price", False), "least expensive": ("price", True),
    "oldest": ("age", False), "youngest": ("age", True), "cheapest": ("price", True),
    "hottest": ("temperature", False), "warmest": ("temperature", False),
    "coldest": ("temperature", True), "heaviest": ("weight", False), "lightest": ("weight", True),
    "tallest": ("height", False), "longest": ("duration", False), "shortest": ("duration", True),
}  # fmt: skip
_RATES = word_set(
    "price rate ratio age rating score stars temperature temp humidity percent pct percentage"
    " margin grade gpa bmi speed height weight pressure salary wage latency duration discount"
    " average mean avg index level density width depth satisfaction latitude longitude lat lon"
    " year efficiency"
)
_ADDITIVE = word_set(
    "revenue sales turnover amount units quantity qty count cost costs profit visits views clicks"
    " downloads rain rainfall precipitation total hours population volume budget spend spent paid"
    " expenses income points goals deaths cases passengers tickets payment gross copies tax fee"
    " fees tip donations kwh energy consumption visitors orders"
)
_WORSE_IF_HIGH = word_set(
    "delay cost costs error errors loss losses defects complaints cancellations returns returned"
    " churn wait expense expenses price age duration"
)


def usual_aggregate(words: list[str]) -> str:
    """How a column of this name is usually put together; empty if that has to be asked."""
    if _RATES & set(words):
        return "mean"
    return "sum" if _ADDITIVE & set(words) else ""


def is_worse_if_high(words: list[str]) -> bool:
    return bool(_WORSE_IF_HIGH & set(words))
