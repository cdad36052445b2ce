"""A table with everything that is hard to carry into another language."""

import numpy as np
import pandas as pd

NAMES = "age", 'it\'s "odd"', "when; DROP TABLE rows; --", "flag?", "code */ \\ <!-- </script>"


def table_of_words(n, seed=0):
    """Give a table with words, codes, truth values, dates and holes, and its labels."""
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 3, n)
    words = np.array(["a'b", 'c"d', "e\\f ü", "??/"], dtype=object)
    frame = pd.DataFrame(
        {
            NAMES[0]: 40.0 + 5.0 * y + rng.randn(n),
            NAMES[1]: words[np.where(rng.rand(n) < 0.6, y, rng.randint(0, 4, n))],
            NAMES[2]: pd.Timestamp("2020-02-20")
            + pd.to_timedelta(y * 3 + rng.randint(0, 9, n), "D"),
            NAMES[3]: pd.array(rng.rand(n) < 0.3 + 0.2 * y, dtype="boolean"),
        }
    )
    frame[NAMES[4]] = pd.Categorical(rng.randint(0, 3, n) * 10 + 5)
    frame.loc[rng.rand(n) < 0.1, NAMES[0]] = np.nan
    frame.loc[rng.rand(n) < 0.1, NAMES[1]] = None
    frame.loc[rng.rand(n) < 0.1, NAMES[2]] = pd.NaT
    frame.loc[rng.rand(n) < 0.1, NAMES[3]] = pd.NA
    return frame, np.array(["no", "y\"e's\\", "it's -- */ \u2028<b>"])[y]
