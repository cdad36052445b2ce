/* Four algorithms of the lecture, one step at a time. The first part computes and knows nothing of
   the page; the second draws. Rows are [x, y], labels are 0 and 1. */
const lecture = (() => {
  "use strict";

  /* A threshold is the weight of one more input that is always -1. */
  const lengthen = (row) => [...row, -1];
  const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);
  const squared = (a, b) => a.reduce((sum, value, k) => sum + (value - b[k]) ** 2, 0);
  const add = (a, factor, b) => a.map((value, k) => value + factor * b[k]);
  const sign = (label) => (label ? 1 : -1);

  /* The weights are sum u y x / N; E = y w.x is the local potential of an example. */
  const perceptron = {
    start: (rows) => ({ w: [0, 0, 0], u: rows.map(() => 0) }),
    score: (state, row) => dot(state.w, lengthen(row)),
    potential: (state, row, label) => sign(label) * dot(state.w, lengthen(row)),
  };

  const rosenblatt = {
    ...perceptron,
    step(state, rows, labels, i) {
      const E = this.potential(state, rows[i], labels[i]);
      const learns = E <= 0;
      const u = state.u.slice();
      if (learns) u[i] += 1;
      const w = learns ? add(state.w, sign(labels[i]) / 3, lengthen(rows[i])) : state.w;
      return { w, u, E, change: learns ? 1 : 0 };
    },
  };

  const adatron = {
    ...perceptron,
    step(state, rows, labels, i, { rate, gamma }) {
      const E = this.potential(state, rows[i], labels[i]);
      const u = state.u.slice();
      u[i] = Math.min(gamma, Math.max(0, u[i] + rate * (1 - E)));
      const change = u[i] - state.u[i];
      const w = add(state.w, (sign(labels[i]) * change) / 3, lengthen(rows[i]));
      return { w, u, E, change: Math.abs(change) };
    },
  };

  /* Prototypes begin near the mean of all rows, a little apart. */
  const prototypes = {
    start(rows, labels, { count }) {
      const mean = [0, 1].map((k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);
      const all = 2 * count;
      const place = (k) => [0.25 * Math.cos((2 * Math.PI * k) / all), 0.25 * Math.sin((2 * Math.PI * k) / all)];
      const W = Array.from({ length: all }, (_, k) => add(mean, 1, place(k)));
      return { W, classes: W.map((_, k) => k % 2) };
    },
    nearest(state, row, ofClass) {
      let best = -1;
      state.W.forEach((w, k) => {
        if (ofClass !== undefined && state.classes[k] !== ofClass) return;
        if (best < 0 || squared(row, w) < squared(row, state.W[best])) best = k;
      });
      return best;
    },
    score(state, row) {
      const [other, own] = [0, 1].map((c) => squared(row, state.W[this.nearest(state, row, c)]));
      return other - own;
    },
    move: (state, steps) =>
      state.W.map((w, k) => {
        const step = steps.find((one) => one.k === k);
        return step ? add(w, step.factor, step.way) : w;
      }),
  };

  const lvq1 = {
    ...prototypes,
    step(state, rows, labels, i, { rate }) {
      const k = this.nearest(state, rows[i]);
      const psi = state.classes[k] === labels[i] ? 1 : -1;
      const way = add(rows[i], -1, state.W[k]);
      return { ...state, W: this.move(state, [{ k, factor: rate * psi, way }]), moved: [k], psi, change: 1 };
    },
  };

  const glvq = {
    ...prototypes,
    step(state, rows, labels, i, { rate, beta }) {
      const own = this.nearest(state, rows[i], labels[i]);
      const rival = this.nearest(state, rows[i], 1 - labels[i]);
      const [near, far] = [own, rival].map((k) => squared(rows[i], state.W[k]));
      const both = near + far || 1;
      const e = (near - far) / both;
      const phi = 1 / (1 + Math.exp(-beta * e));
      const slope = beta * phi * (1 - phi) * (2 / both ** 2);
      const steps = [
        { k: own, factor: 2 * rate * slope * far, way: add(rows[i], -1, state.W[own]) },
        { k: rival, factor: -2 * rate * slope * near, way: add(rows[i], -1, state.W[rival]) },
      ];
      return { ...state, W: this.move(state, steps), moved: [own, rival], e, phi, change: 1 };
    },
  };

  const algorithms = { rosenblatt, adatron, lvq1, glvq };

  /* All states of some steps in the order of the rows, the first before any. */
  const replay = (name, rows, labels, steps, settings, start) => {
    const algorithm = algorithms[name];
    const states = [start || algorithm.start(rows, labels, settings)];
    for (let t = 0; t < steps; t += 1) {
      states.push(algorithm.step(states.at(-1), rows, labels, t % rows.length, settings));
    }
    return states;
  };

  const errors = (name, state, rows, labels) =>
    rows.filter((row, i) => sign(labels[i]) * algorithms[name].score(state, row) <= 0).length;

  return { algorithms, replay, errors };
})();

