"""
A page that classifies offline
==============================

From a CSV file to one HTML file: type a row, and the page answers with the class, the probability
and what each column contributes. The model is inside the page. It needs no server, no network and
no Python.
"""

import html
import json
import tempfile
from pathlib import Path

from protolearn import GMLVQ, datasets
from protolearn.io import document_of, javascript_module
from protolearn.tables import read_table, split_target, table_pipeline

# %%
# A table
# -------
#
# Any CSV file will do. This one has the measurements of 150 flowers and their species.

folder = Path(tempfile.mkdtemp())
X, y = datasets.load("iris")
names = ["sepal length", "sepal width", "petal length", "petal width", "species"]
lines = [",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)]
(folder / "iris.csv").write_text("\n".join([",".join(names), *lines]))

frame, species = split_target(read_table(folder / "iris.csv").frame, "species")

# %%
# A model
# -------

model = table_pipeline(GMLVQ(random_state=0)).fit(frame, species)

# %%
# A page
# ------
#
# ``javascript_module`` returns the text of an ES module: the model and everything that runs it. A
# page that is opened from a disk may not load a second file, so the module is inside the page, as
# a text that is imported. ``export(model, "iris.mjs", to="js")`` writes the file for a web site.

source = json.dumps(javascript_module(document_of(model))).replace("<", "\\u003c")
fields = "\n".join(
    f"<label>{html.escape(name)} <input name='{html.escape(name)}' type='number' step='any' "
    f"value='{frame[name].mean():.1f}'></label>"
    for name in names[:-1]
)
page = f"""<!doctype html>
<meta charset="utf-8">
<title>Which iris is it?</title>
<style>
  body {{ font: 16px sans-serif; max-width: 30em; margin: 2em auto }}
  label {{ display: block; margin: .3em 0 }}
</style>
<h1>Which iris is it?</h1>
<form>{fields}</form>
<p id="answer" role="status"></p>
<ul id="reasons"></ul>
<script type="module">
const source = {source};
const url = URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }}));
const {{ predict, columns }} = await import(url);
const form = document.querySelector("form");
function show() {{
  const answer = predict(Object.fromEntries(new FormData(form)));
  const sure = (100 * answer.probabilities[answer.code]).toFixed(0);
  document.querySelector("#answer").textContent = `${{answer.label}}, probability ${{sure}} %`;
  const total = answer.contributions.reduce((sum, part) => sum + Math.abs(part), 0);
  const reasons = columns.map((name, j) => [name, answer.contributions[j] / total]);
  reasons.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  document.querySelector("#reasons").replaceChildren(...reasons.map(([name, share]) => {{
    const item = document.createElement("li");
    item.textContent = `${{name}}: ${{share < 0 ? "against" : "for"}} it, `
      + `${{(100 * Math.abs(share)).toFixed(0)}} % of the reasons`;
    return item;
  }}));
}}
form.addEventListener("input", show);
show();
</script>
"""
(folder / "iris.html").write_text(page, encoding="utf-8")
print(f"{len(page) / 1000:.0f} kB in {folder / 'iris.html'}")

# %%
# Open the file in a browser, and change a number: the answer follows. For the same row, Python
# gives the same class.

model.predict(frame[:1])
