"""A model as one C99 header: its numbers as constant tables, and functions that use them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...classifiers import LEVELS, sparse_row
from .exported_columns import column_code, describe_column
from .fixed_point import AWAY_BITS, FixedPointModel
from .model_document import Document, label_text, map_vector
from .small_fixed_point import COARSE, POWERS, SmallFixedPointModel

KEYWORDS = re.compile(
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|"
    "inline|int|long|register|restrict|return|short|signed|sizeof|static|struct|switch|typedef|"
    "union|unsigned|void|volatile|while",
    re.IGNORECASE,
)
"""Names that a header may not have in C."""

PER_LINE = 8

PROBABILITIES = {"softmax": 1, "logistic": 2, "isotonic": 3}
MARGINS = {"scores": 0, "root": 1, "relative": 2}
REJECTS = {
    "probability": "a->probabilities[model_largest(a->probabilities, MODEL_CLASSES)]",
    "margin": "a->margin",
    "radius": "a->certified_radius",
    "lead": "(a->scores[a->code] - a->scores[model_second(a->scores, MODEL_CLASSES, a->code)])",
}


def c_name(text: str) -> str:
    """Return a text as a name in C."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"model_{name}" if not name or name[0].isdigit() or KEYWORDS.fullmatch(name) else name


def c_text(text: str) -> str:
    """Return a text in double quotes, of ASCII characters alone.

    Nothing in it looks like a trigraph, or like one of our names before they are replaced.
    """
    escapes = {ord('"'): '\\"', ord("\\"): "\\\\"}
    return (
        '"'
        + "".join(
            chr(byte) if 32 <= byte < 127 and byte not in b"?_" else f"\\{byte:03o}"
            for byte in text.translate(escapes).encode("utf-8", "surrogateescape")
        )
        + '"'
    )


