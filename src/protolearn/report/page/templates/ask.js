/* Ask: a row of any values, and all that the model says of it. The table of cases. The threshold. */
if (live) {
  const { columns } = live.document;
  const answerBox = byId("ask-answer");
  const start = byId("ask-start");
  const rowInput = byId("ask-row");
  const fields = fieldsIn(byId("ask-fields"), "ask", () => tell(), {
    text: "may change", checked: true, changed: () => tell(),
  });
  let title = "These values";

  const prototypes = () => now.document.prototypes.map((w, k) => [`prototype ${k + 1}: ${nameOf(now.document.prototype_classes[k])}`, w]);
  const fillStart = () => {
    const names = live.edits || live.document.prototypes.length ? prototypes() : [];
    start.replaceChildren(make("option", "choose", { value: "" }), ...optionsOf(names.map(([name]) => name)));
  };

  /** Return the answer about a row, with what would change it; or the reason why there is none. */
  const consider = (row) => {
    const z = now.model.encode(row);
    const answer = now.model.decide(z);
    return { row, z, answer, changes: changesOf(now.model, live.ends, row, z, fields.isMarked()) };
  };
  const changeText = ({ changes, code }) => `${changes.map(({ j, from, to }) => `${live.ends[j].name}: ${valueText(from, columns[j])} → ${valueText(to, columns[j])}`).join(", ")} gives ${nameOf(code)}`;
  const changeList = (found) => {
    const list = make("ul");
    list.append(...found.map((one) => make("li", changeText(one))));
    return list;
  };
  /** Return what would change the answer: the smallest change of all, and those of one column. */
  const changeParts = ({ ones, all, isProved }) => {
    const where = "of the columns that may change, within the values of the rows,";
    if (all === null) return [make("p", isProved ? `No change ${where} gives another answer.` : `No change ${where} was found to give another answer.`)];
    const jumps = all.changes.filter(({ j }) => columns[j].categories).map(({ j }) => live.ends[j].apart);
    const unit = jumps.length === all.changes.length ? "" : all.changes.length > 1 ? " standard deviations, added up over the columns" : " standard deviations";
    const size = `Its size is ${digits(all.cost, 3)}${unit}${jumps.length ? `${unit ? "; " : ", since "}another category counts as ${digits(jumps[0])}` : ""}.`;
    const told = isProved ? "It is proved to be the smallest within the values of the rows." : "There may be a smaller one.";
    const parts = [make("p", isProved ? "The smallest change of all that gives another answer:" : "The smallest change that was found to give another answer:"), changeList([all]), make("p", `${size} ${told}`, { className: "note" })];
    const others = all.changes.length > 1 ? ones.slice(0, 3) : ones.slice(1, 3);
    const which = `The ${all.changes.length > 1 ? "smallest" : "next"} change${others.length > 1 ? "s" : ""} of one column alone:`;
    if (others.length) parts.push(make("p", which), changeList(others));
    else if (!ones.length) parts.push(make("p", "No change of one column alone does."));
    return parts;
  };

  /** Return the reasons by column, the strongest first: name, value, share. */
  const reasonsOf = (row, answer) => {
    const total = answer.contributions.reduce((sum, value) => sum + Math.abs(value), 0) || 1;
    return answer.contributions.map((value, j) => ({ j, name: live.ends[j].name, text: valueText(row[j], columns[j]), share: value / total }))
      .filter(({ j }) => columns[j].kind !== "unused")
      .sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  };
  const sureText = (answer) => {
    const parts = [];
    if (answer.margin !== null) parts.push(`The answer stays the same while every prototype moves by less than ${boundText(answer.margin, 4)} (hypothesis margin).`);
    if (answer.certifiedRadius !== null) parts.push(`Every row that is nearer than ${boundText(answer.certifiedRadius)} gets the same answer (certified radius, in ${live.unit}).`);
    return parts;
  };

  /** Show all that the model says of the values in the form. */
  const tell = () => {
    let found;
    try {
      found = consider(fields.row());
    } catch (error) {
      answerBox.replaceChildren(make("p", error.message));
      now.asked = null;
      return;
    }
    const { row, answer, changes } = found;
    now.asked = { ...found, title };
    answerBox.dataset.code = String(answer.code);
    byId("ask-brief").textContent = nameOf(answer.code) + (answer.probabilities ? `, ${percent(answer.probabilities[answer.code])}` : "");
    const parts = [make("h3", `${title}: ${page.classes[answer.code]}`)];
    if (answer.rejected) parts.push(make("p", "The model would leave this row to a person."));
    if (answer.probabilities) {
      const order = answer.probabilities.map((value, c) => [value, c]).sort((a, b) => b[0] - a[0]).slice(0, 6);
      parts.push(tableOf("Probability", [], order.map(([value, c]) => {
        const bar = make("td");
        const drawn = make("span", undefined, { className: `share c${c % 8}` });
        drawn.append(make("i"));
        drawn.firstChild.style.width = percent(value);
        bar.append(drawn);
        return [nameOf(c), percent(value), bar];
      }), "shares"));
    }
    const reasons = reasonsOf(row, answer).slice(0, 12);
    parts.push(tableOf(`Reasons: the share of each column, for (+) or against (−) ${nameOf(answer.code)}`, [], reasons.map(({ name, text, share }) => [name, text, `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`]), "reasons"));
    if (answer.nearestPrototype !== null && live.edits) parts.push(make("p", `The nearest prototype is prototype ${answer.nearestPrototype + 1}, of ${nameOf(now.document.prototype_classes[answer.nearestPrototype])}.`));
    parts.push(...sureText(answer).map((text) => make("p", text)));
    answerBox.replaceChildren(...parts, ...changeParts(changes));
  };

  const show = (row, name) => {
    fields.show(row);
    title = name;
    tell();
  };
  const openRow = (i) => {
    rowInput.value = live.table.names[i];
    start.value = "";
    show(now.rows[i], `Row ${live.table.names[i]}`);
  };
  start.addEventListener("change", () => {
    if (start.value === "") return;
    const [name, w] = prototypes()[Number(start.value)];
    show(valuesOf(w), `Values near ${name}`);
  });
  rowInput.addEventListener("change", () => {
    const i = live.table.names.indexOf(rowInput.value.trim());
    if (i >= 0) openRow(i);
    else { tell(); answerBox.prepend(make("p", noRow(rowInput.value))); }
  });
  byId("ask-form").addEventListener("submit", (event) => event.preventDefault());
  byId("ask-fields").addEventListener("input", () => { if (!title.endsWith(", changed") && title !== "These values") title += ", changed"; }, true);
  now.listeners.push(() => { fillStart(); tell(); });
  fillStart();
  openRow(0);

  /* The row that is chosen on the map opens here. */
  const panel = byId("row");
  if (panel) new MutationObserver(() => {
    const chosen = document.querySelector("#world .chosen");
    if (!chosen || panel.querySelector("button")) return;
    const button = make("button", "Ask about this row", { type: "button" });
    button.addEventListener("click", () => { openRow(live.table.drawn[Number(chosen.dataset.row)]); openTab("ask"); });
    const line = make("p");
    line.append(button);
    panel.append(line);
  }).observe(panel, { childList: true });
  document.querySelector("#world svg")?.addEventListener("dblclick", (event) => {
    if (event.target.dataset.row === undefined) return;
    openRow(live.table.drawn[Number(event.target.dataset.row)]);
    openTab("ask");
  });

  /* All cases in a table. */
  const AT_ONCE = 15;
  const heads = ["row", "label", "predicted", "probability", "margin", "certified radius"];
  let lines = null;
  let order = { by: 0, down: false };
  let n_shown = AT_ONCE;
  const lineOf = (row, i) => {
    let answer = null;
    try { answer = now.model.decide(now.model.encode(row)); } catch { /* a row without a needed value */ }
    const numbers = answer === null ? [NaN, NaN, NaN] : [answer.probabilities ? answer.probabilities[answer.code] : NaN, answer.margin ?? NaN, answer.certifiedRadius ?? NaN];
    const said = answer === null ? "no answer" : nameOf(answer.code);
    const text = [live.table.names[i], nameOf(now.truth[i]), said, ...row.map((value, j) => valueText(value, columns[j]))].join("\n").toLowerCase();
    return { i, text, values: [i, now.truth[i], answer === null ? -1 : answer.code, ...numbers], cells: [live.table.names[i], nameOf(now.truth[i]), said, numbers[0] === numbers[0] ? percent(numbers[0]) : "", ...numbers.slice(1).map((value) => (value === value ? boundText(value) : ""))] };
  };
  const drawCases = () => {
    if (!byId("cases").classList.contains("open")) { lines = null; return; }
    lines = lines || now.rows.map(lineOf);
    const words = byId("case-search").value.trim().toLowerCase();
    const errors = byId("case-errors").checked;
    const found = lines.filter((line) => line.text.includes(words) && (!errors || line.values[1] !== line.values[2]));
    const value = (line) => line.values[order.by];
    found.sort((a, b) => {
      const [x, y] = order.down ? [value(b), value(a)] : [value(a), value(b)];
      return x !== x ? 1 : y !== y ? -1 : x - y || a.i - b.i;
    });
    const table = tableOf("", [], found.slice(0, n_shown).map((line) => {
      const head = make("th", undefined, { scope: "row" });
      const button = make("button", line.cells[0], { type: "button", className: "link" });
      button.setAttribute("aria-label", `Ask about row ${line.cells[0]}`);
      button.addEventListener("click", () => { openRow(line.i); openTab("ask"); });
      head.append(button);
      return [head, ...line.cells.slice(1)];
    }), "dense");
    const head = make("tr");
    head.append(...heads.map((name, k) => {
      const cell = make("th", undefined, { scope: "col" });
      cell.setAttribute("aria-sort", order.by !== k ? "none" : order.down ? "descending" : "ascending");
      const button = make("button", name, { type: "button", className: "link" });
      button.addEventListener("click", () => {
        order = { by: k, down: order.by === k && !order.down };
        drawCases();
        byId("case-table").querySelectorAll("thead button")[k].focus();
      });
      cell.append(button);
      return cell;
    }));
    table.prepend(make("thead"));
    table.tHead.append(head);
    byId("case-table").replaceChildren(table);
    byId("case-count").textContent = `${found.length.toLocaleString("en")} of ${lines.length.toLocaleString("en")} rows`;
    byId("case-more").hidden = found.length <= n_shown;
  };
  byId("case-search").addEventListener("input", () => { n_shown = AT_ONCE; drawCases(); });
  byId("case-errors").addEventListener("change", drawCases);
  byId("case-more").addEventListener("click", () => { n_shown += 4 * AT_ONCE; drawCases(); });
  new MutationObserver(drawCases).observe(byId("cases"), { attributeFilter: ["class"] });
  now.listeners.push(() => { lines = null; drawCases(); });
  drawCases();
  Object.assign(now, { openRow, reasonsOf, changeParts, sureText, consider });
}

