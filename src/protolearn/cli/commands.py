"""The commands, and what they have in common."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import typer

from .engines import Engine
from .failure import Application, report_errors

app = Application(
    help="Interpretable classification by prototypes and margins.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Data = Annotated[
    str,
    typer.Argument(
        help="A CSV, TSV, Excel, Parquet, Feather, JSON Lines or ARFF file, packed by gzip or zstd "
        "or not, a folder of Parquet files, - for standard input, or a built-in set."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file written by fit.")]
Target = Annotated[
    str | None, typer.Option(help="The column to predict: its name, its number from 1, or last.")
]
Seed = Annotated[int, typer.Option(help="Random seed.", min=0, max=2**31 - 1)]


class Preference(StrEnum):
    """What is chosen among models that are about as good as the best."""

    readable = "readable"
    accurate = "accurate"
    small = "small"


class Metric(StrEnum):
    """What the choice of a model optimises."""

    accuracy = "accuracy"
    balanced_accuracy = "balanced-accuracy"
    auc = "auc"
    average_precision = "average-precision"
    log_loss = "log-loss"
    f1 = "f1"
    mcc = "mcc"
    cost = "cost"


Rows = Annotated[
    int, typer.Option(help="Use at most this many rows, sampled by class; 0: all.", min=0)
]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out. Repeatable.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="A column to use although it looks like row numbers or names."),
]
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column of numbers to treat as categories.")
]
Names = Annotated[
    str | None,
    typer.Option(help="Column names of a text file without a header, separated by commas."),
]
Id = Annotated[
    list[str] | None,
    typer.Option(help="A column that identifies the rows: not used to predict, but written out."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="A code for missing values, such as 999 or age=999. Repeatable."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop with an error instead of making assumptions.")
]
Memory = Annotated[
    str | None,
    typer.Option(help="Memory limit for the table, such as 4GB; default: half of the machine's."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="Write no apostrophe before text that looks like a formula.")
]


def show_version(wanted: bool) -> None:
    """Print the version, and end."""
    if wanted:
        from .. import __version__

        typer.echo(f"protolearn {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Interpretable classification by prototypes and margins."""


