"""A model as one SELECT for SQLite (3.35), DuckDB and PostgreSQL (12) or later.

Rows are numbered, their columns encoded, and then joined with the prototypes or the classes, which
stand in the query as tables of values: one line for a row and a prototype, from which windows find
the nearest ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._names import number_repeats
from .exported_columns import column_code
from .model_document import Document, label_text, map_vector

DEPTH = 50
"""Terms in one pair of brackets: SQLite nests a sum of many terms too deeply."""

LONGEST = 40
"""Characters of a label or column in the name of an answer: PostgreSQL cuts names at 63 bytes."""

DATE = (
    "(FLOOR((1461 * ({y} + 4800 + {a})) / 4.0) + FLOOR((367 * ({m} - 2 - 12 * {a})) / 12.0)"
    " - FLOOR((3 * FLOOR(({y} + 4900 + {a}) / 100.0)) / 4.0) + {d} - 32075 - 2440588)"
)
"""Days since 1970 of a year, month and day (Fliegel and van Flandern, 1968); a is -1 in January
and February, else 0."""


def number(value: float) -> str:
    """Return a number as a literal in double precision."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def text(value: str) -> str:
    """Return a text as a literal."""
    return "'" + value.replace("\x00", "").replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name in double quotes."""
    return '"' + name.replace("\x00", "").replace('"', '""') + '"'


def label_literal(label: Any) -> str:
    """Return a label as a literal: a text, a number or a truth value."""
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return text(label) if isinstance(label, str) else repr(label)


def total(terms: Iterable[str]) -> str:
    """Return a sum, in brackets."""
    parts = list(terms)
    while len(parts) > DEPTH:
        parts = [total(parts[i : i + DEPTH]) for i in range(0, len(parts), DEPTH)]
    return f"({' + '.join(parts) or '0e0'})"


def combination(weights: Sequence[float], names: Sequence[str]) -> str:
    """Return the sum of weights times names, without those of weight zero."""
    pairs = zip(weights, names, strict=True)
    return total(f"({number(w)}) * {name}" for w, name in pairs if w != 0.0)


def values_table(name: str, columns: list[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table of numbers as a part of the query."""
    lines = [
        ", ".join(str(v) if isinstance(v, int) else f"({number(v)})" for v in row) for row in rows
    ]
    body = ",\n  ".join(f"({line})" for line in lines)
    return f"{name}({', '.join(columns)}) AS (VALUES\n  {body}\n)"


def by_case(variable: str, forms: Sequence[str]) -> str:
    """Return the form that belongs to a number, such as that of a map."""
    if len(set(forms)) == 1:
        return forms[0]
    cases = " ".join(f"WHEN {k} THEN {form}" for k, form in enumerate(forms))
    return f"CASE {variable} {cases} END"


def exponential(value: str) -> str:
    """Return ``exp``, of numbers that PostgreSQL can take it of."""
    return f"EXP(CASE WHEN {value} < -700e0 THEN -700e0 ELSE {value} END)"


def root(value: str) -> str:
    """Return the square root, of what rounding made negative zero."""
    return f"SQRT(CASE WHEN {value} > 0e0 THEN {value} ELSE 0e0 END)"


