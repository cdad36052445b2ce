/* The smallest change of all, where boundaries are flat. It is found as in Python, in
   analysis/flat_changes.py: for each rival prototype a mixed-integer program, in which each column
   takes one of its options with some steps of its grid, or none; branch and bound, where the bound
   is that of the linear relaxation. */

const [MET, TIGHT, TIE, LACKING, WHOLE] = [1e-11, 1 - 1e-9, 1e-9, 1e6, 1e-7];
const [ROUNDS, IMPROVEMENTS, MOST_NODES] = [60, 8, 5000];
/** How far to go beyond the boundary, in standard deviations of the column that counts most. */
const INSETS = [1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3];

const onGrid = (place, { per_unit: per, multiple, remainder }) => {
  const steps = Math.round(place) * multiple + remainder;
  return per >= 1 ? steps / per : steps * Math.round(1 / per);
};
const gridPlace = (value, { per_unit: per, multiple, remainder }) => (value * per - remainder) / multiple;

/** Return the product of a map's transpose, the map, and e. */
function pullOf(map, e) {
  if (map === null) return Float64Array.from(e);
  if (map.diagonal) return Float64Array.from(e, (value, j) => value * map.diagonal[j] ** 2);
  const pull = new Float64Array(e.length);
  for (const row of map.matrix) {
    let image = 0;
    for (let j = 0; j < e.length; j++) image += row[j] * e[j];
    for (let j = 0; j < e.length; j++) pull[j] += row[j] * image;
  }
  return pull;
}

/** Return what a row is farther from, by class, and how that grows; null if boundaries are curved. */
function planesOf(model, answer) {
  const { scores, prototypes, prototype_classes: codes, map_of: mapOf, maps } = model.document;
  if (scores.kind === "linear") {
    return { codes: scores.coef.map((_, c) => c), levels: answer.scores.map((score) => -score),
      slopes: scores.coef.map((row) => row.map((value) => -value)) };
  }
  if (scores.sharpness !== null || mapOf.some((map) => map !== mapOf[0])) return null;
  const slopes = prototypes.map((w) => pullOf(maps[mapOf[0]], w).map((value) => -2 * value));
  return { codes, levels: answer.distances, slopes };
}

/** Return the place of the category of a row; -1 if it is another, or missing. */
function categoryOf(value, column, { usual, other }) {
  if (value === null || value === undefined) return usual;
  const place = column.categories.indexOf(value);
  return place < 0 ? column.categories.indexOf(other) : place;
}

/** Return how large a change of a column is, in standard deviations or jumps. */
function sizeOf(from, to, column, end) {
  if (!column.categories) return Math.abs(to - (from ?? column.missing / column.scale + column.offset)) / end.unit;
  const place = categoryOf(from, column, end);
  if (place === column.categories.indexOf(to)) return 0;
  const isUnseen = place < 0 && from !== null && from !== undefined; // in the middle of all
  const n = column.categories.length + (end.usual < 0 ? 1 : 0);
  return end.apart * (!isUnseen ? 1 : n > 2 ? Math.sqrt((n - 1) / (2 * n)) : (n - 1) / 2);
}

/** Return how the columns of a row may change: options, each with an effect on its numbers. */
function optionsFor(columns, ends, row, z, may) {
  const found = [];
  let at = 0;
  columns.forEach((column, j) => {
    const place = at;
    at += column.width;
    if (!may[j] || column.kind === "unused") return;
    const end = ends[j];
    if (column.categories) {
      column.categories.forEach((to, k) => {
        const cost = sizeOf(row[j], to, column, end);
        if (to === end.other || !(cost > 0)) return;
        found.push({ j, place, to, cost, price: 0, more: 0, step: 0, effect: column.entries[k].map((value, i) => value - z[place + i]) });
      });
      return;
    }
    const here = row[j] ?? column.missing / column.scale + column.offset;
    const at0 = gridPlace(here, end);
    const [low, high] = [Math.ceil(gridPlace(end.low, end) - 1e-9), Math.floor(gridPlace(end.high, end) + 1e-9)];
    const gap = end.multiple / end.per_unit;
    for (const sign of [1, -1]) {
      const beside = sign > 0 ? Math.floor(at0 + 1e-9) + 1 : Math.ceil(at0 - 1e-9) - 1;
      const first = sign > 0 ? Math.max(beside, low) : Math.min(beside, high);
      const more = sign > 0 ? high - first : first - low;
      if (more < 0) continue;
      const leap = onGrid(first, end) - here;
      const effect = [leap * column.scale];
      if (column.indicator) effect.push(column.indicator[0] - z[place + 1]);
      found.push({ j, place, first, sign, effect, cost: Math.abs(leap) / end.unit, price: gap / end.unit, more, step: sign * gap * column.scale });
    }
  });
  return found;
}

