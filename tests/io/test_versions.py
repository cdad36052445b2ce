"""Files that earlier versions wrote are loaded, and predict what they did."""

import json

import pytest

import protolearn
from given_versions import VERSIONS, given, models, predictions

FILES = sorted(VERSIONS.glob("*/*.protolearn"))


@pytest.mark.filterwarnings("ignore:.*was saved with")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_version_predicts_what_it_did(path):
    expected = json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))
    model = protolearn.load(path)
    assert predictions(model, given(path.stem)) == expected[path.stem]


@pytest.mark.parametrize("folder", sorted(VERSIONS.iterdir()), ids=lambda folder: folder.name)
def test_every_kind_of_model_is_there(folder):
    names = {path.stem for path in folder.glob("*.protolearn")}
    assert names == json.loads((folder / "expected.json").read_text(encoding="utf-8")).keys()
    assert len(names) >= 12
    assert names <= models().keys()


@pytest.mark.filterwarnings("ignore:.*was saved with")
def test_a_file_of_a_version_has_the_defaults_of_later_parameters():
    model = protolearn.load(VERSIONS / "0.1.0.dev0" / "pipeline.protolearn")
    assert model[-1].get_params()["multi_class"] == "auto"
    assert model[-1].kernel == "linear"
