/* The smallest changes of one column that give a row another answer. A number moves along its column
   until a prototype of another class is as near, or until another score is as high; then on to the
   next value of its grid. Where boundaries are curved, also changes of several columns by a search. */

/** Return the scores of a model when one number of z moves by t, as a function of t. */
function movesOf(model, z) {
  const d = z.length;
  const { scores, prototypes, prototype_classes: classes, map_of: mapOf, maps } = model.document;
  const C = model.classes.length;
  const { scores: here, distances } = model.decide(z);
  if (scores.kind === "linear") {
    return {
      lines: (s) => here.map((score, c) => ({ code: c, a: 0, b: -scores.coef[c][s], c: -score })),
      scoresAt: (lines, t) => lines.map((line) => -(line.b * t + line.c)),
      isSmooth: false,
    };
  }
  const pulls = prototypes.map((w, k) => {
    const e = Float64Array.from(z, (value, j) => value - w[j]);
    return pullOf(maps[mapOf[k]], e);
  });
  const curves = maps.map((map) => Float64Array.from({ length: d }, (_, j) => {
    if (map === null) return 1;
    if (map.diagonal) return map.diagonal[j] ** 2;
    return map.matrix.reduce((sum, row) => sum + row[j] * row[j], 0);
  }));
  const { sharpness } = scores;
  return {
    lines: (s) => pulls.map((pull, k) => ({ code: classes[k], a: curves[mapOf[k]][s], b: 2 * pull[s], c: distances[k] })),
    scoresAt(lines, t) {
      const found = new Array(C).fill(-Infinity);
      const values = lines.map(({ a, b, c }) => -((a * t + b) * t + c));
      values.forEach((value, k) => { if (value > found[lines[k].code]) found[lines[k].code] = value; });
      if (sharpness === null) return found;
      const sums = new Array(C).fill(0);
      values.forEach((value, k) => { sums[lines[k].code] += Math.exp(sharpness * (value - found[lines[k].code])); });
      return found.map((top, c) => top + Math.log(sums[c]) / sharpness);
    },
    isSmooth: sharpness !== null,
  };
}

/** Return where the lead of a class ends along a line, the nearest first. */
function crossings(moves, lines, code, reach) {
  const lead = (t) => {
    const scores = moves.scoresAt(lines, t);
    return scores[code] - best(scores, code);
  };
  if (!moves.isSmooth) {
    const found = [];
    for (const own of lines) if (own.code === code) for (const other of lines) {
      if (other.code === code) continue;
      const a = other.a - own.a;
      const b = other.b - own.b;
      const c = other.c - own.c;
      if (Math.abs(a) <= 1e-14 * Math.abs(b)) { if (b !== 0) found.push(-c / b); continue; }
      const root = b * b - 4 * a * c;
      if (root < 0) continue;
      const q = -0.5 * (b + (b < 0 ? -1 : 1) * Math.sqrt(root));
      found.push(q / a);
      if (q !== 0) found.push(c / q);
    }
    return found.filter((t) => t * reach > 0 && Math.abs(t) <= Math.abs(reach))
      .sort((x, y) => Math.abs(x) - Math.abs(y));
  }
  for (let i = 1; i <= 100; i++) {
    if (lead((reach * i) / 100) >= 0) continue;
    let low = (reach * (i - 1)) / 100;
    let high = (reach * i) / 100;
    for (let turn = 0; turn < 60; turn++) {
      const middle = (low + high) / 2;
      if (lead(middle) < 0) high = middle; else low = middle;
    }
    return [high];
  }
  return [];
}

/** Return the values that a number can take from one on, in the direction of sign. */
function nextValues(value, sign, end) {
  const place = gridPlace(value, end);
  const count = sign > 0 ? Math.ceil(place - 1e-9) : Math.floor(place + 1e-9);
  return [count, count + sign].map((n) => onGrid(n, end));
}

/**
 * Return what gives a row another answer: `ones`, the changes of one column each, the smallest
 * first, and `all`, the smallest of all, or null; `isProved` is whether none is smaller. Where that is
 * out of reach, `all` is the best that was found. `row`: the values; `may`: which columns can change.
 */