class SqlQuery:
    """The query of a model, put together part by part."""

    def __init__(self, document: Document, table: str):
        self.model, self.table = document, table
        self.columns = document["columns"]
        self.d = sum(column["width"] for column in self.columns)
        self.z = [f"z{j}" for j in range(self.d)]
        self.w = [f"w{j}" for j in range(self.d)]
        self.n_classes, self.n_prototypes = len(document["classes"]), len(document["prototypes"])
        self.is_linear = document["scores"]["kind"] == "linear"
        self.skips = document["missing"] == "skip"
        self.margin, self.certificate = document["margin"], document["certificate"]
        self.own = "protolearn"  # what names of ours begin with, and no name of the user's
        while any(column["name"].casefold().startswith(self.own) for column in self.columns):
            self.own += "_"
        self.row = f"{self.own}_row"
        self.parts: list[str] = []

    def write(self) -> str:
        """Return the text of the query."""
        self.add(
            "numbered",
            f"SELECT t.*, ROW_NUMBER() OVER () AS {identifier(self.row)} FROM {self.table} AS t",
        )
        self._encode()
        if self.n_prototypes:
            self._measure()
        self._score()
        self._rank_classes()
        if self.n_prototypes and not self.is_linear:
            self._find_pairs()
        self._explain()
        answers = [self._probabilities(), self._margins(), self._radii()]
        body = ",\n".join(self.parts)
        about = "".join(c if c.isprintable() else " " for c in self.model["model"])
        return (
            f"-- {about}, exported by {self.model['producer']}.\n"
            f"WITH {body}\n{self._select([name for name in answers if name])}"
        )

    def add(self, name: str, query: str) -> None:
        """Add a part, which is computed once."""
        self.parts.append(f"{name} AS MATERIALIZED (\n{query}\n)")

    def _encode(self) -> None:
        """Turn the columns into numbers; rows that lack one that is needed drop out."""
        codes = [
            f"{category_code(column)} AS {self.own}_code{j}"
            for j, column in enumerate(self.columns)
            if "categories" in column
        ]
        self.add("coded", f"SELECT {', '.join(['n.*', *codes])} FROM numbered AS n")
        numbers: list[str] = []
        for j, column in enumerate(self.columns):
            if "categories" in column:
                numbers += category_numbers(column, f"{self.own}_code{j}")
            elif column["kind"] != "unused":
                numbers += column_numbers(column)
        named = [f"{form} AS {z}" for form, z in zip(numbers, self.z, strict=True)]
        row = f"{identifier(self.row)} AS r"
        self.add("plain", f"SELECT {', '.join([row, *named])} FROM coded")
        there = [f"{z} IS NOT NULL" for z in self.z]
        keep = (" OR " if self.skips else " AND ").join(there) or "TRUE"
        squares = total(f"COALESCE({z} * {z}, 0e0)" for z in self.z)
        seen = total(f"CASE WHEN {z} IS NULL THEN 0e0 ELSE 1e0 END" for z in self.z)
        share = f"{number(self.d)} / {seen}" if self.skips else "1e0"
        images = [
            f"{combination(row, self.z)} AS p{g}_{r}"
            for g, form in enumerate(self.model["maps"])
            if self._is_matrix(form) and not self.skips
            for r, row in enumerate(form["matrix"])
        ]
        named = ["p.*", f"{share} AS share", f"{root(squares)} AS length", *images]
        self.add("encoded", f"SELECT {', '.join(named)} FROM plain AS p WHERE {keep}")

    @staticmethod
    def _is_matrix(form: Document | None) -> bool:
        return form is not None and "matrix" in form

    def _prototype_table(self, name: str, points: Any, classes: Sequence[int]) -> None:
        """Add prototypes, as they are and under a matrix."""
        maps, map_of = self.model["maps"], self.model["map_of"] or [0] * len(points)
        rank = max([len(f["matrix"]) for f in maps if self._is_matrix(f)], default=0)
        rows = []
        for k, point in enumerate(np.asarray(points)):
            form = maps[map_of[k]]
            image = map_vector(point, form) if self._is_matrix(form) else np.zeros(0)
            image = np.pad(image, (0, rank - len(image)))
            numbers = [1.0] if form is None else next(iter(form.values()))
            lengths = np.linalg.norm(np.ravel(numbers)), np.linalg.norm(point)
            offset = (self.model["scores"].get("offsets") or [0.0] * len(points))[k]
            rows.append([k, int(classes[k]), int(map_of[k]), *point, *image, *lengths, offset])
        names = ["k", "c", "g", *self.w, *(f"q{r}" for r in range(rank))]
        names += ["stretch", "size", "raised"]
        self.parts.append(values_table(name, names, rows))

    def _distance(self, z: str, w: str) -> str:
        """Return the squared distance between a row and a prototype, by the names of both."""
        forms = []
        for g, form in enumerate(self.model["maps"]):
            e = [f"({z}.{a} - {w}.{b})" for a, b in zip(self.z, self.w, strict=True)]
            e = [f"COALESCE({x}, 0e0)" for x in e] if self.skips else e
            if form is None:
                image = e
            elif "diagonal" in form:
                image = [f"(({number(a)}) * {x})" for a, x in zip(form["diagonal"], e, strict=True)]
            elif self.skips:
                image = [combination(row, e) for row in form["matrix"]]
            else:
                image = [f"({z}.p{g}_{r} - {w}.q{r})" for r in range(len(form["matrix"]))]
            forms.append(total(f"{x} * {x}" for x in image))
        return f"{z}.share * {by_case(f'{w}.g', forms)}"

    def _measure(self) -> None:
        """Add the distance of each row to each prototype."""
        self._prototype_table(
            "prototypes", self.model["prototypes"], self.model["prototype_classes"]
        )
        self.add(
            "measured",
            "SELECT x.r, x.length, x.share, w.k, w.c, w.stretch, w.size, "
            f"{self._distance('x', 'w')} + w.raised AS distance FROM encoded AS x CROSS JOIN "
            "prototypes AS w",
        )
        self.add(
            "closest",
            "SELECT r, k FROM (SELECT r, k, ROW_NUMBER() OVER (PARTITION BY r "
            "ORDER BY distance, k) AS place FROM measured) AS m WHERE place = 1",
        )

    def _score(self) -> None:
        """Add the score of each class for each row."""
        scores = self.model["scores"]
        if self.is_linear:
            lines = zip(scores["coef"], scores["intercept"], strict=True)
            rows = [[c, b, float(np.linalg.norm(row)), *row] for c, (row, b) in enumerate(lines)]
            self.parts.append(values_table("classes", ["c", "b", "stretch", *self.w], rows))
            score = total(["w.b", *(f"x.{z} * w.{w}" for z, w in zip(self.z, self.w, strict=True))])
            self.add(
                "scored",
                f"SELECT x.r, x.length, w.c, w.b, w.stretch, {score} AS score "
                "FROM encoded AS x CROSS JOIN classes AS w",
            )
            return
        sharp = scores["sharpness"]
        if sharp is None:
            self.add("scored", "SELECT r, c, -MIN(distance) AS score FROM measured GROUP BY r, c")
            return
        self.add(
            "by_class",
            "SELECT r, c, distance, MIN(distance) OVER (PARTITION BY r, c) AS least FROM measured",
        )
        power = exponential(f"(({number(-sharp)}) * (distance - least))")
        self.add(
            "scored",
            f"SELECT r, c, -MIN(least) + LN(SUM({power})) / {number(sharp)} AS score"
            " FROM by_class GROUP BY r, c",
        )

    def _rank_classes(self) -> None:
        """Add the place of the predicted class among the classes, and of the second."""
        self.add(
            "ranked",
            "SELECT s.*, ROW_NUMBER() OVER (PARTITION BY r ORDER BY score DESC, c) "
            "AS place FROM scored AS s",
        )
        self.add(
            "decided",
            "SELECT r, MAX(CASE WHEN place = 1 THEN c END) AS own, "
            "MAX(CASE WHEN place = 2 THEN c END) AS second, "
            "MAX(CASE WHEN place = 1 THEN score END) AS best, "
            "MAX(CASE WHEN place = 2 THEN score END) AS next FROM ranked GROUP BY r",
        )

    def _find_pairs(self) -> None:
        """Add the nearest prototype of the predicted class, and that of all others."""
        self.add(
            "sided",
            "SELECT m.r, m.k, m.distance, CASE WHEN m.c = d.own THEN 0 ELSE 1 END AS "
            "side, ROW_NUMBER() OVER (PARTITION BY m.r, CASE WHEN m.c = d.own THEN 0 ELSE 1 "
            "END ORDER BY m.distance, m.k) AS place FROM measured AS m JOIN decided AS d "
            "ON d.r = m.r",
        )
        picks = ", ".join(
            f"MAX(CASE WHEN side = {side} THEN {what} END) AS {name}_{what}"
            for side, name in enumerate(("own", "rival"))
            for what in ("k", "distance")
        )
        self.add("paired", f"SELECT r, {picks} FROM sided WHERE place = 1 GROUP BY r")

    def _explain(self) -> None:
        """Add what each column adds to the lead of the predicted class."""
        terms = self._linear_terms() if self.is_linear else self._pair_terms()
        forms, start = [], 0
        for j, column in enumerate(self.columns):
            forms.append(f"{total(terms[start : start + column['width']])} AS contribution{j}")
            start += column["width"]
        source = "leads AS l" if self.is_linear else "images AS l"
        self.add("explained", f"SELECT {', '.join(['l.r', *forms])} FROM {source}")

    def _linear_terms(self) -> list[str]:
        """Return the terms by features, from the point of the boundary next to the mean row."""
        normals = [f"o.{w} - v.{w} AS n{j}" for j, w in enumerate(self.w)]
        named = ["x.*", "o.b - v.b AS offset_lead", *normals]
        self.add(
            "sides",
            f"SELECT {', '.join(named)} FROM encoded AS x JOIN decided AS d ON "
            "d.r = x.r JOIN classes AS o ON o.c = d.own JOIN classes AS v ON v.c = d.second",
        )
        square = total(f"n{j} * n{j}" for j in range(self.d))
        self.add(
            "leads",
            f"SELECT s.*, COALESCE(offset_lead / NULLIF({square}, 0e0), 0e0) AS away "
            "FROM sides AS s",
        )
        return [f"n{j} * (z{j} + away * n{j})" for j in range(self.d)]

    def _pair_terms(self) -> list[str]:
        """Return the terms by features: those of the rival's distance less those of the own."""
        named = ["x.r", "x.share", "o.g AS own_g", "v.g AS rival_g"]
        for side, name in (("o", "own"), ("v", "rival")):
            for z, w in zip(self.z, self.w, strict=True):
                named.append(f"COALESCE(x.{z} - {side}.{w}, 0e0) AS {name}_{z}")
        self.add(
            "apart",
            f"SELECT {', '.join(named)} FROM encoded AS x JOIN paired AS d ON "
            "d.r = x.r JOIN prototypes AS o ON o.k = d.own_k JOIN prototypes AS v ON "
            "v.k = d.rival_k",
        )
        ranks = [len(f["matrix"]) if self._is_matrix(f) else 0 for f in self.model["maps"]]
        images = []
        for name in ("own", "rival"):
            e = [f"{name}_{z}" for z in self.z]
            for r in range(max(ranks, default=0)):
                forms = [
                    combination(f["matrix"][r], e) if r < rank else "0e0"
                    for f, rank in zip(self.model["maps"], ranks, strict=True)
                ]
                images.append(f"{by_case(f'{name}_g', forms)} AS {name}_p{r}")
        self.add("images", f"SELECT {', '.join(['a.*', *images])} FROM apart AS a")
        return [
            f"share * ({self._term('rival', j)} - {self._term('own', j)})" for j in range(self.d)
        ]

    def _term(self, name: str, j: int) -> str:
        """Return what one feature has in the distance to a prototype."""
        e, forms = f"{name}_z{j}", []
        for form in self.model["maps"]:
            if form is None:
                forms.append(e)
            elif "diagonal" in form:
                forms.append(f"({number(form['diagonal'][j] ** 2)}) * {e}")
            else:
                column = [row[j] for row in form["matrix"]]
                forms.append(combination(column, [f"{name}_p{r}" for r in range(len(column))]))
        return f"{e} * {by_case(f'{name}_g', forms)}"

    def _probabilities(self) -> str:
        """Add the probability of each class, and return the name of the part."""
        form = self.model["probabilities"]
        if form is None:
            return ""
        lead = "CASE WHEN s.place = 1 THEN s.score - d.next ELSE s.score - d.best END"
        if form["kind"] == "logistic":
            share = f"1e0 / (1e0 + {exponential('(-s.score)')})"
        elif form["kind"] == "isotonic":
            lead = self._lowered_leads(form["lowered"]) if form["lowered"] else lead
            share = by_case("s.c", [steps_form(lead, *step) for step in form["steps"]])
        else:
            share = f"({number(form['factor'])}) * {margin_form(form['of'])}"
            if form["offsets"]:
                share += f" + {by_case('s.c', [f'({number(b)})' for b in form['offsets']])}"
        ranked = "free" if form.get("lowered") else "ranked"
        join = f"FROM {ranked} AS s JOIN decided AS d ON d.r = s.r"
        self.add("valued", f"SELECT s.r, s.c, s.place, {share} AS value {join}")
        if form["kind"] == "softmax":
            power = exponential("(value - MAX(value) OVER (PARTITION BY r))")
            self.add("powers", f"SELECT r, c, place, {power} AS value FROM valued")
        source = "powers" if form["kind"] == "softmax" else "valued"
        share = "value / SUM(value) OVER (PARTITION BY r)"
        if form.get("floor"):
            rest = number(form["floor"] / self.n_classes)
            share = f"({number(1.0 - form['floor'])}) * ({share}) + {rest}"
        self.add("shared", f"SELECT r, c, place, {share} AS share FROM {source}")
        last = self._agree() if form.get("agree") else "shared"
        picks = [
            f"MAX(CASE WHEN c = {c} THEN share END) AS share{c}" for c in range(self.n_classes)
        ]
        best = "MAX(share) AS best_share"
        self.add("probable", f"SELECT {', '.join(['r', *picks, best])} FROM {last} GROUP BY r")
        return "probable"

    def _lowered_leads(self, lowered: list[float]) -> str:
        """Add scores less what a threshold has added to them; return the lead of each class."""
        less = by_case("c", [f"({number(b)})" for b in lowered])
        self.add("freed", f"SELECT r, c, place, score - {less} AS value FROM ranked")
        self.add(
            "ordered",
            "SELECT f.*, ROW_NUMBER() OVER (PARTITION BY r ORDER BY value DESC, c) AS rank "
            "FROM freed AS f",
        )
        most, second = (
            f"MAX(CASE WHEN rank = {rank} THEN value END) OVER (PARTITION BY r)" for rank in (1, 2)
        )
        self.add(
            "free",
            f"SELECT r, c, place, value - CASE WHEN rank = 1 THEN {second} ELSE {most} END AS lead "
            "FROM ordered",
        )
        return "s.lead"

    def _agree(self) -> str:
        """Add probabilities of which the predicted class has the largest."""
        own = "MAX(CASE WHEN place = 1 THEN share END) OVER (PARTITION BY r)"
        self.add("limited", f"SELECT r, c, place, share, {own} AS own FROM shared")
        self.add(
            "levelled",
            "SELECT r, c, place, CASE WHEN share >= own THEN AVG(CASE WHEN "
            "share >= own THEN share END) OVER (PARTITION BY r) ELSE share END * CASE WHEN "
            "place = 1 THEN 1.000000001e0 ELSE 1e0 END AS share FROM limited",
        )
        self.add(
            "agreed",
            "SELECT r, c, place, share / SUM(share) OVER (PARTITION BY r) AS share FROM levelled",
        )
        return "agreed"

    def _margins(self) -> str:
        """Add the hypothesis margin, and return the name of the part."""
        if self.margin is None:
            return ""
        if self.margin["kind"] == "gap":
            gap = f"({root('rival_distance')} - {root('own_distance')}) / 2e0"
            self.add("margins", f"SELECT r, MAX({gap}) AS margin FROM paired GROUP BY r")
            return "margins"
        weights, rest = self.margin["weights"], self.margin.get("rest", [])
        if rest:
            self._prototype_table("rest", rest, range(len(rest)))
            self.add(
                "others",
                f"SELECT x.r, w.c, {self._distance('x', 'w')} AS distance "
                "FROM encoded AS x CROSS JOIN rest AS w",
            )
        every = weights if rest else weights * self.n_classes
        self.parts.append(values_table("weights", ["c", "a"], enumerate(every)))
        far, join = (
            (root("o.distance"), "JOIN others AS o ON o.r = m.r AND o.c = m.c ")
            if rest
            else ("0e0", "")
        )
        self.add(
            "near",
            f"SELECT m.r, m.c, {root('m.distance')} AS near, {far} AS far, s.score, "
            f"s.place, a.a FROM measured AS m {join}JOIN ranked AS s ON s.r = m.r AND "
            "s.c = m.c JOIN weights AS a ON a.c = m.c",
        )
        sides = (
            "o.far AS s1, c.near AS s2, o.near AS g1, c.far AS g2, o.a AS a1, c.a AS a2"
            if rest
            else "c.near AS s1, 0e0 AS s2, o.near AS g1, 0e0 AS g2, o.a AS a1, 0e0 AS a2"
        )
        self.add(
            "reaches",
            f"SELECT c.r, 2e0 * (o.score - c.score) AS lead, {sides} FROM near AS c"
            " JOIN near AS o ON o.r = c.r AND o.place = 1 WHERE c.place > 1",
        )
        self._solve_reaches()
        return "margins"

    def _solve_reaches(self) -> None:
        """Add how far prototypes may move before a lead is lost, the least over the classes."""
        pace = "(a1 * (s1 + g1) + a2 * (s2 + g2))"
        past = "CASE WHEN {0} > {1} THEN {2} * ({0} - {1}) * ({0} - {1}) ELSE 0e0 END"
        comes = ", ".join(
            f"CASE WHEN 2e0 * s{i} * {pace} + {past.format(f's{i}', f's{k}', f'a{k}')} < lead "
            f"THEN a{i} ELSE 0e0 END AS come{i}"
            for i, k in ((1, 2), (2, 1))
        )
        self.add("coming", f"SELECT q.*, {comes} FROM reaches AS q")
        beta = " + ".join(f"a{i} * g{i} + (a{i} - come{i}) * s{i}" for i in (1, 2))
        gamma = "lead - come1 * s1 * s1 - come2 * s2 * s2"
        self.add(
            "solving",
            f"SELECT r, come1 + come2 AS alpha, {beta} AS beta, "
            f"CASE WHEN {gamma} > 0e0 THEN {gamma} ELSE 0e0 END AS gamma FROM coming",
        )
        self.add(
            "margins",
            "SELECT r, MIN(COALESCE(gamma / NULLIF(beta + "
            f"{root('(beta * beta + alpha * gamma)')}, 0e0), 0e0)) AS margin FROM solving "
            "GROUP BY r",
        )

    def _radii(self) -> str:
        """Add the certified radius, and return the name of the part."""
        if self.certificate is None:
            return ""
        pace = self.certificate["pace"]
        rows = [[j, v, p] for j, line in enumerate(pace) for v, p in enumerate(line) if j != v]
        self.parts.append(values_table("paces", ["j", "v", "pace"], rows))
        unit = np.finfo(np.float64).eps
        if self.is_linear:
            noise = f"{number(unit * (self.d + 10))} * (length * stretch + ABS(b))"
            self.add(
                "bounded",
                f"SELECT r, c AS k, c, length, -score - {noise} AS low, "
                f"-score + {noise} AS high FROM scored",
            )
        else:
            size = "stretch * stretch * (length + size) * (length + size)"
            noise = f"({number(unit * (4 * self.d + 20))} * {size} + {number(4 * unit)} * distance)"
            low, high = f"(distance - {noise})", f"(distance + {noise})"
            if self.certificate["root"]:
                low, high = root(low), root(high)
            self.add(
                "bounded",
                f"SELECT r, k, c, length, {low} AS low, {high} AS high "
                "FROM measured WHERE share = 1e0",
            )
        gap = "b.low - a.high"
        self.add(
            "gaps",
            f"SELECT a.r, a.k, MIN(a.length) AS length, MIN(CASE WHEN {gap} > 0e0 THEN"
            f" ({gap}) / NULLIF(p.pace, 0e0) ELSE {gap} END) AS radius FROM bounded AS a "
            "JOIN decided AS d ON d.r = a.r AND d.own = a.c JOIN bounded AS b ON b.r = a.r "
            "AND b.c <> a.c JOIN paces AS p ON p.j = a.k AND p.v = b.k GROUP BY a.r, a.k",
        )
        best = f"MAX(radius) * {number(1 - 64 * unit)} - {number(8 * unit)} * MAX(length)"
        self.add(
            "certified",
            f"SELECT r, CASE WHEN {best} > 0e0 THEN {best} ELSE 0e0 END AS radius"
            " FROM gaps GROUP BY r",
        )
        return "certified"

    def _label_and_flag(self) -> tuple[str, str]:
        """Return the label of a row, and whether it is rejected."""
        reject = self.model["reject"]
        label = by_case("d.own", [label_literal(c) for c in self.model["classes"]])
        if reject is None:
            return label, "FALSE"
        confidence = {
            "probability": "probable.best_share",
            "margin": "margins.margin",
            "radius": "certified.radius",
            "lead": "(d.best - d.next)",
        }[reject["measure"]]
        limits = by_case("d.own", [f"({number(t)})" for t in reject["thresholds"]])
        rejected = f"({confidence} < {limits})"
        if reject["label"] is not None:
            label = f"CASE WHEN {rejected} THEN {label_literal(reject['label'])} ELSE {label} END"
        return label, rejected

    def _select(self, parts: list[str]) -> str:
        """Return the last part, with a line for each row."""
        classes = self.model["classes"]
        label, rejected = self._label_and_flag()
        names = answer_names("probability", [label_text(c) for c in classes])
        shares = [f"probable.share{c} AS {name}" for c, name in enumerate(names)]
        named = answer_names("contribution", [column["name"] for column in self.columns])
        found = [
            "n.*",
            f"{label} AS predicted_label",
            *(shares if "probable" in parts else []),
            *(["closest.k AS nearest_prototype"] if self.n_prototypes else []),
            *(["margins.margin AS hypothesis_margin"] if "margins" in parts else []),
            *(["certified.radius AS certified_radius"] if "certified" in parts else []),
            *(f"explained.contribution{j} AS {name}" for j, name in enumerate(named)),
            f"CASE WHEN d.own IS NULL THEN NULL ELSE {rejected} END AS rejected",
        ]
        joins = [
            f"LEFT JOIN {name} ON {name}.r = d.r"
            for name in (*parts, "explained", *(["closest"] if self.n_prototypes else []))
        ]
        row = f"n.{identifier(self.row)}"
        lines = ",\n  ".join(found)
        return (
            f"SELECT\n  {lines}\nFROM numbered AS n\nLEFT JOIN decided AS d ON d.r = {row}\n"
            + "\n".join(joins)
            + f"\nORDER BY {row};\n"
        )