def c_comment(text: str) -> str:
    """Return a text that does not end a comment."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


class Tables:
    """Constant tables of a header, and how many bytes they take."""

    def __init__(self, number: str):
        self.lines: list[str] = []
        self.number, self.n_bytes, self.sizes = number, 0, dict(SIZES)

    def define(self, name: str, value: Any) -> None:
        """Define a constant."""
        text = f"((model_number){float(value)!r})" if isinstance(value, float) else f"{value}"
        self.lines.append(f"#define MODEL_{name} {text}")

    def add(self, name: str, values: Any, kind: str = "model_number") -> None:
        """Add a table of numbers; an empty one has a zero, since C has no empty arrays."""
        flat = np.ravel(np.asarray(values, dtype=np.float64))
        flat = flat if len(flat) else np.zeros(1)
        if kind == "model_number":
            largest = np.finfo(np.float32 if self.number == "float" else np.float64).max
            texts = [repr(float(np.clip(v, -largest, largest))) for v in flat]
        else:
            texts = [str(int(v)) if float(v).is_integer() else repr(float(v)) for v in flat]
            texts = [f"INT64_C({t})" if kind == "model_wide" else t for t in texts]
        self.n_bytes += len(texts) * self.sizes.get(kind, 4 if self.number == "float" else 8)
        self.write(name, texts, kind)

    def add_by_index(self, name: str, values: Any, kind: str = "model_number") -> None:
        """Add numbers as a macro of an index: one number if all are equal, or a table."""
        if len(set(values)) == 1:
            value = values[0]
            text = f"{int(value)}" if float(value).is_integer() else f"{float(value)!r}"
            text = text if kind in SMALL_KINDS else f"(({kind}){text})"
            self.lines.append(f"#define model_{name}(j) ({text})")
            return
        self.add(f"{name}_table", values, kind)
        self.lines.append(f"#define model_{name}(j) model_{name}_table[j]")

    def add_texts(self, name: str, texts: Iterable[str]) -> None:
        """Add a table of texts."""
        names = []
        for k, text in enumerate(texts):
            names.append(f"model_{name}_{k}")
            self.lines.append(f"static MODEL_ROM char {names[-1]}[] = {c_text(text)};")
            self.n_bytes += len(text.encode("utf-8", "surrogateescape")) + 1 + 4
        self.write(name, names or ["NULL"], "char *")

    def write(self, name: str, texts: list[str], kind: str) -> None:
        """Write a table."""
        kind = "char *MODEL_ROM " if kind == "char *" else f"{kind} "
        rows = [", ".join(texts[i : i + PER_LINE]) for i in range(0, len(texts), PER_LINE)]
        inside = ",\n  ".join(rows)
        self.lines.append(
            f"static MODEL_ROM {kind}model_{name}[{len(texts)}] = {{\n  {inside}\n}};"
        )


SMALL_KINDS = "signed char", "short"

SIZES = {"signed char": 1, "uint8_t": 1, "short": 2, "uint16_t": 2, "int": 4, "model_input": 8}

FIXED = {"int8": 8, "int16": 16}


def c_header(document: Document, name: str, number: str = "float") -> tuple[str, int]:
    """Return the text of a header for a model, and how many bytes its tables take.

    Parameters
    ----------
    document : dict
        The model, see ``document_of``.
    name : str
        What its functions begin with.
    number : {"float", "double", "int16", "int8"}, default="float"
        The type of its numbers; of whole ones, rows are still given as floats.
    """
    bits, number = FIXED.get(number), "float" if number in FIXED else number
    tables = Tables(number)
    if number == "float" and all(column["kind"] != "date" for column in document["columns"]):
        tables.sizes["model_input"] = 4
    columns_tables(tables, document["columns"])
    here = resources.files(__package__)
    engine = here.joinpath("model.h").read_text(encoding="utf-8")
    common_tables(tables, document)
    if bits is None:
        decision_tables(tables, document)
    else:
        is_small = "whole" in document and document["whole"]["bits"] == bits
        (small_tables if is_small else fixed_tables)(tables, document, bits)
        end = "/* Margins of distances. */" if is_small else "/* Decisions in floating point. */"
        engine = engine.partition(end)[0]
        fixed = here.joinpath("fixed.h").read_text(encoding="utf-8")
        small = here.joinpath("small.h").read_text(encoding="utf-8")
        engine += fixed.partition("/* What decides. */")[0] + small if is_small else fixed
    body = "\n".join([*opening(document, number), *tables.lines, "", engine, "#endif", ""])
    name = c_name(name)
    body = re.sub(r"\bMODEL_", f"{name.upper()}_", body)
    return re.sub(r"\bmodel_", f"{name}_", body), tables.n_bytes


def opening(document: Document, number: str) -> list[str]:
    """Return the first lines: what the model is, and the types of its numbers."""
    columns, dates = document["columns"], {c["kind"] for c in document["columns"]}
    texts = int(any(column_code(column) == "t" for column in columns))
    given = "double" if "date" in dates else number
    values = f"union {{ {given} number; const char *text; }}" if texts else given
    about = [c_comment(f"{j}: {c['name']}, {describe_column(c)}") for j, c in enumerate(columns)]
    suffix, prefix = ("##f", "FLT") if number == "float" else ("", "DBL")
    return [
        f"/* {document['model']}, exported by {document['producer']}. C99, without allocation.",
        " *",
        " * model_value row[MODEL_COLUMNS] holds a value for each column; NaN, or NULL for a text,",
        " * is a missing value. Then model_predict(row, &answer) writes the answer.",
        " *",
        *(f" * {line}" for line in about),
        " */",
        "#ifndef MODEL_INCLUDED",
        "#define MODEL_INCLUDED",
        "#if defined(__AVR__) && defined(__FLASH)",
        "#define MODEL_ROM const __flash",
        "#else",
        "#define MODEL_ROM const",
        "#endif",
        f"typedef {number} model_number;",
        f"typedef {given} model_input;",
        f"typedef {values} model_value;",
        f"#define MODEL_MATH(name) name{suffix}",
        f"#define MODEL_EPSILON {prefix}_EPSILON",
        f"#define MODEL_MOST {prefix}_MAX",
        f"#define MODEL_NUMBER(v) {'((v).number)' if texts else '(v)'}",
        f"#define MODEL_TEXTS {texts}",
    ]


def columns_tables(tables: Tables, columns: list[Document]) -> None:
    """Add how the values of columns become numbers."""
    codes = [column_code(column) for column in columns]
    lists = [column.get("categories", []) for column in columns]
    widths = [column["width"] for column in columns]
    tables.define("COLUMNS", len(columns))
    tables.define("FEATURES", max(sum(widths), 1))
    tables.define("LISTS", int(any(lists)))
    tables.add_by_index("kind", [ord(code) for code in codes], "signed char")
    tables.add_by_index("width", widths, "short")
    tables.add_by_index("offset", [c.get("offset", 0.0) for c in columns], "model_input")
    tables.add_by_index("scale", [c.get("scale", 0.0) for c in columns], "model_input")
    known = [c["missing"] if code == "n" else None for c, code in zip(columns, codes, strict=True)]
    tables.add_by_index("has_missing", [value is not None for value in known], "signed char")
    tables.add_by_index("missing", [value or 0.0 for value in known])
    marks = [column.get("indicator", [0.0, 0.0]) for column in columns]
    tables.define("MARKS", int(any("indicator" in column for column in columns)))
    if any("indicator" in column for column in columns):
        tables.add("marks", marks)
    if any(lists):
        category_tables(tables, columns, codes, lists)


def category_tables(
    tables: Tables, columns: list[Document], codes: list[str], lists: list[list[Any]]
) -> None:
    """Add the categories of columns, and the numbers of each."""
    mixed = [
        c["name"]
        for c, code, found in zip(columns, codes, lists, strict=True)
        if code == "c" and any(isinstance(value, str) for value in found)
    ]
    if mixed:
        raise TypeError(
            f"Columns {mixed!r} have texts and numbers as categories, which C cannot hold; fit the "
            "model to one of the two."
        )
    counts = [len(found) for found in lists]
    entries = [
        np.ravel([*c["entries"], c["missing"], c["unknown"]]) if found else np.zeros(0)
        for c, found in zip(columns, lists, strict=True)
    ]
    sizes = [len(part) for part in entries]
    tables.add("category_count", counts, "short")
    tables.add("first_category", np.cumsum([0, *counts[:-1]]), "short")
    tables.add("first_entry", np.cumsum([0, *sizes[:-1]]), "int")
    tables.add("entries", np.concatenate(entries))
    values = [value for found in lists for value in found]
    numbers = [0.0 if isinstance(value, str) else float(value) for value in values]
    tables.add("category_numbers", numbers, "model_input")
    if "t" in codes:
        tables.add_texts("category_texts", [v if isinstance(v, str) else "" for v in values])


def common_tables(tables: Tables, document: Document) -> None:
    """Add the labels, what kind of model it is, and how sure it is of its answers."""
    margin, scores = document["margin"], document["scores"]
    has_reach = margin is not None and margin["kind"] == "reach"
    tables.define("CLASSES", len(document["classes"]))
    tables.define("PROTOTYPES", len(document["prototypes"]))
    tables.define("LINEAR", int(scores["kind"] == "linear"))
    tables.define("OFFSETS", int(bool(scores.get("offsets"))))
    tables.define("REACH", (1 + bool(margin.get("rest"))) if has_reach else 0)
    tables.add_texts("labels", [label_text(label) for label in document["classes"]])
    if has_reach:
        tables.add("weights", margin["weights"])
    probability_tables(tables, document)


def decision_tables(tables: Tables, document: Document) -> None:
    """Add prototypes, maps or coefficients, and certificates."""
    scores, maps, map_of = document["scores"], document["maps"], document["map_of"]
    prototypes = np.array(document["prototypes"])
    tables.define("SKIPS", int(document["missing"] == "skip"))
    tables.define("SOFT", int(scores.get("sharpness") is not None))
    if scores.get("sharpness") is not None:
        tables.define("SHARPNESS", float(scores["sharpness"]))
    if scores["kind"] == "linear":
        tables.add("coef", scores["coef"])
        tables.add("intercept", scores["intercept"])
    if scores.get("offsets"):
        tables.add("offsets", scores["offsets"])
    if len(prototypes):
        numbers = [None if form is None else next(iter(form.values())) for form in maps]
        map_tables(tables, document, numbers, "model_number")
        tables.add("prototypes", prototypes)
        every = [map_vector(w, maps[g]) for w, g in zip(prototypes, map_of, strict=True)]
        tables.add("mapped", np.concatenate(every))
    rest = (document["margin"] or {}).get("rest", [])
    if rest:
        tables.add("rest", rest)
        tables.add("mapped_rest", [map_vector(np.array(row), maps[0]) for row in rest])
    certificate_tables(tables, document, prototypes)


def map_tables(tables: Tables, document: Document, maps: list[Any], kind: str) -> None:
    """Add the maps, and which of them each prototype has."""
    width = max(sum(column["width"] for column in document["columns"]), 1)
    numbers = [np.zeros(0) if form is None else np.asarray(form) for form in maps]
    kinds = ["i" if form is None else "idm"[np.ndim(form)] for form in maps]
    ranks = [len(part) if code == "m" else width for part, code in zip(numbers, kinds, strict=True)]
    sizes = [part.size for part in numbers]
    tables.define("IMAGE", max(ranks))
    tables.add("map_kind", [ord(code) for code in kinds], "signed char")
    tables.add("rank", ranks, "short")
    tables.add("first_map", np.cumsum([0, *sizes[:-1]]), "int")
    tables.add("maps", np.concatenate([part.ravel() for part in numbers]), kind)
    tables.add("map_of", document["map_of"], "short")
    tables.add("prototype_class", document["prototype_classes"], "short")


def small_tables(tables: Tables, document: Document, bits: int) -> None:
    """Add the whole numbers of a small model, each in as few bytes as it needs."""
    model = SmallFixedPointModel(document)
    scores, n_classes = model.classes.shape[1], len(document["classes"])
    whole_types(tables, bits)
    for name, value in {
        "SCORES": scores,
        "POINTS": len(model.points),
        "IMAGE": len(model.matrix),
        "SHIFT": model.shift,
        "STEEPNESS": model.steepness,
        "FLATNESS": model.flatness,
        "LEVELS": LEVELS,
        "COST_UNIT": document["whole"]["cost_unit"],
        "COARSE": COARSE[bits],
        "AWAY_BITS": AWAY_BITS,
        "DISTANCE_UNIT": model.distance_unit,
        "CONTRIBUTION_UNIT": model.contribution_unit,
    }.items():
        tables.define(name, value)
    tables.add_by_index("input_scale", model.input_scale.tolist())
    rows = [sparse_row(row) for row in model.matrix]
    n_entries = sum(len(gaps) for gaps, _ in rows)
    size = bits // 8
    is_sparse = n_entries * (size + 1) + 2 * len(rows) < model.matrix.size * size
    tables.define("SPARSE", int(is_sparse))
    if is_sparse:
        tables.add("counts", [len(gaps) for gaps, _ in rows], "uint16_t")
        tables.add("gaps", [gap for gaps, _ in rows for gap in gaps], "uint8_t")
        tables.add("values", [value for _, values in rows for value in values], "model_small")
    else:
        tables.add("matrix", model.matrix, "model_small")
    tables.add("places", document["whole"]["places"], "model_small")
    if scores < n_classes:
        tables.add("classes", model.classes, "uint8_t" if n_classes < 256 else "uint16_t")
    tables.add("costs", document["whole"]["costs"], "uint8_t")
    tables.add("powers", POWERS, "uint16_t")


def whole_types(tables: Tables, bits: int) -> None:
    """Add the types of whole numbers, and the largest one."""
    tables.lines += [
        "#include <stdint.h>",
        f"typedef int{bits}_t model_small;",
        f"typedef int{2 * bits}_t model_image;",
        f"typedef int{4 * bits}_t model_wide;",
    ]
    tables.sizes |= {"model_small": bits // 8, "model_image": bits // 4, "model_wide": bits // 2}
    tables.define("SKIPS", 0)
    tables.define("TOP", 2 ** (bits - 1) - 1)


def fixed_tables(tables: Tables, document: Document, bits: int) -> None:
    """Add the whole numbers of a model in fixed point, and their types."""
    model = FixedPointModel.of(document, bits)
    whole_types(tables, bits)
    tables.define("SHIFT", model.shift)
    tables.define("WIDEST", f"INT{4 * bits}_MAX")
    tables.define("DISTANCE_UNIT", model.distance_unit)
    tables.define("SCORE_UNIT", model.score_unit)
    tables.define("CONTRIBUTION_UNIT", model.contribution_unit)
    tables.add_by_index("input_scale", model.input_scale)
    if model.coef is not None:
        tables.define("AWAY_BITS", AWAY_BITS)
        tables.add("coef", model.coef, "model_small")
        tables.add("intercept", model.intercept, "model_wide")
        tables.add("away", model.away, "uint16_t")
    if len(model.prototypes):
        map_tables(tables, document, model.maps, "model_small")
        tables.add("prototypes", model.prototypes, "model_small")
        tables.add("mapped", np.concatenate(model.mapped), "model_image")
    if model.mapped_rest:
        tables.add("mapped_rest", np.concatenate(model.mapped_rest), "model_image")
    if document["scores"].get("offsets"):
        tables.add("offsets", model.offsets, "model_wide")
    found = model.certificate()
    tables.define("CERTIFICATE", int(found is not None))
    if found is not None:
        pace_tables(tables, document, found[0])
        tables.add("slack", found[1])


def pace_tables(tables: Tables, document: Document, pace: Any) -> None:
    """Add how fast leads shrink."""
    is_linear = document["scores"]["kind"] == "linear"
    tables.define("ROOT", int(document["certificate"]["root"]))
    tables.define("PACES", len(pace))
    tables.define("CLASS_OF(k)", "(k)" if is_linear else "model_prototype_class[k]")
    tables.add("pace", pace)


def certificate_tables(tables: Tables, document: Document, prototypes: NDArray[Any]) -> None:
    """Add how fast leads shrink, and the sizes that rounding depends on."""
    certificate, scores = document["certificate"], document["scores"]
    tables.define("CERTIFICATE", int(certificate is not None))
    if certificate is None:
        return
    pace_tables(tables, document, certificate["pace"])
    if scores["kind"] == "linear":
        stretch, size = np.linalg.norm(scores["coef"], axis=1), np.abs(scores["intercept"])
    else:
        forms = [document["maps"][g] for g in document["map_of"]]
        numbers = [[1.0] if form is None else next(iter(form.values())) for form in forms]
        stretch = np.array([np.linalg.norm(np.ravel(part)) for part in numbers])
        size = np.linalg.norm(prototypes, axis=1)
    tables.add("stretch", stretch)
    tables.add("size", size)


def probability_tables(tables: Tables, document: Document) -> None:
    """Add how scores become probabilities, and when a row is rejected."""
    form, reject, classes = document["probabilities"], document["reject"], document["classes"]
    tables.define("PROBABILITIES", PROBABILITIES[form["kind"]] if form else 0)
    tables.define("AGREE", int(bool(form and form.get("agree"))))
    if form and form["kind"] == "softmax":
        tables.define("MARGINS", MARGINS[form["of"]])
        tables.define("FACTOR", float(form["factor"]))
        tables.define("FLOOR", float(form["floor"]))
        tables.add_by_index("class_offset", form["offsets"] or [0.0] * len(classes))
    tables.define("LOWERED", int(bool(form and form.get("lowered"))))
    if form and form.get("lowered"):
        tables.add("lowered", form["lowered"])
    if form and form["kind"] == "isotonic":
        ends = np.cumsum([0, *(len(at) for at, _ in form["steps"])])
        tables.add("first_step", ends, "short")
        tables.add("step_at", np.concatenate([at for at, _ in form["steps"]]))
        tables.add("step_height", np.concatenate([height for _, height in form["steps"]]))
    if reject is None:
        tables.define("REJECTS(a)", "((void)(a), 0)")
        return
    tables.add("threshold", reject["thresholds"])
    sure = REJECTS[reject["measure"]].replace("a->", "(a)->")
    tables.define("REJECTS(a)", f"(!({sure} >= model_threshold[(a)->code]))")
    if reject["label"] is not None:
        tables.define("REJECT_LABEL", c_text(label_text(reject["label"])))


def code_size(header: str) -> dict[str, int]:
    """Return the bytes that a header takes as gcc compiles it for this machine; none without gcc.

    ``"code"``, ``"tables"``, and ``"stack"``: at most what a prediction needs.
    """
    compiler, measure = shutil.which("gcc"), shutil.which("size")
    if compiler is None or measure is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "model.h").write_text(header, encoding="utf-8")
        name = re.findall(r"int (\w+)_predict\(", header)[0]
        (here / "one.c").write_text(
            '#include "model.h"\n'
            f"int one(const {name}_value *row, {name}_answer *answer);\n"
            f"int one(const {name}_value *row, {name}_answer *answer) {{\n"
            f"  return {name}_predict(row, answer);\n}}\n",
            encoding="utf-8",
        )
        flags = ["-std=c99", "-Os", "-fstack-usage", "-ffunction-sections", "-c", "one.c"]
        subprocess.run([compiler, *flags], cwd=here, check=True, capture_output=True)
        sections = subprocess.run(
            [measure, "-A", "one.o"], cwd=here, check=True, capture_output=True, text=True
        ).stdout.splitlines()
        used = (here / "one.su").read_text(encoding="utf-8").splitlines()
        stack = sum(int(each.split("\t")[1]) for each in used)
    sizes = [line.split()[:2] for line in sections if line.startswith(".")]
    code, tables = (
        sum(int(size) for name, size in sizes if name.startswith(kinds))
        for kinds in (".text", (".rodata", ".data"))
    )
    return {"code": code, "tables": tables, "stack": stack}
