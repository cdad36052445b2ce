"""``protolearn export``: a saved model as an ONNX graph, which runs without Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from .._files import replacing
from .failure import FAILED, Failure
from .summary import say


def run(model: Path, out: Path | None) -> None:
    """Write the graph of a model beside it, or where it is wanted, and say what it takes."""
    from ..io import describe, load, to_onnx

    out = model.with_suffix(".onnx") if out is None else out
    if out.is_dir():
        raise Failure(f"--out {str(out)!r} is a folder; give the name of a file.")
    loaded, notes = load(model), describe(model).notes or {}
    try:
        graph = to_onnx(loaded)
    except ImportError as error:
        raise Failure(str(error), FAILED) from error
    threshold = notes.get("reject", {}).get("threshold")
    if threshold is not None:
        graph.metadata_props.add(key="reject_below_probability", value=str(threshold))
    with replacing(out) as path:
        path.write_bytes(graph.SerializeToString())
    tell(Console(stderr=True), graph, loaded, out, threshold)


def tell(console: Console, graph: Any, model: Any, out: Path, threshold: float | None) -> None:
    """Print what the graph takes and gives."""
    columns = [str(name) for name in getattr(model, "feature_names_in_", ())]
    given = ", ".join(columns) if columns else f"{model.n_features_in_} numbers"
    say(console, f"{out}: {out.stat().st_size / 1000:,.0f} kB")
    say(console, f"takes X, a row of: {given}")
    say(console, f"gives {', '.join(output.name for output in graph.graph.output)}")
    if threshold is not None:
        say(console, f"look again where the largest probability is below {threshold:.3g}")