def column_numbers(column: Document) -> list[str]:
    """Return a number of a column, relative to the centre; what is not finite is missing.

    And the mark of a missing value, if the column has one.
    """
    name = identifier(column["name"])
    value = f"CAST({name} AS DOUBLE PRECISION)"
    if column["kind"] == "date":
        value = date_number(f"CAST({name} AS TEXT)")
    value = f"CASE WHEN ABS({value}) <= 1.7976931348623157e308 THEN {value} END"
    form = f"({value} - ({number(column['offset'])})) * ({number(column['scale'])})"
    missing = column["missing"]
    forms = [form if missing is None else f"COALESCE({form}, ({number(missing)}))"]
    if "indicator" in column:
        present, absent = (f"({number(mark)})" for mark in column["indicator"])
        mark = f"CASE WHEN ({value}) IS NULL THEN {absent} ELSE {present} END"
        forms.append(f"CAST({mark} AS DOUBLE PRECISION)")
    return forms


def date_number(written: str) -> str:
    """Return the days since 1970 of a date written as ``2024-05-31`` or ``2024-05-31 12:30:00``.

    A number is taken as it is.
    """

    def piece(start: int, length: int, kind: str = "INTEGER") -> str:
        return f"CAST(SUBSTR({written}, {start}, {length}) AS {kind})"

    early = f"(CASE WHEN {piece(6, 2)} < 3 THEN -1 ELSE 0 END)"
    days = DATE.format(y=piece(1, 4), m=piece(6, 2), d=piece(9, 2), a=early)
    clock = f"{piece(12, 2)} / 24e0 + {piece(15, 2)} / 1440e0"
    seconds = f"COALESCE(CAST(NULLIF(SUBSTR({written}, 18, 2), '') AS INTEGER), 0) / 86400e0"
    return (
        f"CASE WHEN SUBSTR({written}, 5, 1) = '-' AND LENGTH({written}) > 13 THEN {days} + {clock}"
        f" + {seconds} WHEN SUBSTR({written}, 5, 1) = '-' THEN {days} * 1e0 "
        f"ELSE CAST({written} AS DOUBLE PRECISION) END"
    )


