"""Benchmark data by name, and the data sets that the papers make by formula.

``load`` reads real data: four sets come with scikit-learn, every other one is read from the
folder named by the environment variable ``PROTOLEARN_DATA``. ``fetch`` does the same, and downloads
what is not there. The ``make_*`` functions draw artificial data; the same ``random_state`` always
gives the same numbers.
"""

from ._drawing import flip_labels
from ._folder import folder_state as folder_state
from ._linear_data import make_graf_toy, make_neurons, make_random_patterns, make_teacher_student
from ._loading import Description, describe, feature_names, load, names
from ._openml import fetch
from ._planar import make_isolated, make_spirals, make_striated

__all__ = [
    "Description",
    "describe",
    "feature_names",
    "fetch",
    "flip_labels",
    "load",
    "make_graf_toy",
    "make_isolated",
    "make_neurons",
    "make_random_patterns",
    "make_spirals",
    "make_striated",
    "make_teacher_student",
    "names",
]
