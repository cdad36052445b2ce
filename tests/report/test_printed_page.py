"""What a page prints of radii and changes is true when it is read back."""

import html
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from given_changes import named_table
from protolearn import GLVQ, certified_radius
from protolearn.report import write
from protolearn.tables import table_pipeline

LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


def rows_of(table):
    if table != "named":
        X, y = LOADERS[table](return_X_y=True, as_frame=True)
        return X, np.array([f"class {code}" for code in y])
    rows, y = named_table()
    frame = pd.DataFrame(rows).replace("", None)
    frame = frame.astype(dict.fromkeys(frame.columns[[0, 1, 4]], float))
    frame[frame.columns[3]] = pd.to_datetime(frame.iloc[:, 3])
    return frame, y


def cards_of(page):
    """Give of each card the place of its row, its text, the promised class and the changes."""
    for card in re.findall(r'<article[^>]*id="case-.*?</article>', page, re.DOTALL):
        place = int(re.search(r"<h3>Row (\d+)</h3>", card)[1])
        label = re.search(r"<caption>It would be (.*?) with</caption>", card)
        cells = re.findall(r'<th scope="row">(.*?)</th><td>(.*?) → (.*?)</td>', card)
        changes = [[html.unescape(cell.replace("<wbr>", "")) for cell in line] for line in cells]
        yield place, card, label and html.unescape(label[1]), changes


@pytest.mark.parametrize(
    ("name", "kind"), [*product(LOADERS, ["table", "scaler", "numbers"]), ("named", "table")]
)
def test_changes_on_the_page_give_the_promised_class(tmp_path, name, kind):
    X, y = rows_of(name)
    last = GLVQ(random_state=0)
    scaled = make_pipeline(StandardScaler(), last)
    model = {"table": table_pipeline(last), "scaler": scaled, "numbers": last}[kind].fit(X, y)
    page = write(model, X, y, tmp_path / "page.html", cv=2, n_refits=0).read_text("utf-8")
    places, promised, rows = [], [], X.copy()
    for place, _, label, changes in cards_of(page):
        places.append(place)
        promised.append(label)
        assert changes
        for column, _, value in changes:
            read = {"f": float, "M": pd.Timestamp}.get(X[column].dtype.kind, str)
            rows.loc[X.index[place], column] = read(value)
    assert len(places) > 5
    assert model.predict(rows.iloc[places]).tolist() == promised
    assert (model.predict(X.iloc[places]) != promised).all()


def test_radii_on_the_page_are_rounded_down(tmp_path):
    X, y = rows_of("wine")
    model = table_pipeline(GLVQ(random_state=0)).fit(X, y)
    page = write(model, X, y, tmp_path / "page.html", cv=2, n_refits=0).read_text("utf-8")
    radius = certified_radius(model[-1], model[:-1].transform(X))
    number = 0
    for place, card, *_ in cards_of(page):
        for text in re.findall(r"The certified radius of its answer is ([\d.e-]+), in", card):
            assert 0.9 * radius[place] <= float(text) <= radius[place]
            number += 1
    assert number > 1
    (half,) = re.findall(r"For half of the rows the radius is at least ([\d.]+), in", page)
    assert 0.9 * np.median(radius) <= float(half) <= np.median(radius)
    right = model.predict(X) == y
    told = re.findall(r"correct for ([\d.]+)% of the rows, if no change is ([\d.]+) or", page)
    assert len(told) > 100
    for share, most in told:
        assert float(share) <= 100.0 * np.mean(right & (radius >= float(most)))
