"""The demo, as a person starts it."""

import subprocess
import sys
from pathlib import Path

PROTOLEARN = str(Path(sys.executable).parent / "protolearn")


def run(*args, **kwargs):
    return subprocess.run([PROTOLEARN, *args], capture_output=True, text=True, **kwargs)


def test_demo(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "petal length (cm)" in done.stdout
    assert "versicolor" in done.stdout
    assert "Margins" in done.stdout
    assert "away: versicolor -> virginica: petal" in done.stdout
    picture = tmp_path / "protolearn-demo" / "iris.png"
    assert str(picture.relative_to(tmp_path)) in done.stdout.splitlines()[-1]
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert [p.name for p in picture.parent.iterdir()] == ["iris.png"]


def test_unknown_set(tmp_path):
    done = run("demo", "--data", "nosuch", cwd=tmp_path)
    assert done.returncode == 2
    assert "nosuch" in done.stderr
    assert "Traceback" not in done.stderr
