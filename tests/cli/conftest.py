"""Commands, and a model that was learned by one."""

import pytest

from given_command import Command
from given_pets import FIT, pets, write


@pytest.fixture(scope="session")
def command():
    """Give what runs commands."""
    found = Command()
    yield found
    found.close()


@pytest.fixture(scope="session")
def fitted(command, tmp_path_factory):
    """Give a folder with a table, the results of ``fit``, and what was told."""
    folder = tmp_path_factory.mktemp("fitted")
    write(folder / "pets.csv", pets())
    done = command("fit", "pets.csv", *FIT, "--out", "results", cwd=folder)
    assert done.code == 0, done.err
    return folder, done


@pytest.fixture(scope="session")
def model(fitted):
    """Give the file of the model."""
    return fitted[0] / "results" / "model.protolearn"