@app.command()
def fit(
    data: Data,
    target: Target = None,
    model: Annotated[
        str, typer.Option(help="auto, or models such as glvq,gmlvq,soft-margin-svm.")
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="Folder for the results; default: protolearn-DATA.")
    ] = None,
    time: Annotated[
        float | None,
        typer.Option(
            help="Time limit for the whole command in seconds; default: no limit.", min=1.0
        ),
    ] = None,
    fits: Annotated[
        int | None, typer.Option(help="Maximum number of fits in the search.", min=1)
    ] = None,
    prefer: Annotated[
        Preference,
        typer.Option(help="Which model to choose among those about as good as the best."),
    ] = Preference.readable,
    folds: Annotated[int, typer.Option(help="Number of cross-validation folds.", min=2)] = 5,
    rows: Rows = 1_000_000,
    seed: Seed = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Number of parallel fits; -1: one per processor; default: 1, or all Dask workers."
        ),
    ] = None,
    engine: Annotated[Engine, typer.Option(help="Where to run the fits.")] = Engine.local,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of the Dask scheduler; default: start a local cluster."),
    ] = None,
    drop: Drop = None,
    keep: Keep = None,
    categorical: Categorical = None,
    image: Annotated[
        str | None,
        typer.Option(help="HEIGHTxWIDTH if the columns are the pixels of an image, row by row."),
    ] = None,
    robust: Annotated[
        float | None,
        typer.Option(
            help="Measurement error in standard deviations: report how many predictions stay the "
            "same. Robust-lvq then competes too.",
            min=0.0,
        ),
    ] = None,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(help="The same by column and in its units, such as age=2,bp=5."),
    ] = None,
    reject_cost: Annotated[
        float,
        typer.Option(
            help="Cost of a second look, when an error costs 1: decides which are flagged.",
            min=0.001,
            max=0.999,
        ),
    ] = 0.2,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="What to optimise; default: accuracy, or balanced accuracy if the largest class "
            "has more than four times the rows of the smallest."
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="The positive class, for f1, auc and average-precision.")
    ] = None,
    cost: Annotated[
        str | None, typer.Option(help="What errors cost: 'TRUE>PREDICTED=20, ...'; others cost 1.")
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(
            help="Number of classes to cut a numeric target into, or edges such as 10,20."
        ),
    ] = None,
    merge_rare: Annotated[
        bool,
        typer.Option("--merge-rare", help="Merge classes with fewer rows than folds into one."),
    ] = False,
    group: Annotated[
        str | None,
        typer.Option(
            help="Column with the group of each row, such as a patient: groups stay in one fold."
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Column of subgroups to report the measures for.")
    ] = None,
    time_column: Annotated[
        str | None,
        typer.Option(help="Column with the time of each row: models are tested on later rows."),
    ] = None,
    names: Names = None,
    id: Id = None,
    missing: Missing = None,
    strict: Strict = False,
    memory: Memory = None,
    raw: Raw = False,
    force: Force = False,
) -> None:
    """Learn a model from a table, and tell how good it is on rows it has not seen."""
    with report_errors("fit", "Run the same command again to continue."):
        from .fit_command import image_shape, run_fit, tolerances
        from .fit_procedure import FitSettings

        settings = FitSettings(
            data=data,
            target=target,
            model=model,
            out=out,
            seconds=time,
            fits=fits,
            prefer=prefer,
            folds=folds,
            rows=rows,
            seed=seed,
            jobs=jobs,
            drop=tuple(drop or ()),
            keep=tuple(keep or ()),
            categorical=tuple(categorical or ()),
            image=image_shape(image),
            tolerance=tolerances(robust, tolerance or ()),
            reject_cost=reject_cost,
            metric=metric,
            positive=positive,
            cost=cost,
            bins=bins,
            merge_rare=merge_rare,
            group=group,
            by=by,
            time_column=time_column,
            engine=engine,
            scheduler=scheduler,
            reading=reading_options(names, id, missing, strict, memory),
            raw=raw,
            force=force,
        )
        run_fit(settings, spent=process_time())


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="CSV file for the predictions; -: the terminal.")
    ] = Path("-"),
    keep: Annotated[bool, typer.Option("--keep", help="Also write the input columns.")] = False,
    names: Names = None,
    id: Id = None,
    missing: Missing = None,
    strict: Strict = False,
    memory: Memory = None,
    raw: Raw = False,
    force: Force = False,
) -> None:
    """Ask a model about the rows of a table: labels, probabilities, margins, which to look at."""
    with report_errors("predict", "Nothing was written; run the same command again."):
        from .predict_and_export import run_predict

        reading = reading_options(names, id, missing, strict, memory)
        run_predict(model, data, out, keep, reading, raw, force)


@app.command()
def explain(
    model: Model,
    data: Data,
    row: Annotated[int, typer.Option(help="Row number, from 1.")] = 1,
    to: Annotated[
        str | None, typer.Option(help="The class that the smallest change should lead to.")
    ] = None,
    fixed: Annotated[
        list[str] | None, typer.Option(help="Columns that cannot change, such as age,sex.")
    ] = None,
) -> None:
    """Explain what a model predicts for a row, and what would change its answer."""
    with report_errors("explain"):
        from .explain_command import run_explain

        run_explain(model, data, row, to, fixed or ())


@app.command()
def export(
    model: Model,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file; default: beside the model.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help="c, js, sql, onnx or json; default: from the ending of --out, or onnx."),
    ] = None,
    number: Annotated[
        str | None, typer.Option(help="Numbers in C: float, double, int16 or int8.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="Name of the table in SQL; default: rows.")
    ] = None,
    force: Force = False,
) -> None:
    """Turn a model into C, JavaScript, SQL, ONNX or JSON, which runs without Python."""
    with report_errors("export", "Nothing was written; run the same command again."):
        from .predict_and_export import run_export

        run_export(model, out, force, to, number, table)


@app.command()
def apply(
    model: Model,
    edits: Annotated[Path, typer.Argument(help="Edits file saved by a report.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the edited model.")],
    force: Force = False,
) -> None:
    """Apply the edits that a person has made in the report of a model."""
    with report_errors("apply", "Nothing was written; run the same command again."):
        from .predict_and_export import run_apply

        run_apply(model, edits, out, force)


@app.command()
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    names: Names = None,
    id: Id = None,
    missing: Missing = None,
    strict: Strict = False,
    memory: Memory = None,
    force: Force = False,
) -> None:
    """Write the report of a saved model, such as an edited one, about rows with labels."""
    with report_errors("report", "Nothing was written; run the same command again."):
        from .predict_and_export import run_report

        run_report(model, data, out, reading_options(names, id, missing, strict, memory), force)


