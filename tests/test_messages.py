"""Messages that reach a person: errors, warnings, progress, summaries and help in plain English."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import protolearn

HOME = Path(protolearn.__file__).parent
FEWEST_WORDS = 3

RULED_OUT = {
    r"\b(is|are|was|were|be) told\b": "is reported",
    r"\btells? (how|what|whether|which|where|when|more|apart)\b": "shows, checks",
    r"\bhad better\b": "should",
    r"\bby heart\b": "overfits",
    r"\b(goes|go|going) on\b": "continue",
    r"\banew\b": "again",
    r"\ball the same\b": "anyway",
    r"\bin place of\b": "instead of",
    r"\bhardly\b": "almost no",
    r"(?<![Tt]here )\b(is|are) no (column|file|model|class|number|type|array|classifier)\b": (
        "is not a ..."
    ),
    r"\bno column but\b": "no column other than",
    r"\bright (in|about) \S*\d": "correct ... of the time",
    r"\b(what|rows|class) (was|were) said\b": "predicted",
    r"\bhad no part\b": "held-out",
    r"\bgainsay|\bhitherto|\bwherein|\bthereof|\btherein|\bthereby\b": "a plain word",
    r"\bgive such\b": "use one",
    r"\blook again\b": "review",
    r"\bknow(s)? of other\b": "cover",
}
"""What is not written, and what is."""


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Return the line and the text of each literal of several words that is not a docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            left_out |= {id(part) for part in parts}
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
            yield node.lineno, text
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in left_out and len(node.value.split()) >= FEWEST_WORDS:
            yield node.lineno, node.value


@pytest.mark.parametrize("phrase", RULED_OUT)
def test_messages_are_in_plain_english(phrase):
    found = [
        f"{path.relative_to(HOME)}:{line}: {text!r}"
        for path, (line, text) in ALL
        if re.search(phrase, text)
    ]
    assert not found, f"write: {RULED_OUT[phrase]}"


def test_the_phrases_are_found_where_they_stand(tmp_path):
    there = tmp_path / "module.py"
    there.write_text('"""It is told."""\nraise ValueError(f"{x} is no file" " and goes on")\n')
    ((_, text),) = messages(there)
    assert text == "{} is no file and goes on"
    assert sum(bool(re.search(phrase, text)) for phrase in RULED_OUT) == 2


ALL = [(path, one) for path in sorted(HOME.rglob("*.py")) for one in messages(path)]
