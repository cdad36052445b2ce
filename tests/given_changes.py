"""Changes that are printed, read back as a reader would."""

import json
import re

import numpy as np

PREFIX = "Fewest columns: "

PAIR = re.compile(r'("(?:[^"\\]|\\.)*"|[^",]+?) to ("(?:[^"\\]|\\.)*"|[^",]+?)(?:, |$)')
"""A name and a value, each in double quotes or without commas and double quotes."""


def read_assignments(text):
    """Give the values by name that ``NAME to VALUE, NAME to VALUE`` says."""
    found, end = {}, 0
    while end < len(text):
        pair = PAIR.match(text, end)
        name, value = (json.loads(one) if one[0] == '"' else one for one in pair.groups())
        assert name not in found
        found[name], end = value, pair.end()
    return found


def fewest_columns(shown):
    """Give the values by name of the sentence in what ``protolearn explain`` shows."""
    (line,) = [line for line in shown.splitlines() if line.startswith(PREFIX)]
    assert line.endswith(".")
    return read_assignments(line.removeprefix(PREFIX)[:-1])


def named_table(n=90, seed=0):
    """Give rows, as a file has them, with words, dates, holes, and names that are hard to read."""
    rng = np.random.RandomState(seed)
    ill = rng.randint(2, size=n)
    words = np.array(["dark, red", "to: blue", 'say "white"', "from a to b"])
    columns = {
        "weight, in kg": [f"{value:.2f}" for value in rng.normal(12.0 - 3.0 * ill, 2.0)],
        "9 to 5: hours": (40 + 6 * ill + rng.randint(-8, 9, n)).astype(str).tolist(),
        "colour": words[(2 * ill + rng.randint(3, size=n)) % 4].tolist(),
        'the "born" day': [
            str(np.datetime64("2015-01-01") + day) for day in 200 * ill + rng.randint(900, size=n)
        ],
        "noise": [repr(value) for value in rng.normal(0.0, 1e-3, n).tolist()],
        "smokes": np.array(["no", "yes"])[(ill + (rng.uniform(size=n) < 0.3)) % 2].tolist(),
    }
    for j, name in enumerate(list(columns)[:4]):
        for i in range(j, n, 13):
            columns[name][i] = ""
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    return rows, np.array(["well, so far", "ill"])[ill]