/** Return the conditions for the cell of plane v, in units of cost, and the least cost they allow. */
function programOf(planes, v, hold, options, inset) {
  const [m, n] = [hold.length, options.length];
  const column = [...new Set(options.map(({ j }) => j))];
  const start = [...column.map((j) => options.findIndex((one) => one.j === j)), n];
  const [a, b] = [new Float64Array(n * m), new Float64Array(n * m)];
  const [c, d, more] = ["cost", "price", "more"].map((name) => Float64Array.from(options, (one) => one[name]));
  const needs = new Float64Array(m);
  const unit = new Float64Array(m);
  hold.forEach((k, f) => {
    needs[f] = planes.levels[v] - planes.levels[k];
    const slope = planes.slopes[v].map((value, i) => value - planes.slopes[k][i]);
    options.forEach(({ place, effect, step }, o) => {
      effect.forEach((value, i) => { a[o * m + f] += value * slope[place + i]; });
      b[o * m + f] = step * slope[place];
      unit[f] = Math.max(unit[f], Math.abs(a[o * m + f]) / c[o]);
    });
  });
  const most = Math.max(...unit);
  let least = 0;
  for (let f = 0; f < m; f++) {
    const isFlat = unit[f] <= 1e-12 * Math.max(most, 1e-300);
    const by = isFlat ? 1 : unit[f];
    let gain = 0;
    for (let o = 0; o < n; o++) {
      a[o * m + f] /= by;
      b[o * m + f] /= by;
      gain += Math.max(-a[o * m + f] - Math.max(b[o * m + f] * more[o], 0), -a[o * m + f] - b[o * m + f] * more[o], 0);
    }
    needs[f] = needs[f] / by + inset;
    if (gain < needs[f] - 1e-9 || (isFlat && needs[f] > 1e-9)) least = Infinity;
    least = Math.max(least, needs[f]);
  }
  return { start, a, b, c, d, more, needs, least };
}

/**
 * Return the cheapest options that meet all conditions: of column i one of those from `start[i]` to
 * `start[i + 1]`, or none; an option o with k steps costs `c[o] + k d[o]` and adds `a[o] + k b[o]`
 * to the `needs`, which have to be zero or less. Null if nothing costs less than `cutoff`.
 */
