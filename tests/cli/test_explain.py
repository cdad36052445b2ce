"""Why the model says what it says about a row."""

import re

import pytest

import protolearn
from given_changes import fewest_columns
from given_pets import write
from protolearn import counterfactual, explain
from protolearn.tables import read_table


def explained(command, fitted, *more):
    done = command("explain", "results/model.protolearn", "pets.csv", *more, cwd=fitted[0])
    assert done.code == 0, done.err
    return done.out


@pytest.fixture(scope="module")
def row(fitted):
    return read_table(fitted[0] / "pets.csv").frame[6:7]


def test_the_row_beside_its_prototypes(command, fitted, model, row):
    shown = explained(command, fitted, "--row", "7")
    label = protolearn.load(model).predict(row)[0]
    share = protolearn.load(model).predict_proba(row).max()
    assert shown.startswith(f"Row 7: {label}, with probability {share:.1%} (")
    head = next(line for line in shown.splitlines() if line.startswith("column"))
    assert re.split(r"  +", head.strip())[:2] == ["column", "this row"]
    kind = "prototype" if "prototype" in head else "mean of"
    assert head.index(f"{kind} {label}") < head.rindex(kind)
    weight = next(line for line in shown.splitlines() if line.startswith("weight <b>kg</b>"))
    assert f"{row['weight <b>kg</b>'][0]:g}" in weight
    assert "(certified radius, in" in shown


def test_shares_of_columns_in_their_order(command, fitted, model, row):
    shown = explained(command, fitted, "--row", "7")
    found = explain(protolearn.load(model), row, n=0)
    told = re.findall(r"^(\S.*?) {2,}.*?([+-]\d+\.\d) % *$", shown, re.MULTILINE)
    shares = found.contributions[0] / abs(found.contributions[0]).sum()
    by_name = {str(name): share for name, share in zip(found.columns, shares, strict=True)}
    assert [name for name, _ in told] == sorted(by_name, key=lambda name: -abs(by_name[name]))
    assert all(float(text) == pytest.approx(100 * by_name[name], abs=0.06) for name, text in told)


def test_the_smallest_change(command, fitted, model, row):
    shown = explained(command, fitted, "--row", "7")
    nearest = counterfactual(protolearn.load(model), row)
    assert f"The smallest change of all: {nearest.describe(0)}." in shown


def test_fixed_columns_and_a_wanted_class(command, fitted, model, row):
    loaded = protolearn.load(model)
    own = loaded.predict(row)[0]
    other = next(label for label in loaded.classes_ if label != own)
    shown = explained(command, fitted, "--row", "7", "--to", other, "--fixed", "weight <b>kg</b>")
    sentence = next(line for line in shown.splitlines() if "smallest change" in line)
    assert "weight" not in sentence
    assert f"would be {other} instead of {own} if " in sentence or "no allowed change" in sentence
    assert f"It is {own} already." in explained(command, fitted, "--row", "7", "--to", own)


def test_several_fixed_columns_with_a_comma(command, fitted, model):
    names = [str(column.name) for column in protolearn.load(model)[0].columns_]
    shown = explained(command, fitted, "--row", "7", "--fixed", ",".join(names[1:]))
    sentences = [line for line in shown.splitlines() if "smallest change" in line]
    assert not any(name in sentences[0] for name in names[1:])


def test_exemplars_and_contributions_in_words(command, fitted):
    shown = " ".join(explained(command, fitted, "--row", "7").split())
    assert "Nearest rows of the data, counted from 1: " in shown
    assert "The contributions add up to " in shown


def test_names_in_square_brackets(command, tmp_path):
    rows = [{"[/b] a": i % 9, "[red]b": -i, "y": ["[/i]", "[u]x"][i // 10]} for i in range(20)]
    write(tmp_path / "signs.csv", rows)
    settings = ("--target", "y", "--model", "glvq", "--fits", "2", "--folds", "2", "--out", "out")
    done = command("fit", "signs.csv", *settings, cwd=tmp_path)
    assert done.code == 0, done.err
    assert all(name in done.out for name in rows[0])
    done = command("explain", "out/model.protolearn", "signs.csv", "--row", "3", cwd=tmp_path)
    assert done.code == 0, done.err
    assert all(name in done.out for name in ("[/b] a", "[red]b", "Row 3: [/i]", "prototype [u]x"))


def test_fewest_columns(command, fitted):
    shown = explained(command, fitted, "--row", "7")
    whole = next(line for line in shown.splitlines() if line.startswith("The smallest change"))
    assert 1 <= len(fewest_columns(shown)) <= whole.count(" were ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", "91"], "--row 91: 'pets.csv' has rows 1 to 90."),
        (["--row", "0"], "--row 0: 'pets.csv' has rows 1 to 90."),
        (["--to", "dead"], "the model has no class 'dead'; its classes are "),
        (["--fixed", "wheight"], "the model has no column 'wheight'."),
    ],
)
def test_wrong_questions(command, fitted, options, message):
    done = command("explain", "results/model.protolearn", "pets.csv", *options, cwd=fitted[0])
    assert done.code == 2
    assert done.sentence.startswith(f"protolearn explain: {message}")