/* The threshold of a class, and what its errors cost, on held-out rows. */
if (page.judged) {
  const P = page.judged.shares.map(unpackNumbers);
  const truth = unpackNumbers(page.judged.truth);
  const n = truth.length;
  const [chosen, slider, cost] = ["positive", "cutoff", "cost"].map((name) => byId(`threshold-${name}`));
  const count = (c, cutoff) => {
    const cells = [[0, 0], [0, 0]];
    for (let i = 0; i < n; i++) cells[truth[i] === c ? 0 : 1][P[c][i] >= cutoff ? 0 : 1]++;
    return cells;
  };
  const expected = (cells, ratio) => (ratio * cells[0][1] + cells[1][0]) / n;
  const ratio = (a, b) => (b ? percent(a / b) : "none");
  const draw = () => {
    const c = Number(chosen.value);
    const cutoff = Number(slider.value);
    const factor = Number(cost.value);
    const cells = count(c, cutoff);
    const [[hit, missed], [wrong, right]] = cells;
    const name = nameOf(c);
    byId("threshold-cutoff-value").textContent = cutoff.toFixed(2);
    byId("threshold-cost-value").textContent = String(factor);
    const tries = Array.from({ length: 101 }, (_, k) => expected(count(c, k / 100), factor));
    const least = tries.indexOf(Math.min(...tries));
    byId("threshold-result").replaceChildren(
      tableOf(`Confusion matrix at this threshold, ${n.toLocaleString("en")} rows`, ["true class", `predicted ${name}`, "predicted another"], [
        [name, String(hit), String(missed)], ["another", String(wrong), String(right)]]),
      tableOf("", [], [["precision", ratio(hit, hit + wrong)], ["recall", ratio(hit, hit + missed)],
        ["expected cost of a row", digits(expected(cells, factor))]]),
      make("p", `The expected cost is least at a threshold of ${(least / 100).toFixed(2)}: ${digits(tries[least])}. A threshold that is chosen here looks a little better than it is on new rows.`, { className: "note" }));
  };
  chosen.append(...optionsOf(page.classes));
  chosen.value = String(page.classes.length === 2 ? 1 : 0);
  [chosen, slider, cost].forEach((control) => control.addEventListener("input", draw));
  draw();
}