def category_code(column: Document) -> str:
    """Return the place of a category; behind all the missing value, and an unknown one."""
    name, categories = identifier(column["name"]), column["categories"]
    count, value = len(categories), f"CAST({identifier(column['name'])} AS TEXT)"
    if column["kind"] == "boolean":
        truths = "'1', 'true', 't', 'yes', 'True', 'TRUE', 'Yes'"
        cases = [
            f"WHEN {value} {'IN' if category else 'NOT IN'} ({truths}) THEN {k}"
            for k, category in enumerate(categories)
        ]
        return f"CASE WHEN {name} IS NULL THEN {count} {' '.join(cases)} ELSE {count + 1} END"
    if column_code(column) == "t":
        pairs = [(text(category), k) for k, category in enumerate(categories)]
        blank = "" if "" in categories else f"WHEN '' THEN {count} "
    else:
        value, blank = f"CAST({name} AS DOUBLE PRECISION)", ""
        pairs = [(number(float(category)), k) for k, category in enumerate(categories)]
    known = " ".join(f"WHEN {literal} THEN {k}" for literal, k in pairs)
    return (
        f"CASE WHEN {name} IS NULL THEN {count} ELSE CASE {value} {known} {blank}"
        f"ELSE {count + 1} END END"
    )


def category_numbers(column: Document, code: str) -> list[str]:
    """Return the numbers of a category, each by its code; the most frequent one is the rest."""
    entries = np.array([*column["entries"], column["missing"], column["unknown"]])
    forms = []
    for values in entries.T:
        found, counts = np.unique(values, return_counts=True)
        usual = found[counts.argmax()]
        cases = [f"WHEN {k} THEN ({number(v)})" for k, v in enumerate(values) if v != usual]
        rest = f"({number(usual)})"
        form = f"CASE {code} {' '.join(cases)} ELSE {rest} END" if cases else rest
        forms.append(f"CAST({form} AS DOUBLE PRECISION)")
    return forms


