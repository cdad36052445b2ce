"""Examples that several tests of perceptrons take."""

import numpy as np

INSEPARABLE = {
    "overlap": (np.random.RandomState(0).randn(40, 2), np.arange(40) % 2),
    "twins": (np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]), [0, 1, 1, 0]),
    "identical": (np.ones((6, 2)), [0, 1, 0, 1, 1, 0]),
    "zeros": (np.zeros((6, 2)), [0, 1, 0, 1, 1, 0]),
    "xor": (np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [0, 0, 1, 1]),
}
"""Rows that no hyperplane separates, and their labels."""
