"""What the guide can do: each recipe declares the words that call it and what they become."""

from __future__ import annotations

from . import figures, looks
from .forms import Recipe

RECIPES = (
    Recipe("aggregate", "Totals by group", "total {measure} by {group}", {
        figures.aggregate: """
            overtime?<hows how(and?how)*>?<measures number(and number)*>BY?<overtime overtime>?\
((most|<least least>)<n num><within by(text|number|period)>?)?
            <overtime overtime><hows how>?<measures number>BY?
            <hows how>?<measures number><overtime overtime>BY
            <each each><hows how>?<measures number>BY?
            BY<hows how>?<measures number>
            compare<hows how>?<measures number>BY
            <count count><measures number>BY?
            <hows how><each each><measures number>BY?""",
        figures.pairs: "<pairs how number(and how number)+>BY?",
    }),
    Recipe("count", "Count rows, or different values", "number of rows by {group}", {
        figures.count: """
            <hows how>?count<distinct distinct>?<what rows|text>?BY?<overtime overtime>?\
((most|<least least>)<n num>)?
            <hows how><what rows>BY?
            <what rows>BY<overtime overtime>?((most|<least least>)<n num>)?
            <what rows><overtime overtime>
            <each each>count?<what rows>BY?
            count<each each><what rows>BY?
            count<distinct distinct><what number>BY?
            BY count<what rows|text>""",
        figures.listed: "<which which>?<distinct distinct>?<column text>",
    }),
    Recipe("share", "Shares", "share of {measure} by {group}", {
        figures.share: """
            share<hows how>?<measure number>?<rows rows>?BY?
            share<hows how>?<measure number>from?BY
            <measure number>share BY?
            <measure number>BY share""",
    }),
    Recipe("top", "The highest or lowest", "top 5 {group} by {measure}", {
        figures.ranked: """
            <what text>by(count|<hows how>)?<measure number|rows><rank most|least><n num>
            <which which><n num>?<what text|period|rows>with?sold?<rank most|least>\
(count|<hows how>)?<measure number|rows>BY?
            <n num>?<what text|period|rows>(with|by)<rank most|least>\
(count|<hows how>)?<measure number|rows>BY?
            <rank most|least><n num>?<what text|period|rows>by(count|<hows how>)?\
<measure number|rows>BY?
            <n num><rank most|least><what text|period|rows>by(count|<hows how>)?\
<measure number|rows>BY?
            <rank most|least><n num>?<what rows>
            <n num><rank most|least><what rows>
            which?<n num>?<rank common><what text>
            <which which><n num>?<what text><rank common>""",
        figures.extreme: """
            <rank most|least><n num>?<measure number>BY?
            <n num><rank most|least><measure number>
            <n num>?<rows rows>with<rank most|least><measure number>
            <which which>?<rows rows>with?<rank most|least><measure number>
            <rank most|least><n num>?<rows rows>by<measure number>
            <rank most|least><measure number><rows rows>""",
        figures.superlative: "which?most?<n num>?<sup sup><n2 num>?<what text|rows|period>",
    }),
    Recipe("chart", "A chart", "bar chart of {measure} by {group}", {
        looks.charted: "rows?",
        looks.distribution: """
            <distribution distribution>?<column number|text>BY?
            <column number|text><distribution distribution>BY?""",
    }),
    Recipe("compare", "Compare two periods or groups",
           "compare {measure} in {period} with {period}", {
        figures.compared: """
            compare?<hows how>?<measure number>?(from|between)?<sides SIDE(and|with|vs|to|or)SIDE>\
<column text>?date?BY?
            compare count?<rows rows>(from|between)?<sides SIDE(and|with|vs|to|or)SIDE>\
<column text>?BY?
            compare<hows how>?<measure number>?(from|between)?<sides SIDE(and|with|vs|to|or)SIDE>\
<behind number>BY?
            <why why><measure number>?low?<sides span>low?""",
    }, keeps_sides=True),
    Recipe("relate", "How two numbers go together", "correlation of {measure} and {measure}", {
        looks.related: """
            <relation relation>between?<columns number((and|with|vs|on|to|by)?number)?>
            <columns number(and|with|vs)number><relation relation>
            <columns number<relation relation>(with|to|on)number>
            <columns number<relation relation>number>
            <columns number(and|with|<vs vs>|by)number>
            <relation relation>""",
    }),
    Recipe("look", "Missing values, duplicates, outliers", "missing values in {table}", {
        looks.looked: """
            <outliers outliers>from?<columns number(and?number)*>?
            <columns number><outliers outliers>
            count?<missing missing>(with|by)?<columns COLUMNS>?
            count?<columns COLUMN><missing missing>
            which?columns(with|sold)?<missing missing>
            count?rows?<duplicates duplicates>rows?(by|on)?<columns COLUMNS>?""",
    }),
    Recipe("profile", "An overview of a table", "profile {table}", {
        looks.profile: """
            profile rows?columns?
            profile<column number>""",
        looks.columns: "which?columns(sold)?",
        looks.rows: """
            <first first>?<n num>?<what rows>?
            <n num><first first>rows?
            which?<what rows>""",
    }),
    Recipe("clean", "Clean a table", "clean {table}: remove duplicate rows", {
        looks.cleaned: """
            <clean clean>?and?(drop|fill|trim|unify).*
            clean""",
    }, keeps="The file stays as it is: a new one is written, with only these changes.",
       takes_conditions=False),
    Recipe("model", "A baseline model", "predict {measure}", {
        looks.model: "model<target number|text>((from|with|by|on)<columns COLUMNS>)?",
    }),
    Recipe("export", "Save rows as a file", "save the rows of {table} as rows.csv", {
        looks.exported: "export rows?(to|as)?<path newfile>",
    }, keeps="The table stays as it is, and no file is overwritten unasked."),
)  # fmt: skip