def margin_form(kind: str) -> str:
    """Return what the softmax is of, by scores that are minus a distance."""
    if kind == "scores":
        return "s.score"
    if kind == "root":
        return f"(-{root('(-s.score)')})"
    return "COALESCE((s.score - d.next) / NULLIF(-d.next - s.score, 0e0), 0e0)"


def steps_form(value: str, at: Sequence[float], heights: Sequence[float]) -> str:
    """Return a function that is linear between places, and constant beyond them."""
    cases = [f"WHEN {value} <= ({number(at[0])}) THEN {number(heights[0])}"]
    for k in range(1, len(at)):
        if at[k] > at[k - 1]:
            slope = (heights[k] - heights[k - 1]) / (at[k] - at[k - 1])
            cases.append(
                f"WHEN {value} < ({number(at[k])}) THEN {number(heights[k - 1])} + "
                f"({value} - ({number(at[k - 1])})) * ({number(slope)})"
            )
    return f"CASE {' '.join(cases)} ELSE {number(heights[-1])} END"


def answer_names(kind: str, names: Iterable[str]) -> list[str]:
    """Return the quoted names of answers, all different whatever the case of letters."""
    short = [name.encode("utf-8")[:LONGEST].decode("utf-8", "ignore") for name in names]
    folded = number_repeats([name.casefold() for name in short])
    ends = [new[len(old.casefold()) :] for new, old in zip(folded, short, strict=True)]
    pairs = zip(short, ends, strict=True)
    return [identifier(f"{kind}_{name}{end}") for name, end in pairs]


def write_query(document: Document, table: str = "rows") -> str:
    """Return a SELECT that answers for each row of a table.

    Parameters
    ----------
    document : dict
        The model, see ``document_of``.
    table : str, default="rows"
        The name of the table.
    """
    return SqlQuery(document, identifier(table)).write()


def answer_columns(query: str) -> list[str]:
    """Return the names of the columns that a query adds to those of its table, quoted or not."""
    last = query.rpartition("\nSELECT\n")[2].partition("\nFROM numbered")[0]
    return re.findall(r' AS ("(?:[^"]|"")*"|\w+),?$', last, re.MULTILINE)
