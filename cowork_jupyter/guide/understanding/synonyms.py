"""Words that mean the same column, what adjectives say of one, and which measures add up."""

from __future__ import annotations

from collections.abc import Sequence

from ..request import Aggregate
from .tokens import normalize, stems, word_set, words_of

_COLUMN_SYNONYMS = (
    "revenue sales turnover income earnings proceeds umsatz erlos einnahmen amount"
    " gross takings money geld",
    "units quantity qty pieces menge stuck stuckzahl volume",
    "price preis unitprice stuckpreis",
    "cost costs expense expenses spend spending spent kosten ausgaben aufwand amount betrag money",
    "profit margin gewinn marge money earnings",
    "date day when time datum tag timestamp zeitpunkt datetime zeit",
    "customer client buyer kunde kundin auftraggeber",
    "product item article produkt artikel sku ware goods",
    "region area territory gebiet district bezirk",
    "country land nation state staat",
    "city town stadt ort place location",
    "store shop branch outlet filiale laden geschaft standort",
    "category type kind kategorie art class klasse segment",
    "department dept abteilung team division bereich",
    "employee staff mitarbeiter person worker people",
    "salary wage wages pay gehalt lohn income earnings compensation money",
    "age alter",
    "gender sex geschlecht",
    "rating score stars bewertung note grade",
    "temperature temp temperatur heat degree degrees grad",
    "rain rainfall precipitation niederschlag regen",
    "wind windspeed windgeschwindigkeit",
    "humidity feuchte luftfeuchtigkeit feuchtigkeit",
    "order bestellung auftrag",
    "channel kanal vertriebskanal",
    "supplier vendor lieferant",
    "discount rabatt nachlass",
    "name title bezeichnung",
    "status state zustand",
    "weight gewicht mass",
    "height grosse hohe",
    "duration dauer length lange time minutes minuten",
    "distance entfernung strecke",
    "year jahr",
    "month monat",
    "population einwohner bevolkerung inhabitants",
    "visits visitors views traffic besuche besucher aufrufe",
    "payment zahlung zahlungsart",
    "brand marke make manufacturer hersteller",
    "value wert amount betrag total size",
    "student pupil learner schuler schulerin studierende",
    "carrier airline fluggesellschaft",
    "movie film",
    "delay verspatung lateness",
    "diagnosis diagnose illness disease",
    "started joined hired start eintritt hire",
)
# nouns for rows, in file names and requests
_ROW_NOUNS = (
    "employee staff personnel worker people person mitarbeiter angestellte angestellter personal",
    "customer client buyer kunde kundin",
    "order sale purchase transaction deal bestellung verkauf auftrag kauf",
    "student pupil learner schuler schulerin studierende exam",
    "weather wetter klima climate",
    "product item article produkt artikel",
    "expense spending ausgabe kosten",
    "visit traffic besuch",
    "movie film kinofilm",
    "book buch bucher",
    "flight flug fluge",
    "patient inpatient",
    "car vehicle auto fahrzeug",
    "house home property haus hauser immobilie",
    "song track lied",
    "game match spiel",
    "country nation land",
    "city town stadt",
)


def _by_stem(groups: Sequence[str]) -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for at, words in enumerate(groups):
        for stem in {stem for word in words.split() for stem in stems(normalize(word))}:
            found[stem] = found.get(stem, frozenset()) | {at}
    return found


_SYNONYM_GROUPS, _NOUN_GROUPS = _by_stem(_COLUMN_SYNONYMS), _by_stem(_ROW_NOUNS)

_VALUE_SYNONYM_GROUPS = (
    "female f w women woman frau frauen weiblich girls girl ladies",
    "male m men man mann manner mannlich boys boy",
    "yes y true ja wahr 1",
    "no n false nein falsch 0",
    "germany deutschland de german",
    "usa us united states america",
    "uk united kingdom great britain gb",
)
VALUE_SYNONYMS = {word: words.split() for words in _VALUE_SYNONYM_GROUPS for word in words.split()}