function changesOf(model, ends, row, z, may) {
  const { columns } = model.document;
  const { code } = model.decide(z);
  const starts = [];
  columns.reduce((sum, column, j) => { starts[j] = sum; return sum + column.width; }, 0);
  const after = (from, j, numbers) => {
    const changed = Float64Array.from(from);
    changed.set(numbers, starts[j]);
    return changed;
  };

  /** Return the values of a column worth a try, with their numbers; `toEnds`: the farthest. */
  function* options(from, moves, j, toEnds) {
    const column = columns[j];
    if (column.categories) {
      for (let k = 0; k < column.categories.length; k++) {
        if (column.categories[k] !== row[j] && column.categories[k] !== ends[j].other) yield { to: column.categories[k], numbers: column.entries[k] };
      }
      return;
    }
    const isGap = row[j] === null || row[j] === undefined;
    const here = isGap ? column.missing / column.scale + column.offset : row[j];
    const numbersOf = (value) => [(value - column.offset) * column.scale, ...(column.indicator ? [column.indicator[0]] : [])];
    const { low, high } = ends[j];
    const own = isGap && moves ? movesOf(model, after(from, j, numbersOf(here))) : moves;
    for (const [sign, end] of [[1, high], [-1, low]]) {
      if ((end - here) * sign <= 0) continue;
      if (toEnds) { yield { to: end, numbers: numbersOf(end) }; continue; }
      const reach = (end - here) * column.scale;
      const found = crossings(own, own.lines(starts[j]), code, reach);
      const inside = sign > 0 ? Math.max(here, low) : Math.min(here, high);
      // That it is known, or within its range, can be enough.
      for (const t of isGap || inside !== here ? [(inside - here) * column.scale, ...found] : found) {
        for (const to of nextValues(here + t / column.scale, sign, ends[j])) {
          if (to >= low && to <= high && (!isGap || to !== here)) yield { to, numbers: numbersOf(to), at: `${j},${sign}` };
        }
      }
    }
  }

  function single(from, before) {
    const moves = movesOf(model, from);
    const found = [];
    columns.forEach((column, j) => {
      if (!may[j] || column.kind === "unused" || before.some((one) => one.j === j)) return;
      const done = new Set();
      for (const { to, numbers, at } of options(from, moves, j, false)) {
        if (at !== undefined && done.has(at)) continue;
        const changed = after(from, j, numbers);
        const answer = model.decide(changed);
        if (answer.code === code) continue;
        if (at !== undefined) done.add(at);
        const cost = sizeOf(row[j], to, column, ends[j]);
        const sum = before.reduce((total, one) => total + one.cost, cost);
        found.push({ code: answer.code, label: answer.label, cost: sum, z: changed, changes: [...before, { j, from: row[j], to, cost }] });
      }
    });
    return found.sort((a, b) => a.cost - b.cost);
  }

  /** Return a change of several columns: one after another goes as far as that helps most. */
  function several() {
    let from = z;
    const before = [];
    for (let turn = 0; turn < 5; turn++) {
      let bestStep = null;
      columns.forEach((column, j) => {
        if (!may[j] || column.kind === "unused" || before.some((one) => one.j === j)) return;
        for (const { to, numbers } of options(from, null, j, true)) {
          const changed = after(from, j, numbers);
          const { scores } = model.decide(changed);
          const lead = scores[code] - best(scores, code);
          if (bestStep !== null && lead >= bestStep.lead) continue;
          const cost = sizeOf(row[j], to, column, ends[j]);
          bestStep = { lead, changed, change: { j, from: row[j], to, cost } };
        }
      });
      if (bestStep === null) return null;
      from = bestStep.changed;
      before.push(bestStep.change);
      const [found] = single(from, before);
      if (found) return found;
    }
    return null;
  }

  if (z.some((value) => value !== value)) return { ones: [], all: null, isProved: false };
  const ones = single(z, []);
  const found = smallestChange(model, ends, row, z, may) ?? { all: null, isProved: false };
  if (found.isProved) return { ones, ...found };
  const tried = ones[0] ?? several();
  return { ones, all: tried && !(found.all?.cost <= tried.cost) ? tried : found.all, isProved: false };
}