function cheapestOptions({ start, a, b, c, d, more, needs }, cutoff) {
  const [C, m, n] = [start.length - 1, needs.length, c.length];
  const M = m + 1;
  const [pick, steps, s] = [new Int32Array(C), new Float64Array(C), new Float64Array(m)];
  const [share, mean] = [new Float64Array(n), new Float64Array(n)];
  const [picks, times] = [new Int32Array(M * C), new Float64Array(M * C)];
  const inverse = new Float64Array(M * M);
  const [cost, weight, column, dual, change] = [0, 1, 2, 3, 4].map(() => new Float64Array(M));
  const point = new Float64Array(m);
  let price = 0;
  let slope = 0;
  const weigh = (o, lam) => {
    price = c[o];
    slope = d[o];
    for (let f = 0, at = o * m; f < m; f++, at++) {
      price += lam[f] * a[at];
      slope += lam[f] * b[at];
    }
  };

  /** Return the least price of a change with multipliers; write what each column takes. */
  function priceOf(lam, { lows, highs, stays }) {
    let total = 0;
    for (let f = 0; f < m; f++) total += lam[f] * (s[f] = needs[f]);
    for (let i = 0; i < C; i++) {
      pick[i] = -1;
      steps[i] = 0;
      let value = stays[i] ? 0 : Infinity;
      for (let o = start[i]; o < start[i + 1]; o++) {
        if (lows[o] > highs[o]) continue;
        weigh(o, lam);
        const k = slope < 0 ? highs[o] : lows[o];
        if (price + k * slope < value) {
          pick[i] = o;
          steps[i] = k;
          value = price + k * slope;
        }
      }
      total += value;
      if (pick[i] >= 0) for (let f = 0, at = pick[i] * m; f < m; f++, at++) s[f] += a[at] + steps[i] * b[at];
    }
    return total;
  }

  /** Take a column into the basis of the simplex method; return the place it takes, or -1. */
  function exchange() {
    let leave = -1;
    let ratio = Infinity;
    for (let i = 0; i < M; i++) {
      change[i] = 0;
      for (let f = 0; f < M; f++) change[i] += inverse[i * M + f] * column[f];
      if (change[i] > 1e-12 && weight[i] < ratio * change[i]) {
        leave = i;
        ratio = weight[i] / change[i];
      }
    }
    if (leave < 0) return leave;
    weight[leave] = ratio;
    for (let f = 0; f < M; f++) inverse[leave * M + f] /= change[leave];
    for (let i = 0; i < M; i++) {
      if (i === leave) continue;
      weight[i] = Math.max(weight[i] - ratio * change[i], 0);
      for (let f = 0; f < M; f++) inverse[i * M + f] -= change[i] * inverse[leave * M + f];
    }
    return leave;
  }

  /** Return the bound of the linear relaxation; write its multipliers and its solution. */
  function relax(node, least) {
    const { lam } = node;
    let bound = priceOf(lam, node);
    if (!(bound < least * TIGHT)) return bound;
    picks.fill(-1);
    times.fill(0);
    inverse.fill(0);
    for (let f = 0; f < m; f++) { // slack, or what is lacking at a high price
      const sign = s[f] <= 0 ? 1 : -1;
      inverse[f * M + f] = sign;
      inverse[f * M + m] = -sign * s[f];
      weight[f] = Math.abs(s[f]);
      cost[f] = s[f] <= 0 ? 0 : LACKING;
    }
    inverse[m * M + m] = weight[m] = 1;
    cost[m] = 0;
    let leave = m;
    let slack = -1;
    for (let round = 0; round < ROUNDS; round++) {
      const at = leave * C;
      picks.fill(-1, at, at + C);
      cost[leave] = 0;
      if (slack < 0) {
        for (let i = 0; i < C; i++) {
          if (pick[i] < 0) continue;
          picks[at + i] = pick[i];
          times[at + i] = steps[i];
          cost[leave] += c[pick[i]] + steps[i] * d[pick[i]];
        }
      }
      slack = -1;
      for (let f = 0; f < M; f++) {
        dual[f] = column[f] = 0;
        for (let i = 0; i < M; i++) dual[f] += cost[i] * inverse[i * M + f];
        if (f < m && dual[f] > Math.max(1e-9, slack >= 0 ? dual[slack] : 0)) slack = f;
      }
      if (slack >= 0) column[slack] = 1;
      else {
        for (let f = 0; f < m; f++) point[f] = Math.max(-dual[f], 0);
        const found = priceOf(point, node);
        if (found > bound) {
          bound = found;
          lam.set(point);
        }
        if (bound >= least * TIGHT || found >= dual[m] - 1e-11 * Math.max(1, Math.abs(dual[m]))) break;
        column.set(s);
        column[m] = 1;
      }
      leave = exchange();
      if (leave < 0) break;
    }
    share.fill(0);
    mean.fill(0);
    for (let r = 0; r < M; r++) {
      for (let i = r * C; i < (r + 1) * C; i++) {
        if (picks[i] < 0) continue;
        share[picks[i]] += weight[r];
        mean[picks[i]] += weight[r] * times[i];
      }
    }
    return bound;
  }

  /** Take away options and steps that cost at least `room` more than the best of the column. */
  function narrow({ lam, lows, highs, stays }, room) {
    for (let i = 0; i < C; i++) {
      let least = stays[i] ? 0 : Infinity;
      for (let o = start[i]; o < start[i + 1]; o++) {
        if (lows[o] > highs[o]) continue;
        weigh(o, lam);
        least = Math.min(least, price + slope * (slope < 0 ? highs[o] : lows[o]));
      }
      for (let o = start[i]; o < start[i + 1]; o++) {
        if (lows[o] > highs[o]) continue;
        weigh(o, lam);
        const over = room + least - price - slope * (slope < 0 ? highs[o] : lows[o]);
        if (over <= 0) highs[o] = lows[o] - 1;
        else if (Math.abs(slope) * (highs[o] - lows[o]) > over) {
          const k = Math.floor(over / Math.abs(slope));
          if (slope > 0) highs[o] = lows[o] + k; else lows[o] = highs[o] - k;
        }
      }
      if (-least >= room) stays[i] = 0;
    }
  }

  /** Add an option with k steps to a change, or take it away by `sign` -1; return the cost. */
  function take(o, k, sign, lack) {
    if (o < 0) return 0;
    for (let f = 0, at = o * m; f < m; f++, at++) lack[f] += sign * (a[at] + k * b[at]);
    return sign * (c[o] + k * d[o]);
  }

  /** Return with how many steps an option meets all conditions; infinity if with none. */
  function fewestSteps(o, lack) {
    let low = 0;
    let high = more[o];
    for (let f = 0, at = o * m; f < m; f++, at++) {
      const rest = lack[f] + a[at];
      if (b[at] < 0) low = Math.max(low, Math.ceil((rest - MET) / -b[at]));
      else if (b[at] > 0) high = Math.min(high, Math.floor((MET - rest) / b[at]));
      else if (rest > MET) return Infinity;
    }
    return low <= high ? low : Infinity;
  }

  /** Change one column at a time as long as that makes a whole change cheaper; return its cost. */
  function improve() {
    const lack = needs.slice();
    let cost = 0;
    let result = Infinity;
    for (let i = 0; i < C; i++) cost += take(pick[i], steps[i], 1, lack);
    for (let turn = 0; turn < IMPROVEMENTS; turn++) {
      let [at, option, times, least] = [-1, -1, 0, result * TIGHT];
      for (let i = 0; i < C; i++) {
        const rest = cost + take(pick[i], steps[i], -1, lack);
        if (rest < least && lack.every((value) => value <= MET)) [at, option, times, least] = [i, -1, 0, rest];
        for (let o = start[i]; o < start[i + 1]; o++) {
          const k = fewestSteps(o, lack);
          if (rest + c[o] + k * d[o] < least) [at, option, times, least] = [i, o, k, rest + c[o] + k * d[o]];
        }
        take(pick[i], steps[i], 1, lack);
      }
      if (at < 0) break;
      take(pick[at], steps[at], -1, lack);
      take(option, times, 1, lack);
      pick[at] = option;
      steps[at] = times;
      cost = result = least;
    }
    return result;
  }

  /** Write the whole change that the relaxed one is nearest to. */
  function round(stays) {
    for (let i = 0; i < C; i++) {
      let top = -1;
      let total = 0;
      for (let o = start[i]; o < start[i + 1]; o++) {
        total += share[o];
        if (share[o] > 0 && (top < 0 || share[o] > share[top])) top = o;
      }
      if (top >= 0 && stays[i] && 1 - total > share[top]) top = -1;
      pick[i] = top;
      steps[i] = top >= 0 ? Math.round(mean[top] / share[top]) : 0;
    }
  }

  /** Return the column to be decided next, and its option if that is sure but for the steps. */
  function mostOpen(nearest, { lows, highs, stays }) {
    let [column, option, most] = [-1, -1, 0];
    for (let i = 0; i < C; i++) {
      const o = nearest[i];
      let total = 0;
      for (let k = start[i]; k < start[i + 1]; k++) total += share[k];
      const mixed = 1 - (o >= 0 ? share[o] : 1 - total);
      if (mixed > WHOLE) {
        if (1 + mixed > most) [column, option, most] = [i, -1, 1 + mixed];
      } else if (o >= 0 && most < 1) {
        const part = Math.abs(mean[o] / share[o] - Math.round(mean[o] / share[o]));
        if (part > WHOLE && Math.min(part * d[o], 1) > most) [column, option, most] = [i, o, Math.min(part * d[o], 1)];
      }
    }
    if (column >= 0) return [column, option];
    for (let i = 0; i < C; i++) {
      let open = stays[i] ? 1 : 0;
      for (let o = start[i]; o < start[i + 1]; o++) {
        if (lows[o] <= highs[o]) open++;
        if (lows[o] < highs[o]) [column, option] = [i, o];
      }
      if (open > 1) return [i, -1];
    }
    return [column, option];
  }

  /** Return the branches of a node, the most promising last. */
  function branches(node, column, option) {
    const copy = () => ({ lows: node.lows.slice(), highs: node.highs.slice(), stays: node.stays.slice(), lam: node.lam.slice() });
    if (option >= 0) {
      const [low, high] = [node.lows[option], node.highs[option]];
      const taken = share[option] > 0.5 ? mean[option] / share[option] : low;
      const at = Math.min(Math.max(Math.floor(taken), low), high - 1);
      const [fewer, further] = [copy(), copy()];
      fewer.highs[option] = at;
      further.lows[option] = at + 1;
      return taken - at > 0.5 ? [fewer, further] : [further, fewer];
    }
    const parts = [];
    let none = 1;
    for (let o = start[column]; o < start[column + 1]; o++) {
      none -= share[o];
      if (node.lows[o] <= node.highs[o]) parts.push([share[o], o]);
    }
    if (node.stays[column]) parts.push([none, -1]);
    return parts.sort((x, y) => x[0] - y[0]).map(([, chosen]) => {
      const one = copy();
      one.stays[column] = chosen < 0 ? 1 : 0;
      for (let o = start[column]; o < start[column + 1]; o++) if (o !== chosen) one.highs[o] = one.lows[o] - 1;
      return one;
    });
  }

  const first = { lows: new Float64Array(n), highs: more.slice(), stays: new Uint8Array(C).fill(1), lam: new Float64Array(m) };
  first.lam[argmax(needs)] = 1;
  let least = 1;
  for (let o = 0; o < n; o++) least += c[o] + more[o] * d[o];
  least = Math.min(least, cutoff);
  let result = null;
  const stack = [first];
  for (let nodes = 0; stack.length; nodes++) {
    if (nodes === MOST_NODES) return { ...result, isProved: false };
    const node = stack.pop();
    if (!(relax(node, least) < least * TIGHT)) continue;
    round(node.stays);
    const nearest = pick.slice();
    const found = improve();
    if (found < least * TIGHT) {
      least = found;
      result = { pick: pick.slice(), steps: steps.slice(), cost: found, isProved: true };
    }
    narrow(node, least * TIGHT - priceOf(node.lam, node));
    const [column, option] = mostOpen(nearest, node);
    if (column >= 0) stack.push(...branches(node, column, option));
  }
  return result;
}

