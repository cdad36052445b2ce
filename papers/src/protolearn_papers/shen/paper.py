"""What Shen and Danyluk published: accuracies, their marks, and sizes of ensembles."""

from __future__ import annotations

from typing import NamedTuple

from protolearn.selection import WinTieLoss

PSVM = "PSVM"
OTHERS = (
    "C4.5",
    "boosted C4.5",
    "linear SVM",
    "boosted linear SVM",
    "polynomial SVM",
    "multilayer perceptron",
)
METHODS = (PSVM, *OTHERS)
"""The methods in the order of the tables."""

EXTENDED = "extended PSVM"
"""The PSVM with this library's additions, which the paper does not have."""

MEASURED = (PSVM, EXTENDED, *OTHERS)
"""What is measured; ``PSVM`` is the algorithm as published."""

TWITTER = "twitter"

SHOWN = {PSVM: "PSVM as published", TWITTER: "twitter (stand-in)"}
"""What tables say for names that would be taken for the paper's."""

WIN, LOSS = "o", "*"
"""Marks: the PSVM is significantly better, or worse, than the other method."""


class Published(NamedTuple):
    """One cell of table 2 or 4.

    Attributes
    ----------
    mean, deviation : float
        Accuracy in percent over ten folds.
    mark : str
        ``WIN``, ``LOSS`` or nothing.
    """

    mean: float
    deviation: float
    mark: str = ""


def _row(*cells: tuple[float, float] | tuple[float, float, str]) -> dict[str, Published]:
    return {method: Published(*cell) for method, cell in zip(METHODS, cells, strict=True)}


TABLE2 = {
    "isolated": _row(
        (90.9, 4.07),
        (98.1, 1.79, LOSS),
        (98.5, 1.46, LOSS),
        (62.5, 0.0, WIN),
        (62.5, 0.0, WIN),
        (81.9, 4.38, WIN),
        (80.6, 2.81, WIN),
    ),
    "striated": _row(
        (97.3, 1.66),
        (69.4, 13.4, WIN),
        (90.1, 7.38, WIN),
        (48.5, 3.94, WIN),
        (53.4, 16.3, WIN),
        (72.8, 4.18, WIN),
        (75.0, 25.0, WIN),
    ),
    "spirals": _row(
        (21.8, 18.9),
        (0.0, 0.0, WIN),
        (0.0, 0.0, WIN),
        (0.0, 0.0, WIN),
        (5.63, 8.97, WIN),
        (0.0, 0.0, WIN),
        (20.6, 28.9),
    ),
    "iris": _row(
        (96.0, 4.42),
        (94.0, 6.29),
        (94.0, 5.54),
        (98.7, 2.67),
        (97.3, 3.27),
        (96.7, 4.47),
        (97.3, 4.42),
    ),
    "glass": _row(
        (52.8, 8.72),
        (69.1, 6.40, LOSS),
        (72.9, 7.85, LOSS),
        (63.5, 8.08, LOSS),
        (63.1, 7.73, LOSS),
        (69.7, 6.55, LOSS),
        (70.6, 8.82, LOSS),
    ),
    "vehicle": _row(
        (79.4, 4.49),
        (73.8, 4.48, WIN),
        (75.7, 3.56),
        (80.4, 4.50),
        (80.4, 4.23),
        (80.4, 4.53),
        (79.7, 4.61),
    ),
    "segment": _row(
        (95.2, 1.18),
        (97.1, 0.93, LOSS),
        (98.1, 0.85, LOSS),
        (96.3, 0.93, LOSS),
        (96.1, 0.89),
        (95.8, 1.38),
        (96.2, 1.30),
    ),
    TWITTER: _row(
        (55.8, 5.12),
        (54.5, 2.89),
        (60.5, 7.99),
        (62.2, 3.66, LOSS),
        (62.2, 4.15, LOSS),
        (52.3, 5.54),
        (52.3, 5.54),
    ),
}
"""Accuracies with true labels, by set and method."""

TABLE4 = {
    "isolated": _row(
        (71.9, 7.71),
        (84.8, 4.36, LOSS),
        (83.6, 4.65, LOSS),
        (59.3, 3.67, WIN),
        (57.9, 3.71, WIN),
        (75.5, 4.91),
        (73.9, 3.51),
    ),
    "striated": _row(
        (76.8, 7.42),
        (60.3, 7.24, WIN),
        (64.3, 6.55, WIN),
        (52.0, 2.86, WIN),
        (56.8, 7.36, WIN),
        (66.8, 3.12, WIN),
        (67.4, 18.5),
    ),
    "spirals": _row(
        (29.0, 15.4),
        (9.79, 6.28, WIN),
        (9.79, 6.28, WIN),
        (11.9, 10.2, WIN),
        (16.9, 17.1),
        (10.3, 6.95, WIN),
        (17.1, 13.4),
    ),
    "iris": _row(
        (88.7, 5.21),
        (84.7, 7.33),
        (83.3, 7.45),
        (90.0, 6.83),
        (90.0, 6.15),
        (90.0, 5.37),
        (91.3, 6.70),
    ),
    "glass": _row(
        (50.0, 5.50),
        (62.2, 7.46, LOSS),
        (66.3, 8.87, LOSS),
        (53.7, 8.91),
        (57.5, 7.90, LOSS),
        (61.6, 8.95, LOSS),
        (61.7, 4.14, LOSS),
    ),
    "vehicle": _row(
        (68.1, 4.43),
        (63.1, 1.89, WIN),
        (67.6, 2.54),
        (71.5, 3.57),
        (69.1, 4.24),
        (57.4, 5.12, WIN),
        (71.0, 2.61),
    ),
    "segment": _row(
        (84.3, 2.18),
        (85.5, 2.30),
        (85.4, 2.23),
        (84.1, 1.82),
        (84.0, 2.12),
        (67.8, 3.95, WIN),
        (85.4, 2.51),
    ),
}
"""The same where one label in ten is wrong."""

TABLE3 = {"clean": WinTieLoss(16, 19, 13), "noisy": WinTieLoss(14, 21, 7)}
"""Wins, ties and losses of the PSVM against all others, on all sets, as printed."""


class Sizes(NamedTuple):
    """One row of table 5.

    Attributes
    ----------
    exemplars : int
        Exemplar SVMs at the beginning.
    clean, noisy : int
        PSVMs at the end, with true labels and with noise; the tweets had no noise added.
    """

    exemplars: int
    clean: int
    noisy: int | None


TABLE5 = {
    "isolated": Sizes(720, 323, 122),
    "striated": Sizes(720, 149, 170),
    "spirals": Sizes(175, 47, 56),
    "iris": Sizes(135, 54, 24),
    "glass": Sizes(193, 35, 37),
    "vehicle": Sizes(761, 110, 113),
    "segment": Sizes(2079, 453, 323),
    TWITTER: Sizes(540, 42, None),
}
"""Numbers of models, by set."""


def wins(row: str, method: str, table: dict[str, dict[str, Published]]) -> int:
    """Return +1, 0 or -1: the PSVM is better, about equal, or worse, by the published mark."""
    return {WIN: 1, LOSS: -1}.get(table[row][method].mark, 0)
