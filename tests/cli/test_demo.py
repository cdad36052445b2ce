"""The demo, and the command itself, as a person starts them."""

import subprocess
import sys

import protolearn
from given_command import PROTOLEARN


def run(*args, cwd):
    """Run the installed command, as a shell does."""
    return subprocess.run([PROTOLEARN, *args], capture_output=True, text=True, cwd=cwd)


def test_demo(command, tmp_path):
    done = run("demo", "--time", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    typed = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("$ ")]
    assert typed == ["fit", "predict", "explain", "compare", "datasets"]
    assert "569 rows, 31 columns" in done.stdout
    assert "would be benign instead of malignant" in done.stdout or (
        "would be malignant instead of benign" in done.stdout
    )
    folder = tmp_path / "protolearn-demo"
    names = ["answers.csv", "metrics.json", "model.protolearn", "predictions.csv"]
    assert sorted(path.name for path in folder.iterdir()) == [*names, "report.html", "wdbc.csv"]
    assert "Open protolearn-demo/report.html" in done.stdout.splitlines()[-1]
    again = run("demo", "--time", "4", cwd=tmp_path)  # its own results may be replaced
    assert again.returncode == 0
    (folder / "wdbc.csv").write_text("mine")
    mine = command("demo", "--time", "4", cwd=tmp_path)
    assert mine.code == 2
    assert (folder / "wdbc.csv").read_text() == "mine"


def test_unknown_set(command, tmp_path):
    done = command("demo", "--data", "nosuch", cwd=tmp_path)
    assert done.code == 2
    assert "nosuch" in done.sentence


def test_help_version_and_lists(command, tmp_path):
    done = command("--help", cwd=tmp_path)
    assert done.code == 0
    names = ("fit", "predict", "explain", "export", "compare", "datasets", "demo", "lecture")
    assert all(name in done.out for name in names)
    assert command("--version", cwd=tmp_path).out.strip() == f"protolearn {protolearn.__version__}"
    assert "gmlvq" in command("compare", "--list-models", cwd=tmp_path).out
    listed = command("datasets", cwd=tmp_path)
    assert listed.code == 0
    assert "iris" in listed.out


def test_compare_in_a_process_of_its_own(command, tmp_path):
    done = command("compare", "iris", "--models", "lda,mean-of-class", "--folds", "3", cwd=tmp_path)
    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines()[2:5]] == [
        "model",
        "lda",
        "mean-of-class",
    ]


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    head = f"{PROTOLEARN} datasets | {sys.executable} -c 'pass'"
    done = subprocess.run(head, shell=True, capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
