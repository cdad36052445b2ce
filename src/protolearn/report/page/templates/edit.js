/* Edit: prototypes are removed, moved, relabelled, added and merged, and all numbers follow. */
if (live && live.edits) {
  const { columns } = live.document;
  const [WIDTH, HEIGHT, STEP] = [640, 440, 4];
  let bench = null;
  let history = [];
  let at = 0;
  let preview = null;

  const state = () => history[at].state;
  const log = () => history.slice(1, at + 1).map((one) => one.edit);
  const prototypeNames = (list) => list.map((p, k) => `prototype ${k + 1}: ${nameOf(p.code)}`);
  const chosen = byId("edit-prototype");
  const other = byId("edit-other");
  const label = byId("edit-label");
  const status = byId("edit-status");
  const fields = fieldsIn(byId("edit-fields"), "edit", () => tryMove(), {
    text: "locked",
    checked: false,
    changed: (name, isLocked) => { if (!commit({ edit: isLocked ? "lock" : "unlock", columns: [name] })) fields.mark(state().locked); },
  });

  const say = (text) => { status.textContent = text; };
  const countChanges = (before, after) => {
    let gained = 0;
    let lost = 0;
    for (let i = 0; i < bench.n; i++) {
      const was = before.code[i] === now.truth[i];
      const is = after.code[i] === now.truth[i];
      gained += is && !was ? 1 : 0;
      lost += was && !is ? 1 : 0;
    }
    return { rows: bench.n, "correct before": before.correct, "correct after": after.correct, gained, lost };
  };
  const median = (values) => {
    const known = Float64Array.from(values.filter((value) => value === value)).sort();
    return known.length ? known[known.length >> 1] : NaN;
  };

  /* The map: regions, rows and prototypes. */
  const canvas = byId("edit-map");
  const colour = (code) => getComputedStyle(document.documentElement).getPropertyValue(`--class-${code % 8}`).trim();
  const placeOf = (z, at0) => {
    const found = ["x", "y"].map((name) => {
      const numbers = live.plane[name];
      let sum = numbers[bench.d];
      for (let j = 0; j < bench.d; j++) sum += numbers[j] * z[at0 + j];
      return sum;
    });
    return found;
  };
  let marks = null;
  let colours = null;

  /** Return the class at each place of a coarse grid. */
  function regionsOf(list) {
    const wide = WIDTH / STEP;
    const tall = HEIGHT / STEP;
    const { sharpness } = live.document.scores;
    const C = page.classes.length;
    const forms = list.map((p) => {
      const [o, x, y] = live.plane.maps[p.map];
      const form = Float64Array.of(p.offset, 0, 0, 0, 0, 0);
      for (let r = 0; r < o.length; r++) {
        const apart = o[r] - p.image[r];
        form[0] += apart * apart;
        form[1] += 2 * x[r] * apart;
        form[2] += 2 * y[r] * apart;
        form[3] += x[r] * x[r];
        form[4] += y[r] * y[r];
        form[5] += 2 * x[r] * y[r];
      }
      return form;
    });
    const codes = new Uint16Array(wide * tall);
    const nearest = new Float64Array(C);
    const D = new Float64Array(list.length);
    for (let row = 0, place = 0; row < tall; row++) for (let column = 0; column < wide; column++, place++) {
      const [px, py] = [(column + 0.5) * STEP, (row + 0.5) * STEP];
      nearest.fill(Infinity);
      for (let k = 0; k < list.length; k++) {
        const f = forms[k];
        D[k] = f[0] + px * (f[1] + f[3] * px + f[5] * py) + py * (f[2] + f[4] * py);
        if (D[k] < nearest[list[k].code]) nearest[list[k].code] = D[k];
      }
      let top = 0;
      if (sharpness === null) {
        for (let c = 1; c < C; c++) if (nearest[c] < nearest[top]) top = c;
      } else {
        const sums = new Float64Array(C);
        for (let k = 0; k < list.length; k++) sums[list[k].code] += Math.exp(sharpness * (nearest[list[k].code] - D[k]));
        const score = (c) => -nearest[c] + Math.log(sums[c]) / sharpness;
        for (let c = 1; c < C; c++) if (score(c) > score(top)) top = c;
      }
      codes[place] = top;
    }
    return codes;
  }

  function drawMap(list, codes) {
    if (!live.plane) return;
    const pen = canvas.getContext("2d");
    const [wide, tall] = [WIDTH / STEP, HEIGHT / STEP];
    colours = colours || page.classes.map((_, code) => {
      const text = colour(code);
      return { text, parts: [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16)) };
    });
    const picture = new ImageData(wide, tall);
    regionsOf(list).forEach((code, place) => {
      const [red, green, blue] = colours[code].parts;
      picture.data.set([red, green, blue, 45], 4 * place);
    });
    const small = new OffscreenCanvas(wide, tall);
    small.getContext("2d").putImageData(picture, 0, 0);
    pen.clearRect(0, 0, WIDTH, HEIGHT);
    pen.drawImage(small, 0, 0, WIDTH, HEIGHT);
    marks = marks || [...new Set(live.table.drawn)].map((i) => [i, placeOf(bench.Z, i * bench.d)]);
    for (const [i, [x, y]] of marks) {
      if (x !== x) continue;
      pen.fillStyle = colours[now.truth[i]].text;
      pen.beginPath();
      pen.arc(x, y, 3, 0, 2 * Math.PI);
      pen.fill();
      if (codes[i] === now.truth[i]) continue;
      pen.strokeStyle = getComputedStyle(canvas).color;
      pen.beginPath();
      pen.arc(x, y, 6, 0, 2 * Math.PI);
      pen.stroke();
    }
    list.forEach((p, k) => {
      const [x, y] = placeOf(p.w, 0);
      pen.fillStyle = colours[p.code].text;
      pen.strokeStyle = getComputedStyle(canvas).color;
      pen.lineWidth = String(k) === chosen.value ? 3 : 1;
      pen.beginPath();
      pen.rect(x - 7, y - 7, 14, 14);
      pen.fill();
      pen.stroke();
      pen.fillStyle = getComputedStyle(canvas).color;
      pen.font = "bold 13px sans-serif";
      pen.fillText(String(k + 1), x + 10, y + 5);
    });
  }

  /** Show what a state of the prototypes does to the rows, beside the model that was learned. */
  function showEffect(list, found, what) {
    const { judged } = history[0];
    const change = countChanges(judged, found);
    byId("edit-brief").textContent = `${found.correct.toLocaleString("en")} rows correct, ${judged.correct.toLocaleString("en")} as learned`;
    const lines = [
      ["correct rows", `${judged.correct.toLocaleString("en")} of ${bench.n.toLocaleString("en")}`, found.correct.toLocaleString("en")],
      ["errors corrected", "", change.gained.toLocaleString("en")],
      ["new errors", "", change.lost.toLocaleString("en")],
    ];
    if (live.document.certificate) {
      const radii = [judged, found].map((one) => median(one.radius));
      const positive = [judged, found].map((one) => one.radius.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0));
      lines.push(["certified radius, median", ...radii.map((value) => digits(value, 4))]);
      lines.push(["rows with a certificate", ...positive.map((value) => value.toLocaleString("en"))]);
    }
    const parts = [tableOf(what, ["rows of this page", "as learned", "now"], lines)];
    if (page.classes.length <= 12) {
      parts.push(tableOf("Confusion matrix of these rows: true class (left) by predicted class (top)", ["true class", ...page.classes],
        found.confusion.map((row, c) => [nameOf(c), ...row.map(String)]), "confusion"));
    }
    byId("edit-effect").replaceChildren(...parts);
    drawMap(list, found.code);
  }

  /** Show the state that holds, with everything that hangs on it. */
  function refresh() {
    const { state: { list, locked }, judged } = history[at];
    const kept = [chosen.value, other.value];
    [chosen, other].forEach((select, k) => {
      select.replaceChildren(...optionsOf(prototypeNames(list)));
      select.value = Number(kept[k]) < list.length && kept[k] !== "" ? kept[k] : "0";
    });
    fields.mark(locked);
    showPrototype();
    showEffect(list, judged, `What the edits do to ${bench.n.toLocaleString("en")} rows of this page`);
    byId("edit-undo").disabled = at === 0;
    byId("edit-redo").disabled = at === history.length - 1;
    byId("edit-save").disabled = at === 0;
    const table = tableOf("Edits", ["edit", "reason", "author", "effect"], log().map((edit, k) => [
      `${k + 1}. ${describe(edit)}`, edit.reason, edit.author, `${edit.effect.gained} errors corrected, ${edit.effect.lost} new`]), "made");
    byId("edit-log").replaceChildren(...(at ? [table] : [make("p", "There are no edits yet.")]));
    now.document = bench.documentOf(list);
    now.model = modelOf(now.document);
    now.edits = log();
    preview = null;
    now.stale = true;
  }
  const describe = (edit) => {
    const parts = [edit.edit];
    if (edit.edit === "add") parts.push("a prototype");
    if (edit.prototype !== undefined) parts.push(`prototype ${edit.prototype + 1}`);
    if (edit.other !== undefined) parts.push(`with prototype ${edit.other + 1}`);
    if (edit.label !== undefined) parts.push(`${edit.edit === "relabel" ? "to" : "of"} ${edit.label}`);
    if (edit.edit === "move") parts.push("to", Object.entries(edit.values).map(([name, value]) => `${name} = ${value}`).join(", "));
    return [...parts, ...(edit.columns || [])].join(" ");
  };

  /** Make an edit that holds: it needs a reason and an author. */
  function commit(edit) {
    const [reason, author] = ["reason", "author"].map((name) => byId(`edit-${name}`).value.trim());
    if (!reason || !author) {
      say(`Write ${reason ? "who makes the edit" : "the reason of the edit"} first.`);
      byId(reason ? "edit-author" : "edit-reason").focus();
      return false;
    }
    try {
      const next = bench.apply(state(), edit);
      const judged = edit.columns ? history[at].judged : bench.judge(next.list);
      const effect = countChanges(history[at].judged, judged);
      const whole = { ...edit, reason, author, time: new Date().toISOString().slice(0, 16), effect };
      history = [...history.slice(0, at + 1), { state: next, judged, edit: whole }];
      at += 1;
      refresh();
      say(`Done: ${describe(edit)}. ${effect.gained} errors corrected, ${effect.lost} new.`);
      return true;
    } catch (error) {
      say(error.message);
      return false;
    }
  }

  let shownValues = [];
  function showPrototype() {
    const p = state().list[Number(chosen.value)];
    fields.show(valuesOf(p.w));
    shownValues = fields.row();
    label.value = String(p.code);
  }
  /** Return the values by column, dates as texts; those that differ from what was shown, or all. */
  const valuesByName = (all) => Object.fromEntries(fields.row().map((value, j) => [value, j])
    .filter(([value, j]) => columns[j].kind !== "unused" && (all || value !== shownValues[j]))
    .map(([value, j]) => [columns[j].name, value !== null && columns[j].kind === "date" ? valueText(value, columns[j]) : value]));
  const moveOf = () => ({ edit: "move", prototype: Number(chosen.value), values: valuesByName(false) });

  /** Show what a move would do, while a control moves; nothing holds yet. */
  function tryMove() {
    try {
      const { list } = bench.apply(state(), moveOf());
      preview = list;
      showEffect(list, bench.judge(list), "What this move would do; it does not hold yet");
      say("");
    } catch (error) {
      say(error.message);
    }
  }

  const go = (place) => { at = place; refresh(); };
  const actions = {
    move: () => {
      const edit = moveOf();
      if (!Object.keys(edit.values).length) say("Change a value of the prototype first.");
      else commit(edit);
    },
    remove: () => commit({ edit: "remove", prototype: Number(chosen.value) }),
    relabel: () => commit({ edit: "relabel", prototype: Number(chosen.value), label: live.document.classes[Number(label.value)] }),
    merge: () => commit({ edit: "merge", prototype: Number(chosen.value), other: Number(other.value) }),
    add: () => commit({ edit: "add", label: live.document.classes[Number(label.value)], values: valuesByName(true) }),
    "row-button": () => {
      const i = live.table.names.indexOf(byId("edit-row").value.trim());
      if (i < 0) { say(noRow(byId("edit-row").value)); return; }
      fields.show(now.rows[i]);
      label.value = String(now.truth[i]);
      say(`These are the values of row ${live.table.names[i]}. "Add a prototype" makes one of them.`);
    },
    undo: () => { if (at > 0) { go(at - 1); say("Undone."); } },
    redo: () => { if (at < history.length - 1) { go(at + 1); say("Done again."); } },
    save: () => {
      const text = JSON.stringify({ ...live.edits, edits: log() }, null, 1);
      const link = make("a", undefined, { href: `data:application/json;charset=utf-8,${encodeURIComponent(text)}`, download: "edits.json" });
      link.click();
      say("Saved as edits.json. Apply it: protolearn apply MODEL edits.json -o MODEL2");
    },
  };

  /** Make the workbench when it is first needed. */
  function begin() {
    if (bench) return;
    const complete = now.rows.map((row) => now.model.encode(row));
    const d = complete[0].length;
    const Z = new Float64Array(complete.length * d);
    complete.forEach((z, i) => Z.set(z, i * d));
    bench = benchOf(live.document, Z, now.truth, live.back);
    bench.Z = Z;
    const first = { ...bench.first, locked: live.locked };
    history = [{ state: first, judged: bench.judge(first.list) }];
    label.append(...optionsOf(page.classes));
    refresh();
  }
  for (const [name, act] of Object.entries(actions)) byId(`edit-${name}`)?.addEventListener("click", act);
  byId("edit-form").addEventListener("submit", (event) => event.preventDefault());
  byId("edit").addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.matches("input[type=text]")) return;
    const key = event.key.toLowerCase();
    if (key === "z") { event.preventDefault(); actions[event.shiftKey ? "redo" : "undo"](); }
    if (key === "y") { event.preventDefault(); actions.redo(); }
  });
  chosen.addEventListener("change", () => { showPrototype(); if (preview) showEffect(state().list, history[at].judged, "What the edits do to the rows of this page"); else drawMap(state().list, history[at].judged.code); });
  new MutationObserver(() => {
    if (byId("edit").classList.contains("open")) begin();
    else if (now.stale) { now.stale = false; now.listeners.forEach((listen) => listen()); }
  }).observe(byId("edit"), { attributeFilter: ["class"] });
  if (byId("edit").classList.contains("open")) begin();
  now.commit = (edit) => { begin(); return commit(edit); };
  now.judged = () => history[at].judged;
}
