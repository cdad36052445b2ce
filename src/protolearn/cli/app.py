"""The commands, and what they have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Interpretable classification by prototypes and margins.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def main() -> None:
    """Interpretable classification by prototypes and margins."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("protolearn-demo"),
    data: Annotated[str, typer.Option(help="Name of a built-in set.")] = "iris",
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Fit a model on a built-in set, show what it learned, draw it."""
    from .demo import run

    try:
        run(data, out, seed)
    except ValueError as error:
        typer.echo(f"protolearn demo: {error}", err=True)
        raise typer.Exit(2) from None