@app.command()
def card(
    model: Model,
    use: Annotated[
        str | None, typer.Option(help="Intended use of the model, for the card.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Markdown file; -: the terminal.")
    ] = Path("-"),
    force: Force = False,
) -> None:
    """Write the model card: use, data, measures by subgroup, limits and edits."""
    with report_errors("card", "Nothing was written; run the same command again."):
        from .predict_and_export import run_card

        run_card(model, use, out, force)


def reading_options(
    names: str | None,
    id: list[str] | None,
    missing: list[str] | None,
    strict: bool,
    memory: str | None,
) -> Any:
    """Return how a file is to be read; an error if a size is none."""
    from ..reading import MemoryLimit
    from .data_source import Reading
    from .failure import Failure

    try:
        MemoryLimit.of(memory)
    except ValueError as error:
        raise Failure(f"--{error}") from None
    parts = None if names is None else [one.strip() for one in names.split(",")]
    return Reading(parts, tuple(id or ()), tuple(missing or ()), strict, memory)


def list_models(wanted: bool) -> None:
    """Print the names of the models, and end."""
    if wanted:
        from .model_names import print_models

        print_models()
        raise typer.Exit


@app.command()
def compare(
    data: Data,
    target: Target = None,
    models: Annotated[
        list[str] | None, typer.Option(help="Models such as glvq,gmlvq,svc; default: a dozen.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Number of cross-validation folds.", min=2)] = 10,
    repeats: Annotated[
        int, typer.Option(help="Number of repetitions of the cross-validation.", min=1)
    ] = 1,
    rows: Rows = 20_000,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for scores and a picture; an interrupted comparison continues there."
        ),
    ] = None,
    drop: Drop = None,
    keep: Keep = None,
    categorical: Categorical = None,
    names: Names = None,
    id: Id = None,
    missing: Missing = None,
    strict: Strict = False,
    memory: Memory = None,
    list_them: Annotated[
        bool,
        typer.Option(
            "--list-models", help="List the models and exit.", callback=list_models, is_eager=True
        ),
    ] = False,
    raw: Raw = False,
    force: Force = False,
) -> None:
    """Compare models on a table by cross-validation, with tests that hold."""
    with report_errors("compare"):
        from .compare_command import run_compare

        chosen = (drop or (), categorical or (), keep or ())
        reading = reading_options(names, id, missing, strict, memory)
        how = (folds, repeats, seed, out, *chosen, rows, reading, raw, force)
        run_compare(data, target, models or (), *how)


def list_experiments(wanted: bool) -> None:
    """Print the names of the experiments, and end."""
    if wanted:
        with report_errors("reproduce"):
            from .reproduce_command import print_experiments

            print_experiments()
        raise typer.Exit


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(help="An experiment from --list, or all.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a reduced version that takes seconds.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results; default: protolearn-NAME. An interrupted run "
            "continues there."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(help="Number of processes; -1: one per processor.")] = -1,
    names: Annotated[
        bool,
        typer.Option(
            "--list",
            help="List the experiments and exit.",
            callback=list_experiments,
            is_eager=True,
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Run a published experiment again, and show ours beside theirs."""
    with report_errors("reproduce", "Run the same command again to continue."):
        from .reproduce_command import run_reproduce

        run_reproduce(name, quick, out, seed, jobs, force)


@app.command()
def datasets() -> None:
    """List the data sets that can be named in place of a file."""
    with report_errors("datasets"):
        from .data_source import print_datasets

        print_datasets()


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("protolearn-demo"),
    data: Annotated[str, typer.Option(help="Name of a built-in set.")] = "wdbc",
    time: Annotated[
        float | None, typer.Option(help="Time limit for learning in seconds.", min=1.0)
    ] = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Show the main commands on a built-in set, from a table to a model that one can read."""
    with report_errors("demo"):
        from .demo_command import run_demo

        run_demo(data, out, time, seed, force)


@app.command()
def lecture(
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path(
        "lecture.html"
    ),
    force: Force = False,
) -> None:
    """Write a page on which to watch Rosenblatt, AdaTron, LVQ1 and GLVQ learn step by step."""
    with report_errors("lecture"):
        from ..report import write_lecture
        from .output_checks import check_outputs

        check_outputs([out], [], force)
        write_lecture(out)
        typer.echo(f"Wrote {out}: open it in a browser, click points, and press Step.")
