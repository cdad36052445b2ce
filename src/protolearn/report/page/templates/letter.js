/* The decision letter of a case, on one page, and the model card. */
if (live) {
  const { columns } = live.document;
  const letter = byId("letter");
  const MOST_REASONS = 6;

  /** Return the rows nearest to z, as the model measures them, of a class or of all others. */
  const neighboursOf = (z, code, isSame, most) => {
    const { maps, map_of: mapOf, prototype_classes: classes } = now.document;
    const map = maps[mapOf[Math.max(classes.indexOf(code), 0)] ?? 0] ?? null;
    const far = (other) => {
      const e = z.map((value, j) => (value - other[j] === value - other[j] ? value - other[j] : 0));
      if (map === null) return e.reduce((sum, value) => sum + value * value, 0);
      if (map.diagonal) return e.reduce((sum, value, j) => sum + (map.diagonal[j] * value) ** 2, 0);
      return map.matrix.reduce((sum, row) => sum + row.reduce((total, value, j) => total + value * e[j], 0) ** 2, 0);
    };
    const found = [];
    now.rows.forEach((row, i) => {
      if ((now.truth[i] === code) !== isSame) return;
      let other;
      try { other = now.model.encode(row); } catch { return; }
      const D = far(other);
      if (D > 0) found.push({ i, D });
    });
    return found.sort((a, b) => a.D - b.D).slice(0, most).map(({ i }) => `row ${live.table.names[i]} (${nameOf(now.truth[i])})`);
  };

  const section = (title, ...parts) => [make("h3", title), ...parts.map((part) => (typeof part === "string" ? make("p", part) : part))];

  function write() {
    const { row, z, answer, changes, title } = now.asked;
    const { code } = answer;
    const name = nameOf(code);
    const reasons = now.reasonsOf(row, answer).filter(({ share }) => share !== 0).slice(0, MOST_REASONS);
    const chance = answer.probabilities ? `, with a probability of ${percent(answer.probabilities[code])}` : "";
    const same = neighboursOf(z, code, true, 3);
    const others = neighboursOf(z, code, false, 2);
    const [held] = [live.errors];
    const own = held.rows[code];
    const errs = held.rows.map((one, c) => ({ c, ...one })).filter(({ n, recall }) => n > 0 && recall < 1)
      .sort((a, b) => a.recall - b.recall).slice(0, 3);
    letter.replaceChildren(
      make("p", "Decision letter", { className: "brand" }),
      make("h2", `${title}: ${name}`),
      make("p", `${document.querySelector("h1").textContent}. ${new Date().toISOString().slice(0, 10)}.`, { className: "note" }),
      ...section("The answer", `The model predicts ${name}${chance}.${answer.rejected ? " It would leave this row to a person." : ""}${now.edits && now.edits.length ? " The model was edited by hand." : ""}`),
      ...section("The reasons", tableOf("", ["column", "value", "speaks", "share"], reasons.map((one) => [one.name, one.text, one.share > 0 ? `for ${name}` : `against ${name}`, percent(Math.abs(one.share))])),
        ...(same.length ? [`Most similar of ${name}: ${same.join(", ")}.${others.length ? ` Most similar of other classes: ${others.join(", ")}.` : ""}`] : [])),
      ...section("What would have changed it", ...now.changeParts(changes), "Only columns that can change are considered."),
      ...section("How sure", ...now.sureText(answer), ...(own.precision === null ? [] : [`On ${held.how} rows, ${percent(own.precision)} of the predictions of ${name} were correct${now.edits && now.edits.length ? ", before the edits" : ""}.`])),
      ...section("Whom the model errs on", errs.length ? `${errs.map(({ c, recall, n }) => `${nameOf(c)}: ${percent(1 - recall)} of ${n.toLocaleString("en")} rows predicted wrongly`).join("; ")}.` : `No ${held.how} row was predicted wrongly.`, ...held.groups),
    );
  }
  const open = () => {
    if (!now.asked) return;
    write();
    letter.hidden = false;
    byId("letter-close").hidden = false;
    byId("letter-print").hidden = false;
    document.documentElement.classList.add("with-letter");
    letter.focus();
    letter.scrollIntoView({ block: "nearest" });
  };
  const close = () => {
    letter.hidden = true;
    byId("letter-close").hidden = true;
    byId("letter-print").hidden = true;
    document.documentElement.classList.remove("with-letter");
    byId("letter-open").focus();
  };
  byId("letter-open").addEventListener("click", open);
  byId("letter-close").addEventListener("click", close);
  byId("letter-print").addEventListener("click", () => print());
}
const use = byId("card-use");
if (use) {
  const card = byId("card-text");
  const whole = card.textContent;
  const [blank] = [use.dataset.blank];
  use.addEventListener("input", () => { card.textContent = whole.replace(blank, () => use.value.trim() || blank); });
  byId("card-save").addEventListener("click", () => {
    make("a", undefined, { href: `data:text/markdown;charset=utf-8,${encodeURIComponent(card.textContent)}`, download: "model_card.md" }).click();
  });
}
document.documentElement.dataset.ready = "yes";
