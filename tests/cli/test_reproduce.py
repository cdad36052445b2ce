"""Published experiments by the command: what is told, what is left, what goes wrong."""

import csv
from importlib.metadata import entry_points

import pytest
from typer.testing import CliRunner

import protolearn_papers
from protolearn.cli import app
from protolearn.cli.reproduce_command import GROUP, run_reproduce
from protolearn_papers import experiments

NAME = "crammer-fig4"


@pytest.fixture(scope="module")
def done(command, tmp_path_factory):
    """Give a folder in which an experiment was run, and what was told."""
    folder = tmp_path_factory.mktemp("reproduce")
    found = command("reproduce", NAME, "--quick", "--jobs", "1", "--seed", "3", cwd=folder)
    assert found.code == 0, found.err
    return folder / f"protolearn-{NAME}-quick", found


def test_all_experiments_are_listed(command, tmp_path):
    found = command("reproduce", "--list", cwd=tmp_path)
    assert found.code == 0
    for one in experiments():
        assert one.name in found.out


def test_seed_source_and_where_to_look_are_told(done):
    folder, found = done
    assert "Crammer et al. (2002), figure 4" in found.out
    assert "Seed 3." in found.out
    assert f"{folder.name}/results.md" in found.out.replace("\n", "")


def test_results_are_a_page_numbers_and_pictures(done):
    folder, _ = done
    assert "--seed 3 --quick" in (folder / "results.md").read_text()
    with (folder / "hinge_loss.csv").open(newline="") as file:
        assert float(next(csv.DictReader(file))["start"]) > 0.0
    assert (folder / "fig4.png").stat().st_size > 1000


def test_a_finished_run_is_not_done_again(done, monkeypatch, capsys):
    folder, _ = done
    before = (folder / "hinge_loss.csv").read_bytes()

    def never(*given):
        raise AssertionError("done again")

    monkeypatch.setattr("protolearn_papers.crammer.fig4.follow", never)
    run_reproduce(NAME, True, folder, 3, 1)
    assert (folder / "hinge_loss.csv").read_bytes() == before
    assert "Hinge loss" in capsys.readouterr().out


def test_results_of_another_seed_are_not_mixed(done, command):
    folder, _ = done
    found = command("reproduce", NAME, "--quick", "--out", folder.name, cwd=folder.parent)
    assert found.code == 2
    assert "seed was 3 and is 0" in found.err
    assert "another folder" in found.err


def test_a_wrong_name_leaves_nothing(command, tmp_path):
    found = command("reproduce", "crammer-fig5", cwd=tmp_path)
    assert found.code == 2
    assert "Did you mean 'crammer-fig4'" in found.err
    assert list(tmp_path.iterdir()) == []


def test_data_that_cannot_be_had_are_told(command, tmp_path):
    """A network that is refused stands for none."""
    refused = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "127.0.0.1:9")
    refused |= {"PROTOLEARN_DATA": str(tmp_path), "SCIKIT_LEARN_DATA": str(tmp_path)}
    found = command("reproduce", "jin-fig2", "--quick", "--jobs", "1", cwd=tmp_path, env=refused)
    assert found.code == 2
    assert "'usps'" in found.err
    assert "PROTOLEARN_DATA" in found.err


@pytest.mark.parametrize("given", [["--list"], [NAME, "--quick"], ["all"]])
def test_a_missing_distribution_is_named_in_one_sentence(given, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("protolearn.cli.reproduce_command.entry_points", lambda group: ())
    found = CliRunner().invoke(app, ["reproduce", *given])
    assert found.exit_code == 1
    assert isinstance(found.exception, SystemExit)  # and no traceback
    (line,) = found.output.splitlines()
    assert line.startswith("protolearn reproduce: ")
    assert "pip install protolearn-papers" in line
    assert "pip install ./papers" in line
    assert list(tmp_path.iterdir()) == []


def test_the_entry_point_leads_to_the_package():
    (found,) = entry_points(group=GROUP)
    assert found.load() is protolearn_papers
