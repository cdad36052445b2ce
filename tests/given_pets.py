"""A table such as users have."""

import csv

import numpy as np

SEVERE, MILD = 'severe "<script>"', "mild, treated"

FIT = ("--target", "state", "--model", "fisher-prototypes,glvq", "--fits", "12", "--folds", "3")
"""Options of a quick ``fit`` that is the same on every machine."""


def pets(n_rows=90, seed=0):
    """Give the rows of a table with numbers, categories, dates, numbers of rows and holes."""
    rng = np.random.RandomState(seed)
    ill = rng.randint(2, size=n_rows)
    weight = rng.normal(12.0 - 4.0 * ill, 1.5)
    colour = np.array(["brown", "white", "red"])[(ill + (rng.uniform(size=n_rows) < 0.3)) % 3]
    born = np.datetime64("2015-01-01") + (300 * ill + rng.randint(900, size=n_rows))
    rows = []
    for i in range(n_rows):
        holes = rng.uniform(size=3) < 0.05
        rows.append(
            {
                "number": i + 1,
                "weight <b>kg</b>": "NA" if holes[0] else f"{weight[i]:.2f}",
                "colour": "" if holes[1] else colour[i],
                "born": "" if holes[2] else str(born[i]),
                "noise": f"{rng.normal():.3f}",
                "state": SEVERE if ill[i] else MILD,
            }
        )
    return rows


def write(path, rows, delimiter=",", names=None):
    """Write rows as a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, names or list(rows[0]), delimiter=delimiter, extrasaction="ignore"
        )
        writer.writeheader()
        writer.writerows(rows)
    return path