/**
 * Return the smallest change of a row that gives it another answer, checked by the model, or null,
 * and whether that is proved; null alone if boundaries are curved. `row`: the values; `may`: which
 * columns can change.
 */
function smallestChange(model, ends, row, z, may) {
  const { columns } = model.document;
  const answer = model.decide(z);
  const planes = planesOf(model, answer);
  if (planes === null) return null;
  const options = optionsFor(columns, ends, row, z, may);
  const hold = planes.codes.flatMap((code, k) => (code === answer.code ? [k] : []));
  const rivals = planes.codes.flatMap((code, k) => (code === answer.code ? [] : [k]));
  let wasCut = false;
  for (const inset of options.length ? INSETS : []) {
    let found = null;
    const programs = rivals.map((v) => programOf(planes, v, hold, options, inset))
      .filter(({ least }) => least < Infinity).sort((one, other) => one.least - other.least);
    for (const program of programs) {
      const cutoff = found ? found.cost * (1 - TIE) : Infinity;
      if (program.least > cutoff) break;
      const one = cheapestOptions(program, cutoff);
      wasCut ||= one !== null && !one.isProved;
      if (one !== null && one.pick) found = one;
    }
    if (found === null) return { all: null, isProved: !wasCut };
    const changes = [...found.pick].flatMap((o, i) => {
      if (o < 0) return [];
      const { j, to, first, sign } = options[o];
      const value = to === undefined ? onGrid(first + sign * found.steps[i], ends[j]) : to;
      return [{ j, from: row[j], to: value, cost: sizeOf(row[j], value, columns[j], ends[j]) }];
    }).sort((one, other) => other.cost - one.cost);
    const changed = row.slice();
    changes.forEach(({ j, to }) => { changed[j] = to; });
    const { code, label } = model.decide(model.encode(changed));
    if (code !== answer.code) {
      const cost = changes.reduce((sum, one) => sum + one.cost, 0);
      return { all: { code, label, cost, changes }, isProved: !wasCut };
    }
  }
  return { all: null, isProved: options.length === 0 };
}
