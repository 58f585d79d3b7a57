"""The words that requests are made of, in English and German, by what they mean.

Words are written as they are compared: in small letters, without accents. The longest phrase
that fits is taken.
"""

from __future__ import annotations

from .tokens import normalize, word_set

_PHRASES = {
    # What is computed
    "aggregate:sum": "sum|sums|total|totals|overall|altogether|in total|summed|add up|summe|gesamt"
    "|insgesamt|summiert|gesamte|gesamter",
    "aggregate:mean": "mean|average|avg|averages|averaged|on average|mean value|durchschnitt|rate"
    "|rates|quote|durchschnittlich|durchschnittliche|durchschnittlicher|durchschnittliches"
    "|mittelwert|mittlere|mittlerer|im schnitt|im mittel|schnitt",
    "aggregate:median": "median|typical|typically|typisch|typische|typischer",
    "aggregate:min": "min|minimum|minimal|minimaler|kleinster wert",
    "aggregate:max": "max|maximum|maximal|maximaler|peak|grosster wert",
    "aggregate:std": "std|standard deviation|stdev|deviation|variance|variability|variation"
    "|standardabweichung|streuung|how much does vary|volatility",
    "aggregate:count": "number of|count|counts|count of|amount of rows|no of|nr of|frequency"
    "|anzahl|anzahl der|haufigkeit|headcount|head count|tally",
    "aggregate:distinct": "different|distinct|unique|verschiedene|verschiedenen|unterschiedliche"
    "|unterschiedlichen|eindeutige|number of different|number of unique|number of distinct"
    "|count of unique|count of distinct|how many different|how many unique|how many distinct"
    "|wie viele verschiedene|wie viele unterschiedliche",
    "aggregate:share": "share|shares|percentage|percentages|percent|proportion|proportions"
    "|fraction|portion|contribution|contributes|makes up|make up|%|anteil|anteile|anteil am"
    "|prozent|prozentsatz|prozentual|prozentualer|what part of",
    "how many": "how many|howmany|wie viele|wieviele|wie viel|wieviel|how often|wie oft",
    "range": "range|ranges|spanne",
    "time range": "which dates|what dates|date range|range of dates|from when to when"
    "|from when until when|first and last date|first and last day|first and last dates"
    "|oldest and newest date|earliest and latest date|range of days|range of the dates|date span"
    "|period covered|timespan|von wann bis wann|erstes und letztes datum|erster und letzter tag"
    "|time range|time span|zeitraum|zeitspanne|time period covered",
    "busiest": "busiest|liveliest|betriebsamste",
    "earliest": "earliest|first date|first day|data start|data starts|data begin|data begins"
    "|start date of|fruheste|fruhester|beginnen die daten",
    "latest": "latest date|last date|data end|data ends|spateste|enden die daten|up to when",
    "how much": "how much",
    "size": "how big|how large|how long is the table|how long is the file|how long is it|size of"
    "|table size|shape|dimensions|wie gross|wie lang|grosse der",
    "when": "when|wann",
    "relative": "last|latest|newest|most recent|most recently|recently|letzter|letztes|letzten"
    "|letzte|previous|past",
    # Charts
    "chart:bar": "bar chart|bar plot|bar graph|barchart|barplot|bars|bar|column chart"
    "|balkendiagramm|saulendiagramm|balken",
    "chart:line": "line chart|line plot|line graph|linechart|lineplot|line|liniendiagramm"
    "|linienchart|kurve|curve|time series plot",
    "chart:pie": "pie chart|pie|piechart|donut|kreisdiagramm|tortendiagramm|kuchendiagramm",
    "chart:scatter": "scatter|scatter plot|scatterplot|scatter chart|streudiagramm|punktdiagramm"
    "|punktwolke",
    "chart:histogram": "histogram|histograms|histogramm|hist",
    "chart:box": "box plot|boxplot|box plots|boxplots|box chart|box and whisker|boxen",
    "chart:any": "plot|plots|chart|charts|graph|graphs|draw|visualize|visualise|visualization"
    "|diagram|picture|figure|diagramm|grafik|graph|zeichne|visualisiere|plotte|darstellen",
    # What is done
    "verb:profile": "profile|profil|describe|description|explore|exploration|overview|summary"
    "|summarize|summarise|statistics|stats|analyze|analyse|analysis|analysiere|inspect|understand"
    "|eda|look at|look into|tell me about|know about|what kind of data|what data|what is in"
    "|what is this|uberblick|ubersicht|beschreibe|zusammenfassung|untersuche|erkunde|key facts",
    "verb:columns": "columns|column names|which columns|what columns|fields|field names|headers"
    "|header|dtypes|dtype|data types|datatypes|types|type of each column|schema|variables|features"
    "|spalten|spaltennamen|welche spalten|datentypen|felder",
    "verb:preview": "show|show me|preview|head|display|print|first rows|first lines|first few rows"
    "|peek|sample|glimpse|see|list|give me|zeige|zeig|zeig mir|zeige mir|vorschau|liste|anzeigen"
    "|ersten zeilen|filter|find|get|open",
    "verb:compare": "compare|comparison|compared|vergleiche|vergleich|vergleichen|vs|versus"
    "|against|difference between|difference|differences|unterschied|unterschiede|gegenuber",
    "verb:why": "why|warum|wieso|weshalb|reason for|explain why|how come|what caused|changed"
    "|change|changes|what changed|what happened|what was different|was different|was war anders"
    "|what went wrong|was ist passiert|geandert|verandert|veranderung|grew|growth|wachstum"
    "|was hat sich geandert|fell|dropped|decline|declined|rose|increase|increased|decrease"
    "|decreased",
    "verb:distribution": "distribution|distributions|distributed|spread|spread of|range of values"
    "|verteilung|verteilt|verteilungen",
    "verb:relate": "relationship|relation|relationships|correlation|correlations|correlate"
    "|correlated|depends|depend on|depend|affect|affects|influence|influences|related|association"
    "|zusammenhang|korrelation|korreliert|beeinflusst|hangt ab|impact of|link between|drives"
    "|go together|impact",
    "verb:outliers": "outliers|outlier|anomalies|anomaly|unusual|weird|strange|odd values"
    "|extreme values|suspicious|ausreisser|ausreiser|auffallig|auffallige|anomalien|ungewohnlich"
    "|extremwerte|odd|abnormal",
    "verb:missing": "missing|missing values|missing data|nulls|null|null values|nan|nans|na values"
    "|gaps|empty values|empty cells|empty rows|empty lines|leere zeilen|blanks|blank|incomplete"
    "|how clean|how dirty|data quality|dirty|fehlende werte|fehlende|fehlen|lucken|leere werte"
    "|leere zellen|fehlt|datenqualitat|problems|quality problems|qualitat|wrong|wrong with"
    "|what is wrong|issues",
    "verb:duplicates": "duplicates|duplicate|duplicated|duplicate rows|doubles|twice|duplikate"
    "|doppelte|doppelt|dubletten|doppelte zeilen|repeated rows",
    "verb:clean": "clean|clean up|cleanup|cleaning|tidy|tidy up|dedupe|deduplicate|impute|fix"
    "|remove duplicates|drop duplicates|delete duplicates|remove duplicate rows|bereinige"
    "|bereinigen|saubere|saubern|aufraumen|raume auf|duplikate entfernen|entferne duplikate"
    "|entferne doppelte|reinige|drop missing|remove missing|fill missing|remove missing values"
    "|drop missing values|fill missing values|fill in missing values|drop rows with missing values"
    "|keep missing values|fehlende werte auffullen|fehlende werte entfernen",
    "verb:fix": "remove|drop|delete|fill|fill in|entferne|entfernen|losche|loschen|fulle|auffullen",
    "verb:join": "join|merge|combine|link|verbinde|verknupfe|zusammenfuhren|kombiniere|mergen"
    "|vereinige",
    "verb:model": "model|predict|predicts|prediction|predicting|regression|classify|classification"
    "|baseline|forecast|fit|train|modell|vorhersage|vorhersagen|sage voraus|prognose|schatze"
    "|machine learning|baseline model|fit a model|train a model|build a model",
    # How it is divided
    "by": "by|per|for each|for every|for all|split by|grouped by|group by|broken down by|each"
    "|every|breakdown by|across|in each|within each|split|breakdown|depending on|separated by"
    "|divided by|for the different|among|nach|pro|je|fur jede|fur jeden|fur jedes|jede|jeder|jedes"
    "|aufgeteilt|aufgeteilt nach|gruppiert nach|aufgeschlusselt nach|pro jedem",
    "over time": "over time|trend|trends|develop|develops|developed|development|evolve|evolves"
    "|evolution|time series|timeline|history|through time|progress|progression|course of"
    "|entwicklung|entwickelt|entwickeln|verlauf|zeitverlauf|zeitreihe|im laufe der zeit"
    "|uber die zeit|zeitlich|zeitliche|changes over time|change over time|changed over time"
    "|going up|go up|went up|gone up|go down|went down|gestiegen|gefallen|steigt|growing"
    "|increasing|decreasing|seasonality|seasonal|historically",
    "period:day": "day|days|date|tag|tage|tagen|datum",
    "period:week": "week|weeks|woche|wochen|kalenderwoche",
    "period:month": "month|months|monat|monate|monaten",
    "period:quarter": "quarter|quarters|quartal|quartale",
    "period:year": "year|years|jahr|jahre|jahren",
    "period:weekday": "weekday|weekdays|day of the week|day of week|days of the week|wochentag"
    "|wochentage|wochentagen",
    "period:hour": "hour|hours|hour of day|hour of the day|time of day|stunde|stunden|uhrzeit"
    "|tageszeit",
    "over years": "over the years|through the years|across the years|uber die jahre"
    "|im laufe der jahre|changed over the years|change over the years",
    "each:day": "daily|taglich|taglicher|tagliche",
    "each:week": "weekly|wochentlich|wochentlicher|wochentliche",
    "each:month": "monthly|monatlich|monatlicher|monatliche|month by month|month on month",
    "each:quarter": "quarterly|vierteljahrlich|quartalsweise",
    "each:year": "yearly|annual|annually|jahrlich|jahrlicher|jahrliche|year on year|year over year",
    "each:hour": "hourly|stundlich|stundliche",
    # Which come first
    "rank:top": "top|best|most|highest|biggest|largest|greatest|maximum of any|strongest|leading"
    "|main|beste|besten|bester|bestes|am besten|meisten|am meisten|hochste|hochsten|hochster"
    "|hochstes|grosste|grossten|grosster|grosstes|starkste|starksten|starkster|most popular"
    "|popular|favourite|favorite|beliebteste|beliebtesten|beliebtester"
    "|highest number of|most important|meist|the most|more|mehr",
    "rank:frequent": "most frequent|most common|commonest|haufigste|haufigsten|haufigster"
    "|most often|most frequently|am haufigsten|the most frequent|the most common|the most often"
    "|the most frequently",
    "rank:bottom": "bottom|worst|least|lowest|smallest|fewest|weakest|poorest|schlechteste"
    "|schlechtesten|schlechtester|am wenigsten|wenigsten|niedrigste|niedrigsten|niedrigster"
    "|kleinste|kleinsten|kleinster|geringste|geringsten|schwachste|schwachsten|schwachster"
    "|least popular|rarest|am schlechtesten|geringster",
    "rank:first": "first|ersten|erste",
    "sort": "sort|sorted|order by|ordered|ranked|ranking|rank|sort by|sorted by|sortiere|sortiert"
    "|sortiert nach|rangliste|ordered by|ranked by",
    "ascending": "ascending|smallest first|lowest first|aufsteigend",
    "descending": "descending|largest first|highest first|absteigend",
    # Which rows count
    "op:>": ">|over|above|more than|greater than|higher than|bigger than|larger than|exceeding"
    "|exceeds|uber|mehr als|grosser als|hoher als|oberhalb|later than",
    "op:>=": ">=|≥|at least|from at least|mindestens|no less than|ab mindestens",
    "op:<": "<|under|below|less than|lower than|smaller than|fewer than|unter|weniger als"
    "|kleiner als|niedriger als|unterhalb|earlier than",
    "op:<=": "<=|≤|at most|up to|hochstens|maximal bis|no more than",
    "op:=": "=|equals|equal to|is equal to|gleich|exactly",
    "op:!=": "!=|not equal to|ungleich|is not",
    "op:contains": "contains|containing|includes|enthalt|enthalten|that contain",
    "not": "not|didn't|didnt|don't|dont|doesn't|haven't|hasn't|wasn't|weren't|isn't|aren't|never"
    "|without|except|excluding|exclude|other than|but not|apart from|ignoring|ohne|ausser|nicht"
    "|leaving out",
    "between": "between|zwischen",
    "since": "since|seit|ab|from|starting|starting in|von|onwards from",
    "after": "after|nach dem",
    "before": "before|vor|prior to",
    "until": "until|till|bis|to|through|up until|bis zum",
    "than": "than|als",
    "which": "which|what|welche|welcher|welches|welchen|welchem|was",
    "who": "who|wer|whom",
    "where": "where|wo|woher",
    "rows": "rows|row|records|record|entries|entry|lines|observations|data points|datapoints"
    "|items of data|cases|instances|zeilen|zeile|eintrage|datensatze|beobachtungen",
    "events": "orders|order|sales|transactions|transaction|purchases|purchase|bookings|people"
    "|persons|person|employees|employee|hires|hire|customers|customer|clients|visits|deals|items"
    "|bestellungen|bestellung|verkaufe|verkauf|auftrage|kaufe|leute|personen|mitarbeiter|staff"
    "|angestellte|angestellten|kunden|schuler|studenten|weather|wetter|buchungen|einstellungen"
    "|measurements|readings|messungen|ones|users|members|passengers|patients|students|cars|houses"
    "|trips|games|movies|songs",
    "and": "and|,|&|und|or|oder|as well as|sowie|plus|/|with|mit",
    "it": "it|this|that|these|them|they|table|tables|data|dataset|file|files|dataframe|df|csv"
    "|tabelle|tabellen|daten|datei|es|spreadsheet|sheet|workbook|both",
}
# words without meaning for a request
STOP_WORDS = word_set(
    "a an the of in on at for via i me my we our us you your is are was were be been am do does "
    "did has have had can could would should will shall may might must please pls plz thanks thx "
    "hi hey so very really just also too now then here there any some all want wanna need like "
    "know take takes took get got make makes made let let's lets to into out up using use used "
    "given if when how as its their his her he she value values number numbers level levels "
    "figures see how's calculate compute determine work worked works come comes came coming gave "
    "give gives high low weak strong bad good poor sell sells sold selling buy buys bought bring "
    "brings brought earn earns earned generate generated generates spend spends spent cost costs "
    "doing having look looks looking being happen happened euro euros eur usd dollar dollars € $ "
    "chf total live lives living created show kindly der die das den dem des ein eine einen einem "
    "einer eines und im auf fur mir mich ich wir uns unser unsere unserer ist sind war waren hat "
    "haben hatte gibt es bitte mal mach mache machen erstelle erstellen kannst du konnen sie "
    "mochte wie wann denn sehr zu zum zur vom von aus bei sich wird werden verkauft verkauften "
    "gekauft gemacht berechne zeigt mein meine meiner hoch niedrig schwach stark gut schlecht "
    "schon noch doch auch nur alle aller sein dass about regarding concerning around ok okay well "
    "yes no quick quickly simple nice small big new old actually maybe perhaps again one thing "
    "things something anything it this that these those them they table dataset data board "
    "everything everyone alles go goes only many much column spalte kind matrix"
)

# stop words that restrict a noun in a way no rule knows: `new customers`
VAGUE_WORDS = word_set(
    "high low weak strong bad good poor small big new old hoch niedrig schwach stark gut schlecht"
)


_NUMBERS = (
    "two zwei", "three drei", "four vier", "five funf", "six sechs", "seven sieben", "eight acht",
    "nine neun", "ten zehn",
)  # fmt: skip
NUMBERS = {word: number for number, words in enumerate(_NUMBERS, 2) for word in words.split()}


def _by_first_word() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for tag, phrases in _PHRASES.items():
        for phrase in phrases.split("|"):
            words = tuple(normalize(phrase).split())
            found.setdefault(words[0], []).append((words, tag))
    for options in found.values():
        options.sort(key=lambda option: -len(option[0]))
    return found


PHRASES = _by_first_word()  # by first word, longest phrase first
WORDS = frozenset(word for word in PHRASES if len(word) > 3)  # candidates for misspelled words
