"""The numbers of table 1 of Jin et al. (2008)."""

from __future__ import annotations

METHODS = ("MCE", "SNPC", "LOGM", "GLVQ")

SMALL: dict[str, tuple[tuple[float, float], ...]] = {
    "diabetes": ((76.13, 0.80), (75.60, 1.68), (76.80, 0.64), (75.37, 1.15)),
    "glass2": ((73.77, 2.51), (72.63, 1.96), (74.41, 2.95), (72.26, 3.69)),
    "heart": ((82.37, 1.56), (83.22, 0.84), (81.18, 1.55), (83.04, 1.99)),
    "iris": ((95.60, 0.95), (95.73, 0.95), (96.20, 0.89), (95.53, 0.89)),
    "ionosphere": ((87.75, 0.99), (87.47, 0.68), (88.38, 1.13), (89.12, 1.60)),
    "pima": ((75.94, 0.59), (75.75, 1.09), (76.39, 0.85), (75.75, 0.66)),
    "sonar": ((86.74, 1.37), (85.77, 1.36), (86.81, 2.55), (84.69, 2.39)),
    "vehicle": ((80.38, 0.85), (77.02, 1.07), (81.95, 0.66), (78.25, 1.27)),
    "wdbc": ((97.35, 0.37), (97.44, 0.37), (97.22, 0.29), (97.21, 0.32)),
    "wine": ((97.22, 0.62), (97.83, 0.44), (97.27, 0.61), (96.44, 0.64)),
}
"""Mean accuracy of ten runs of ten folds in percent and its standard deviation, by method."""

LARGE: dict[str, tuple[float, ...]] = {
    "usps": (94.62, 94.37, 94.32, 93.77),
    "20ng": (74.24, 73.80, 74.84, 74.19),
}
"""Accuracy on the test part in percent, by method."""

CHOSEN: dict[str, tuple[tuple[float, int, float], ...]] = {
    "usps": ((0.005, 20, 1.5), (0.001, 25, 2.0), (0.005, 10, 1.5), (0.001, 5, 1.5)),
    "20ng": ((0.01, 5, 0.5), (0.01, 20, 0.5), (0.001, 5, 0.5), (0.005, 5, 0.1)),
}
"""The attraction, prototypes a class and tau that were chosen, by method."""

P_VALUES = {"MCE": 0.1099, "SNPC": 0.1099, "GLVQ": 0.0640}
"""Of the signed-rank test of LOGM against the others over the twelve sets."""
