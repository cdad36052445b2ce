"""Edits of a model, and whether two that were edited are the same."""

import numpy as np

from protolearn import certified_radius
from protolearn.analysis import margin_of_prediction
from protolearn.rule import as_rule

WHY = {"reason": "because", "author": "Ada", "time": "2024-05-31"}


def random_edits(document, n_edits, seed):
    """Give edits of every kind that are possible one after the other."""
    rng = np.random.RandomState(seed)
    codes, edits = list(document["prototype_classes"]), []
    columns = [column for column in document["columns"] if column["kind"] != "unused"]

    def value(column):
        if "categories" in column:
            return column["categories"][rng.randint(len(column["categories"]))]
        return column["offset"] + rng.normal() / column["scale"]

    while len(edits) < n_edits:
        kind = rng.choice(["move", "move", "move", "add", "add", "remove", "relabel", "merge"])
        k, label = rng.randint(len(codes)), rng.randint(len(document["classes"]))
        others = [i for i in range(len(codes)) if i != k and codes[i] == codes[k]]
        if kind == "move":
            some = rng.choice(len(columns), min(3, len(columns)), replace=False)
            moved = {columns[j]["name"]: value(columns[j]) for j in some}
            edit = {"prototype": k, "values": moved}
        elif kind == "add" and len(codes) < 25:
            edit = {"values": {c["name"]: value(c) for c in columns}}
            edit["label"] = document["classes"][label]
            codes.append(label)
        elif kind == "relabel" and others and label != codes[k]:
            edit = {"prototype": k, "label": document["classes"][label]}
            codes[k] = label
        elif kind == "remove" and others:
            edit = {"prototype": k}
            del codes[k]
        elif kind == "merge" and others:
            edit = {"prototype": k, "other": others[0]}
            del codes[others[0]]
        else:
            continue
        edits.append({"edit": str(kind), **edit, **WHY})
    return edits


def assert_equal_models(found, edited, frame, y, slack=1e-9):
    """Compare what the page says with the model that Python has edited."""
    code = np.searchsorted(edited.classes_, edited.predict(frame))
    scores = np.sort(edited.decision_function(frame).reshape(len(frame), -1), axis=1)
    clear = np.abs(scores[:, -1] - (scores[:, -2] if scores.shape[1] > 1 else 0.0)) > 1e-9
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(np.array(found["code"])[clear], code[clear])
    assert found["correct"] == (code == np.searchsorted(edited.classes_, y)).sum()
    assert np.sum(found["confusion"]) == len(y)
    answers = found["answers"]
    P = np.array([one["probabilities"] for one in answers])
    np.testing.assert_allclose(P, edited.predict_proba(frame), atol=1e-6)
    *steps, last = [step for _, step in edited.steps]
    Z = frame
    for step in steps:
        Z = step.transform(Z)
    margin = margin_of_prediction(last, np.asarray(Z))
    for name in (found["margin"], [one["margin"] for one in answers]):
        np.testing.assert_allclose(np.array(name)[clear], margin[clear], rtol=1e-6, atol=1e-8)
    if as_rule(last).is_soft:
        return
    terms = last.contributions(np.asarray(Z))
    if terms.shape[1] == len(answers[0]["contributions"]):
        own = np.array([one["contributions"] for one in answers])
        own /= np.abs(own).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(own[clear], terms[clear], atol=1e-6)
    radius = certified_radius(last, np.asarray(Z))
    for one in (found["radius"], [one["certifiedRadius"] for one in answers]):
        one = np.array(one, dtype=float)
        assert (one <= radius * (1.0 + slack)).all()
        np.testing.assert_allclose(one, radius, atol=1e-6)
