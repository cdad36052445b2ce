"""Sizes of the well-known sets: features, and rows of each class, by part where a split is known.

What comes from elsewhere is held against them, so that no other version of a set is taken for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_uppercase

DIGITS = tuple("0123456789")
GROUPS = (
    *("alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware"),
    *("comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles"),
    *("rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med"),
    *("sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast"),
    *("talk.politics.misc", "talk.religion.misc"),
)
SEGMENTS = ("brickface", "cement", "foliage", "grass", "path", "sky", "window")
SOILS = (
    "cotton crop",
    "damp grey soil",
    "grey soil",
    "red soil",
    "vegetation stubble",
    "very damp grey soil",
)


@dataclass(frozen=True)
class Size:
    """Size of a data set.

    ``parts`` has the rows of each class in each part, in the order of the rows; ``"all"`` alone
    where there is no customary split.
    """

    n_features: int
    parts: dict[str, dict[str, int]]


def _whole(n_features: int, **classes: int) -> Size:
    return Size(n_features, {"all": classes})


def _split(
    n_features: int, names: tuple[str, ...], train: tuple[int, ...], test: tuple[int, ...]
) -> Size:
    counts = {"train": train, "test": test}
    parts = {part: dict(zip(names, rows, strict=True)) for part, rows in counts.items()}
    return Size(n_features, parts)


SIZES = {
    "diabetes": _whole(8, tested_negative=500, tested_positive=268),
    "pima": _whole(8, **{"0": 500, "1": 268}),
    "glass": _whole(
        9,
        **{
            "build wind float": 70,
            "build wind non-float": 76,
            "containers": 13,
            "headlamps": 29,
            "tableware": 9,
            "vehic wind float": 17,
        },
    ),
    "glass2": _whole(9, float=87, non_float=76),
    "heart": _whole(13, absent=150, present=120),
    "ionosphere": _whole(34, b=126, g=225),
    "sonar": _whole(60, Mine=111, Rock=97),
    "vehicle": _whole(18, bus=218, opel=212, saab=217, van=199),
    "segment": _whole(19, **dict.fromkeys(SEGMENTS, 330)),
    "letter": _split(
        16,
        tuple(ascii_uppercase),
        (
            *(633, 630, 594, 638, 616, 622, 609, 583, 590, 599, 593, 604, 648),
            *(617, 614, 635, 615, 597, 587, 645, 645, 628, 613, 628, 641, 576),
        ),
        (
            *(156, 136, 142, 167, 152, 153, 164, 151, 165, 148, 146, 157, 144),
            *(166, 139, 168, 168, 161, 161, 151, 168, 136, 139, 159, 145, 158),
        ),
    ),
    "satimage": _split(36, SOILS, (479, 415, 961, 1072, 470, 1038), (224, 211, 397, 461, 237, 470)),
    "pendigits": _split(
        16,
        DIGITS,
        (780, 779, 780, 719, 780, 720, 720, 778, 719, 719),
        (363, 364, 364, 336, 364, 335, 336, 364, 336, 336),
    ),
    "optdigits": _split(
        64,
        DIGITS,
        (376, 389, 380, 389, 387, 376, 377, 387, 380, 382),
        (178, 182, 177, 183, 181, 182, 181, 179, 174, 180),
    ),
    "usps": _split(
        256,
        DIGITS,
        (1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
        (359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
    ),
    "mnist": _split(
        784,
        DIGITS,
        (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
        (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
    ),
    "20ng": _split(
        33833,
        GROUPS,
        (
            *(480, 584, 591, 590, 578, 593, 585, 594, 598, 597),
            *(600, 595, 591, 594, 593, 599, 546, 564, 465, 377),
        ),
        (
            *(319, 389, 394, 392, 385, 395, 390, 396, 398, 397),
            *(399, 396, 393, 396, 394, 398, 364, 376, 310, 251),
        ),
    ),
}
"""Sizes by name of the set."""