(() => {
  "use strict";
  const by = (id) => document.getElementById(id);
  const SIDE = 2; // the plane goes from -2 to 2
  const CELLS = 144;
  const TRAIL = 400;
  const SETTLED = 1e-4;

  const formulas = {
    rosenblatt: {
      name: "Rosenblatt perceptron",
      lines: ["E = y (w·x − θ)", "if E ≤ 0:  w ← w + y x / N"],
      about: "A mistake adds the example to the weights; a correct answer changes nothing. If a line separates the classes, a whole sweep without a mistake comes after finitely many steps.",
    },
    adatron: {
      name: "AdaTron",
      lines: ["E = y (w·x − θ)", "u ← max(0, u + η (1 − E)),  at most γ", "w = Σ u y x / N"],
      about: "Every example has an embedding strength u, shown by its size. The strengths move the line to the largest stability; examples that are easy end with u = 0.",
    },
    lvq1: {
      name: "LVQ1",
      lines: ["w* = the nearest prototype", "w* ← w* ± η (x − w*)", "+ same class, − other class"],
      about: "The nearest prototype moves to an example of its class, and away from one of the other.",
    },
    glvq: {
      name: "GLVQ",
      lines: ["e = (d⁺ − d⁻) / (d⁺ + d⁻)", "Φ = 1 / (1 + exp(−β e))", "w⁺ ← w⁺ − η ∂Φ/∂w⁺", "w⁻ ← w⁻ − η ∂Φ/∂w⁻"],
      about: "Two prototypes follow the slope of a cost: the nearest of the own class comes nearer, the nearest rival goes away. The steps are largest near the border.",
    },
  };

  /* A generator with a seed: the same points in every browser. */
  const random = (seed) => () => {
    seed = (1664525 * seed + 1013904223) % 4294967296;
    return seed / 4294967296;
  };
  const clusters = (centres, spread, each, seed) => {
    const draw = random(seed);
    const bell = () => (draw() + draw() + draw() + draw() - 2) * spread * 1.7;
    const rows = [];
    const labels = [];
    for (let i = 0; i < each; i += 1) {
      centres.forEach(([x, y, label]) => {
        rows.push([x + bell(), y + bell()].map((v) => Math.max(-1.9, Math.min(1.9, v))));
        labels.push(label);
      });
    }
    return { rows, labels };
  };
  const datasets = {
    separable: () => clusters([[-0.5, 0.1, 0], [0.7, 0.9, 1]], 0.42, 10, 7),
    overlapping: () => clusters([[-0.5, -0.2, 0], [0.5, 0.3, 1]], 0.6, 14, 3),
    squares: () => clusters([[-0.9, -0.9, 0], [0.9, -0.9, 1], [0.9, 0.9, 0], [-0.9, 0.9, 1]], 0.35, 7, 5),
    empty: () => ({ rows: [], labels: [] }),
  };

  const model = { data: datasets.separable(), states: [], counts: [], t: 0, note: "", running: 0 };
  const present = () => model.states.at(-1);
  const chosen = () => by("algorithm").value;
  const settings = () => ({
    rate: Number(by("rate").value),
    beta: Number(by("beta").value),
    gamma: by("gamma").value === "inf" ? Infinity : Number(by("gamma").value),
    count: Number(by("count").value),
  });
  const ready = () => model.data.labels.includes(0) && model.data.labels.includes(1);
  const places = (x) => x.toFixed(2).replace("-", "−");
  const pair = (v) => `(${v.map(places).join(", ")})`;

  const reset = () => {
    const { rows, labels } = model.data;
    stop();
    model.t = 0;
    model.states = ready() ? lecture.replay(chosen(), rows, labels, 0, settings()) : [];
    model.counts = ready() ? [lecture.errors(chosen(), present(), rows, labels)] : [];
    model.changes = 0;
    model.ended = false;
    model.note = ready() ? "Nothing is learned yet. Press Step." : "Click into the plane to add examples of both classes.";
    draw();
  };

  const describe = (before, state, i) => {
    const label = model.data.labels[i] ? "B" : "A";
    const head = `Example ${i + 1}, class ${label}. `;
    switch (chosen()) {
      case "rosenblatt":
        return head + `E = ${places(state.E)}` + (state.change ? ` ≤ 0, a mistake: w ← ${pair(state.w.slice(0, 2))}, θ ← ${places(state.w[2])}.` : " > 0, right: nothing changes.");
      case "adatron":
        return head + `E = ${places(state.E)}: u goes from ${places(before.u[i])} to ${places(state.u[i])}, w is ${pair(state.w.slice(0, 2))}, θ is ${places(state.w[2])}.`;
      case "lvq1":
        return head + `The nearest prototype is of ${state.psi > 0 ? "the same class and comes nearer" : "the other class and goes away"}: ${pair(before.W[state.moved[0]])} → ${pair(state.W[state.moved[0]])}.`;
      default:
        return head + `e = ${places(state.e)}, Φ = ${places(state.phi)}: w⁺ → ${pair(state.W[state.moved[0]])}, w⁻ → ${pair(state.W[state.moved[1]])}.`;
    }
  };

  const step = () => {
    if (!ready() || model.ended) return;
    const { rows, labels } = model.data;
    const i = model.t % rows.length;
    const before = present();
    const state = lecture.algorithms[chosen()].step(before, rows, labels, i, settings());
    model.states.push(state);
    if (model.states.length > TRAIL) model.states.shift();
    model.t += 1;
    model.changes = Math.max(i ? model.changes : 0, state.change);
    model.note = describe(before, state, i);
    if (i === rows.length - 1) {
      model.counts.push(lecture.errors(chosen(), state, rows, labels));
      if (chosen() === "rosenblatt" && !model.changes) end("A whole sweep without a mistake: training ends.");
      if (chosen() === "adatron" && model.changes < SETTLED) end("The strengths have settled: this is the perceptron of optimal stability.");
    }
  };
  const end = (text) => {
    model.note += " " + text;
    model.ended = true;
    stop();
  };
  const sweep = () => {
    if (!ready()) return;
    do step(); while (!model.ended && model.t % model.data.rows.length);
  };
  const stop = () => {
    clearInterval(model.running);
    model.running = 0;
    by("run").textContent = "Run";
  };
  const run = () => {
    if (model.running) return stop();
    by("run").textContent = "Pause";
    model.running = setInterval(() => { step(); draw(); }, 1000 / Number(by("speed").value));
  };

  /* Drawing: a canvas of regions below, points and arrows as SVG above. */
  const svg = (name, attributes, inside) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (inside) element.textContent = inside;
    return element;
  };
  const up = ([x, y]) => [x, -y];
  const colourOf = (label) => `var(--class-${label})`;

  const drawRegions = () => {
    const canvas = by("regions");
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    pen.clearRect(0, 0, CELLS, CELLS);
    if (!ready()) return;
    const algorithm = lecture.algorithms[chosen()];
    for (let r = 0; r < CELLS; r += 1) {
      for (let c = 0; c < CELLS; c += 1) {
        const row = [((c + 0.5) / CELLS) * 2 * SIDE - SIDE, SIDE - ((r + 0.5) / CELLS) * 2 * SIDE];
        const score = algorithm.score(present(), row);
        if (score === 0) continue;
        pen.fillStyle = style.getPropertyValue(score > 0 ? "--class-1" : "--class-0");
        pen.fillRect(c, r, 1, 1);
      }
    }
  };

  const drawLine = (plane, w, offset, kind) => {
    const length = Math.hypot(w[0], w[1]);
    if (!length) return;
    const foot = [(w[0] * offset) / length ** 2, (w[1] * offset) / length ** 2];
    const along = [(-w[1] / length) * 4 * SIDE, (w[0] / length) * 4 * SIDE];
    const [a, b] = [up([foot[0] - along[0], foot[1] - along[1]]), up([foot[0] + along[0], foot[1] + along[1]])];
    plane.append(svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: kind }));
    if (kind !== "border") return;
    const [from, to] = [up(foot), up([foot[0] + (0.55 * w[0]) / length, foot[1] + (0.55 * w[1]) / length])];
    plane.append(svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: "weights", "marker-end": "url(#tip)" }));
  };

  const drawPlane = () => {
    const plane = by("plane");
    plane.querySelectorAll(":scope > :not(defs)").forEach((old) => old.remove());
    const state = model.states.length ? present() : null;
    if (state && state.w) {
      drawLine(plane, state.w, state.w[2], "border");
      if (chosen() === "adatron") [-1, 1].forEach((E) => drawLine(plane, state.w, state.w[2] + E, "gap"));
    }
    const last = model.t ? (model.t - 1) % model.data.rows.length : -1;
    const strongest = state && state.u ? Math.max(1, ...state.u) : 1;
    model.data.rows.forEach((row, i) => {
      const [x, y] = up(row);
      const label = model.data.labels[i];
      const size = 0.06 + (chosen() === "adatron" && state ? (0.06 * state.u[i]) / strongest : 0);
      plane.append(label
        ? svg("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, class: "example", fill: colourOf(1), "data-row": i })
        : svg("circle", { cx: x, cy: y, r: size * 1.1, class: "example", fill: colourOf(0), "data-row": i }));
      if (i === last) plane.append(svg("circle", { cx: x, cy: y, r: 0.16, class: "ring" }));
    });
    if (state && state.W) drawPrototypes(plane, state);
    by("plane").setAttribute("aria-label", `${model.data.rows.length} examples of two classes and the border of ${formulas[chosen()].name}`);
  };

  const drawPrototypes = (plane, state) => {
    state.W.forEach((w, k) => {
      const trail = model.states.map((one) => up(one.W[k]).join(",")).join(" ");
      plane.append(svg("polyline", { points: trail, class: "trail", stroke: colourOf(state.classes[k]) }));
      const [x, y] = up(w);
      const star = Array.from({ length: 10 }, (_, j) => {
        const [radius, angle] = [j % 2 ? 0.07 : 0.16, (Math.PI * j) / 5 - Math.PI / 2];
        return `${x + radius * Math.cos(angle)},${y + radius * Math.sin(angle)}`;
      }).join(" ");
      plane.append(svg("polygon", { points: star, class: "prototype", fill: colourOf(state.classes[k]) }));
    });
  };

  const drawCurve = () => {
    const curve = by("curve");
    curve.replaceChildren();
    const [width, height, n] = [300, 90, model.data.rows.length];
    if (!model.counts.length) return;
    const x = (k) => 28 + (k / Math.max(10, model.counts.length - 1)) * (width - 36);
    const y = (count) => 8 + (1 - count / n) * (height - 26);
    [0, n].forEach((count) => {
      curve.append(svg("line", { x1: 28, x2: width - 8, y1: y(count), y2: y(count), class: "grid" }));
      curve.append(svg("text", { x: 22, y: y(count) + 4, "text-anchor": "end" }, String(count)));
    });
    curve.append(svg("polyline", { points: model.counts.map((count, k) => `${x(k)},${y(count)}`).join(" "), class: "errors" }));
    model.counts.forEach((count, k) => curve.append(svg("circle", { cx: x(k), cy: y(count), r: 2.2, class: "errors" })));
    curve.append(svg("text", { x: 28, y: height - 2 }, "errors after each sweep"));
  };

  const draw = () => {
    drawRegions();
    drawPlane();
    drawCurve();
    by("note").textContent = model.note;
    const n = model.data.rows.length;
    by("where").textContent = n ? `Step ${model.t}, sweep ${Math.ceil(model.t / n)}, ${model.counts.at(-1) ?? "no"} errors` : "No examples";
    ["step", "sweep", "run"].forEach((id) => { by(id).disabled = !ready() || model.ended; });
  };

  const choose = () => {
    const { name, lines, about } = formulas[chosen()];
    by("formula-name").textContent = name;
    by("formula").replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
    by("about").textContent = about;
    const isPerceptron = ["rosenblatt", "adatron"].includes(chosen());
    by("of-rate").hidden = chosen() === "rosenblatt";
    by("of-gamma").hidden = chosen() !== "adatron";
    by("of-beta").hidden = chosen() !== "glvq";
    by("of-count").hidden = isPerceptron;
    reset();
  };

  const showValues = () => {
    by("rate-value").textContent = Number(by("rate").value).toFixed(2);
    by("beta-value").textContent = by("beta").value;
  };

  const click = (event) => {
    const box = by("plane").getBoundingClientRect();
    const row = [
      ((event.clientX - box.left) / box.width) * 2 * SIDE - SIDE,
      SIDE - ((event.clientY - box.top) / box.height) * 2 * SIDE,
    ];
    const kind = document.querySelector('input[name="pen"]:checked').value;
    const { rows, labels } = model.data;
    if (kind === "erase") {
      const nearest = rows.map((one, i) => [Math.hypot(one[0] - row[0], one[1] - row[1]), i]).sort((a, b) => a[0] - b[0])[0];
      if (!nearest || nearest[0] > 0.2) return;
      rows.splice(nearest[1], 1);
      labels.splice(nearest[1], 1);
    } else {
      rows.push(row);
      labels.push(Number(kind));
    }
    reset();
  };

  by("plane").addEventListener("click", click);
  by("algorithm").addEventListener("change", choose);
  by("data").addEventListener("change", () => { model.data = datasets[by("data").value](); reset(); });
  by("step").addEventListener("click", () => { stop(); step(); draw(); });
  by("sweep").addEventListener("click", () => { stop(); sweep(); draw(); });
  by("run").addEventListener("click", run);
  by("reset").addEventListener("click", reset);
  by("speed").addEventListener("input", () => { if (model.running) { stop(); run(); } });
  ["gamma", "count"].forEach((id) => by(id).addEventListener("change", reset));
  ["rate", "beta"].forEach((id) => by(id).addEventListener("input", showValues));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawRegions);
  showValues();
  choose();
})();