# column, words for its largest values, words for its smallest, whether they mean single rows
_SUPERLATIVES = (
    ("price", "expensive expensives teuerste teuersten teuerster", "cheapest cheap billigste"
     " billigsten gunstigste gunstigsten billigster gunstigster", True),
    ("age", "oldest alteste altesten altester", "youngest jungste jungsten jungster", True),
    ("temperature", "hottest warmest heisseste warmste", "coldest kalteste", False),
    ("rain", "wettest rainiest", "driest", False),
    ("wind", "windiest", "", False),
    ("weight", "heaviest", "lightest", True),
    ("height", "tallest", "", True),
    ("duration", "longest", "shortest", True),
    ("distance", "farthest", "", True),
)  # fmt: skip
# superlatives: column, whether the smallest is meant, aggregate (None for the usual)
SUPERLATIVES: dict[str, tuple[str, bool, Aggregate | None]] = {
    **{word: (about, False, "max" if rows else None) for about, most, _, rows in _SUPERLATIVES
       for word in most.split()},
    **{word: (about, True, "min" if rows else None) for about, _, least, rows in _SUPERLATIVES
       for word in least.split()},
}  # fmt: skip
# before `than`
COMPARISONS = {
    **dict.fromkeys(("older", "alter"), ("age", ">")),
    **dict.fromkeys(("younger", "junger"), ("age", "<")),
    **dict.fromkeys(("cheaper", "billiger"), ("price", "<")),
    **dict.fromkeys(("hotter", "warmer"), ("temperature", ">")),
    "colder": ("temperature", "<"), "heavier": ("weight", ">"), "longer": ("duration", ">"),
}  # fmt: skip
# also compare two values: `is it hotter in Bonn or Kiel`
COMPARATIVES = {
    word: about
    for word, (about, _operator) in COMPARISONS.items()
    if word not in ("alter", "longer")
} | {"rainier": "rain", "drier": "rain", "windier": "wind"}
# columns that verbs imply
VERB_COLUMNS = {
    **dict.fromkeys(("sell", "sells", "sold", "selling", "seller", "sellers"), "units revenue"),
    **dict.fromkeys(("bestseller", "bestsellers", "verkauft", "verkaufen"), "units revenue"),
    **dict.fromkeys(("bought", "buy", "buys", "gekauft", "kauft", "kaufen"), "units revenue"),
    **dict.fromkeys(
        ("earn", "earns", "earned", "earner", "earners", "earning", "verdient", "verdienen"),
        "salary revenue",
    ),
    **dict.fromkeys(("pay", "pays", "paid", "bezahlt", "zahlt"), "salary cost fare price"),
    **dict.fromkeys(("cost", "costs", "kostet", "kosten"), "cost price"),
    **dict.fromkeys(("bring", "brings", "brought", "generate", "generated"), "revenue"),
    **dict.fromkeys(("spend", "spent", "spends", "ausgegeben", "geben"), "cost revenue"),
    **dict.fromkeys(("old", "alt"), "age"),
    **dict.fromkeys(("long", "lang", "lange"), "duration"),
    **dict.fromkeys(("hot", "warm", "cold", "kalt", "heiss"), "temperature"),
}
_RATES = word_set(
    "price preis rate ratio age alter rating score stars temperature temp temperatur humidity "
    "feuchte percent pct percentage prozent margin marge grade gpa bmi speed height hohe grosse "
    "weight gewicht pressure druck salary wage gehalt lohn latency duration dauer discount rabatt "
    "average mean avg index level density width length depth wind mpg satisfaction bewertung note "
    "latitude longitude lat lon year jahr hour interest"
)
_ADDITIVE = word_set(
    "revenue sales turnover umsatz erlos amount betrag units quantity qty menge stuck count orders "
    "cost costs kosten profit gewinn visits views clicks downloads rain rainfall precipitation "
    "niederschlag regen total hours population einwohner volume budget spend spent paid expenses "
    "ausgaben income einnahmen points goals deaths cases passengers tickets payment value wert "
    "sold gross copies tax fee tip donations kwh energy consumption verbrauch"
)

_WORSE_IF_HIGH = word_set(
    "delay verspatung cost costs kosten error errors fehler loss losses verlust defect defects "
    "complaint complaints beschwerden cancelled canceled cancellation return returns returned "
    "churn churned wait waiting wartezeit expense expenses ausgaben downtime accidents crime "
    "deaths faults late overdue"
)
MONEY_UNITS = word_set("euro euros eur usd dollar dollars € $ chf pound pounds")
_YEAR_UNITS = word_set("year years jahr jahre jahren old alt")
_DURATION_UNITS = word_set(
    "minute minutes min mins hour hours second seconds minuten stunde stunden"
)
_LENGTH_UNITS = word_set("km kilometers kilometres kilometer miles meilen")
_WEIGHT_UNITS = word_set("kg kilo kilos kilograms g grams gramm")
_RATING_UNITS = word_set("stars sterne points punkte")
# likely measures of each unit
MEASURES_BY_UNIT: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (MONEY_UNITS, ("price", "cost", "salary", "fee", "profit")),
    (_YEAR_UNITS, ("age",)),
    (_DURATION_UNITS, ("duration", "delay", "wait")),
    (_LENGTH_UNITS, ("distance",)),
    (_WEIGHT_UNITS, ("weight",)),
    (_RATING_UNITS, ("rating",)),
)
# words behind a number that name its unit
UNITS = frozenset().union(*(units for units, _words in MEASURES_BY_UNIT)) | word_set(
    "day days week weeks month months tage tagen wochen monate monaten sekunden percent prozent % "
    "m meters metres meter cm mm degrees grad pieces stuck mph kmh kwh"
)


def is_worse_if_high(name: str) -> bool:
    return bool(_WORSE_IF_HIGH & {stem for word in words_of(name) for stem in stems(word)})


def synonym_groups(word: str) -> frozenset[int]:
    """Synonym groups that contain the word."""
    return frozenset().union(*(_SYNONYM_GROUPS.get(stem, frozenset()) for stem in stems(word)))


def noun_groups(words: Sequence[str]) -> frozenset[int]:
    found = [_NOUN_GROUPS.get(stem, frozenset()) for word in words for stem in stems(word)]
    return frozenset().union(*found)


def usual_aggregate(name: str) -> Aggregate:
    """The sum of additive measures, else the mean."""
    words = {stem for word in words_of(name) for stem in stems(word)}
    if words & _RATES:
        return "mean"
    return "sum" if words & _ADDITIVE or _is_plural(name) else "mean"


def _is_plural(name: str) -> bool:
    """Counts are named in the plural: visitors, goals."""
    last = (words_of(name) or [""])[-1]
    return len(last) > 4 and last.endswith("s") and not last.endswith(("ss", "us", "is"))


def is_money(name: str) -> bool:
    return any(0 in synonym_groups(word) for word in words_of(name))


def is_additive(name: str) -> bool:
    return usual_aggregate(name) == "sum"
