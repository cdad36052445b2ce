/* The workbench: prototypes that can be edited, and what the model then says of all rows. Nothing
   here knows the page. Needs model.mjs, whose formulas it follows for many rows at a time. */

/** Return numbers of a column, which Python has packed into text. */
function unpackNumbers(packed) {
  const text = atob(packed.data);
  const bytes = Uint8Array.from(text, (sign) => sign.charCodeAt(0));
  const kinds = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array };
  const whole = new kinds[packed.type](bytes.buffer);
  if (packed.type === "f8") return whole;
  const gap = 2 ** (8 * whole.BYTES_PER_ELEMENT) - 1;
  return Float64Array.from(whole, (n) => (n === gap ? NaN : (n + packed.low) / packed.per));
}

/** Return the rows of a table, each a list of values for `encode`. */
function unpackRows(table, columns) {
  const values = table.columns.map((packed, j) => {
    const numbers = unpackNumbers(packed);
    const { categories } = columns[j];
    const isList = categories !== undefined;
    return Array.from(numbers, (n) => {
      if (n !== n) return null;
      if (!isList) return n;
      return n < categories.length ? categories[n] : UNKNOWN;
    });
  });
  return Array.from({ length: table.n }, (_, i) => values.map((column) => column[i]));
}

const UNKNOWN = "\uffff";

/**
 * Return a workbench for a model and rows.
 *
 * `document`: the model; `Z`: the encoded rows, one behind the other; `truth`: their classes;
 * `back`: the map of the last step where a pipeline mixes columns before it, else null.
 */
function benchOf(document, Z, truth, back) {
  const d = document.columns.reduce((sum, column) => sum + column.width, 0);
  const n = truth.length;
  const C = document.classes.length;
  const isSoft = document.scores.sharpness !== null;
  const names = new Map(document.columns.map((column, j) => [column.name, j]));
  const starts = [];
  document.columns.reduce((sum, column, j) => { starts[j] = sum; return sum + column.width; }, 0);
  const one = modelOf({ ...document, prototypes: [], prototype_classes: [], map_of: [] });
  const maps = document.maps.map((map) => (map === null ? null : map.diagonal
    ? { diagonal: Float64Array.from(map.diagonal), rank: d }
    : { matrix: flat(map.matrix), rank: map.matrix.length }));
  const stretches = document.maps.map((map) => Math.hypot(
    ...(map === null ? [1] : map.diagonal || map.matrix.flat())));
  const certificate = document.certificate;
  const steepness = new Map();
  if (certificate && certificate.root) {
    document.map_of.forEach((map, k) => steepness.set(map, certificate.pace[k][k] / 2));
  }
  const isObserved = new Uint8Array(n).fill(1);
  const lengths = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < d; j++) {
      const value = Z[i * d + j];
      if (value !== value) isObserved[i] = 0;
      else sum += value * value;
    }
    lengths[i] = Math.sqrt(sum);
  }

  /** Write A e into out; return its rank. */
  function mapTo(map, e, at, out, to) {
    if (map === null) {
      for (let j = 0; j < d; j++) out[to + j] = e[at + j];
      return d;
    }
    if (map.diagonal) {
      for (let j = 0; j < d; j++) out[to + j] = map.diagonal[j] * e[at + j];
      return d;
    }
    for (let r = 0, m = 0; r < map.rank; r++) {
      let sum = 0;
      for (let j = 0; j < d; j++, m++) sum += map.matrix[m] * e[at + j];
      out[to + r] = sum;
    }
    return map.rank;
  }

  const images = [];
  /** Return the rows under a map, once; those with missing values are NaN. */
  function imagesOf(g) {
    if (images[g] === undefined) {
      const rank = maps[g] === null ? d : maps[g].rank;
      images[g] = maps[g] === null ? Z : new Float64Array(n * rank);
      if (maps[g] !== null) for (let i = 0; i < n; i++) mapTo(maps[g], Z, i * d, images[g], i * rank);
    }
    return images[g];
  }

  /** Return the squared distances of all rows to a place, under a map, with its offset. */
  function distancesTo(point, w, g, offset) {
    const map = maps[g];
    const { length: rank } = point;
    const rows = imagesOf(g);
    const found = new Float64Array(n);
    const e = new Float64Array(d);
    const image = new Float64Array(rank);
    for (let i = 0; i < n; i++) {
      let sum = 0;
      if (isObserved[i]) {
        for (let r = 0, at = i * rank; r < rank; r++, at++) {
          const apart = rows[at] - point[r];
          sum += apart * apart;
        }
      } else {
        let seen = 0;
        for (let j = 0; j < d; j++) {
          const apart = Z[i * d + j] - w[j];
          e[j] = apart === apart ? apart : 0;
          seen += apart === apart ? 1 : 0;
        }
        mapTo(map, e, 0, image, 0);
        for (let r = 0; r < rank; r++) sum += image[r] * image[r];
        sum *= d / seen;
      }
      found[i] = sum + offset;
    }
    return found;
  }

  /** Return where a place pulls, whose differences bound how fast a lead can shrink. */
  function pullOf(image, g) {
    const map = maps[g];
    const { length: rank } = image;
    if (back !== null) {
      const pull = new Float64Array(back[0].length);
      for (let r = 0; r < rank; r++) for (let j = 0; j < pull.length; j++) pull[j] += back[r][j] * image[r];
      return pull;
    }
    if (map === null) return image;
    if (map.diagonal) return image.map((value, j) => value * map.diagonal[j]);
    const pull = new Float64Array(d);
    for (let r = 0, m = 0; r < rank; r++) for (let j = 0; j < d; j++, m++) pull[j] += map.matrix[m] * image[r];
    return pull;
  }

  /** Return a prototype: its class, its place among the numbers, its map, and all that follows. */
  function prototypeAt(code, w, map, offset) {
    const image = new Float64Array(maps[map] === null ? d : maps[map].rank);
    mapTo(maps[map], w, 0, image, 0);
    return { code, w, map, offset, image, D: distancesTo(image, w, map, offset), pull: pullOf(image, map), length: Math.hypot(...w) };
  }

  function paceOf(p, q) {
    if (certificate.root) return steepness.get(p.map) + steepness.get(q.map);
    let sum = 0;
    for (let j = 0; j < p.pull.length; j++) sum += (p.pull[j] - q.pull[j]) ** 2;
    return 2 * Math.sqrt(sum);
  }

  /** Return the document of a model with other prototypes. */
  function documentOf(list) {
    return {
      ...document,
      prototypes: list.map((p) => Array.from(p.w)),
      prototype_classes: list.map((p) => p.code),
      map_of: list.map((p) => p.map),
      scores: { ...document.scores, offsets: document.scores.offsets && list.map((p) => p.offset) },
      certificate: certificate && {
        root: certificate.root, pace: list.map((p) => list.map((q) => paceOf(p, q))),
      },
    };
  }

  /** Return what a model with these prototypes says of all rows. */
  function judge(list) {
    const K = list.length;
    const code = new Int32Array(n);
    const margin = new Float64Array(n);
    const radius = new Float64Array(n).fill(NaN);
    const confusion = Array.from({ length: C }, () => new Array(C).fill(0));
    const sharpness = document.scores.sharpness;
    const nearest = new Float64Array(C);
    const sums = new Float64Array(C);
    const classes = Int32Array.from(list, (p) => p.code);
    const D = list.map((p) => p.D);
    const own = new Float64Array(K);
    const high = new Float64Array(K);
    const low = new Float64Array(K);
    const certifies = certificate !== null;
    const pace = new Float64Array(K * K);
    if (certifies) {
      for (let k = 0; k < K; k++) for (let v = 0; v < K; v++) pace[k * K + v] = paceOf(list[k], list[v]);
    }
    const sizes = list.map((p) => ({ stretch: stretches[p.map], length: p.length }));
    const noise = EPSILON * (4 * d + 20);
    for (let i = 0; i < n; i++) {
      nearest.fill(Infinity);
      for (let k = 0; k < K; k++) {
        own[k] = D[k][i];
        if (own[k] < nearest[classes[k]]) nearest[classes[k]] = own[k];
      }
      let best = 0;
      if (isSoft) {
        sums.fill(0);
        for (let k = 0; k < K; k++) sums[classes[k]] += Math.exp(sharpness * (nearest[classes[k]] - own[k]));
        let top = -Infinity;
        for (let c = 0; c < C; c++) {
          const score = -nearest[c] + Math.log(sums[c]) / sharpness;
          if (score > top) { top = score; best = c; }
        }
      } else {
        for (let c = 1; c < C; c++) if (nearest[c] < nearest[best]) best = c;
      }
      let rival = Infinity;
      for (let c = 0; c < C; c++) if (c !== best && nearest[c] < rival) rival = nearest[c];
      code[i] = best;
      margin[i] = 0.5 * (Math.sqrt(rival) - Math.sqrt(nearest[best]));
      confusion[truth[i]][best]++;
      if (!certifies || !isObserved[i]) continue;
      for (let k = 0; k < K; k++) {
        const size = sizes[k].stretch * (lengths[i] + sizes[k].length);
        const off = noise * size * size + 4 * EPSILON * own[k];
        if (classes[k] === best) high[k] = certificate.root ? Math.sqrt(own[k] + off) : own[k] + off;
        else low[k] = certificate.root ? Math.sqrt(Math.max(own[k] - off, 0)) : own[k] - off;
      }
      let most = 0;
      for (let k = 0; k < K; k++) {
        if (classes[k] !== best) continue;
        let least = Infinity;
        for (let v = 0; v < K; v++) {
          if (classes[v] === best) continue;
          const gap = low[v] - high[k];
          const far = gap > 0 ? gap / pace[k * K + v] : gap;
          if (far < least) least = far;
        }
        if (least > most) most = least;
      }
      radius[i] = Math.max(most * (1 - 64 * EPSILON) - 8 * EPSILON * lengths[i], 0);
    }
    let correct = 0;
    for (let c = 0; c < C; c++) correct += confusion[c][c];
    return { code, margin, radius, confusion, correct };
  }

  const label = (value) => {
    const code = document.classes.indexOf(value);
    if (code < 0) throw new RangeError(`There is no class ${JSON.stringify(value)}.`);
    return code;
  };
  const check = (list, k) => {
    if (!(k in list)) throw new RangeError("There is no such prototype.");
    return list[k];
  };
  const needOther = (list, code) => {
    if (list.filter((p) => p.code === code).length < 2) {
      throw new RangeError(`It would leave the class ${JSON.stringify(document.classes[code])} without a prototype.`);
    }
  };

  /** Return the place that values of columns have, the others as they were. */
  function placeWith(w, values, locked) {
    const moved = Float64Array.from(w);
    for (const [name, value] of Object.entries(values)) {
      const j = names.get(name);
      if (j === undefined || document.columns[j].kind === "unused") throw new RangeError(`There is no column ${JSON.stringify(name)}.`);
      if (locked.includes(name)) throw new RangeError(`The column ${JSON.stringify(name)} is locked.`);
      moved.set(numbersOf(j, value), starts[j]);
    }
    return moved;
  }

  /** Return the numbers of a value of a column. */
  function numbersOf(j, value) {
    const column = document.columns[j];
    if (column.categories && value !== null && !column.categories.includes(value)) {
      throw new RangeError(`The column ${JSON.stringify(column.name)} has no category ${JSON.stringify(value)}.`);
    }
    return encoder([column]).encode([value], false);
  }

  const operations = {
    move(state, { prototype, values }) {
      const p = check(state.list, prototype);
      const list = state.list.slice();
      list[prototype] = prototypeAt(p.code, placeWith(p.w, values, state.locked), p.map, p.offset);
      return { ...state, list };
    },
    remove(state, { prototype }) {
      needOther(state.list, check(state.list, prototype).code);
      return { ...state, list: state.list.filter((_, k) => k !== prototype) };
    },
    relabel(state, edit) {
      const p = check(state.list, edit.prototype);
      const code = label(edit.label);
      if (code === p.code) throw new RangeError("The prototype has this class already.");
      needOther(state.list, p.code);
      const list = state.list.slice();
      const { offset } = list.find((one) => one.code === code);
      list[edit.prototype] = prototypeAt(code, p.w, p.map, offset);
      return { ...state, list };
    },
    add(state, edit) {
      const code = label(edit.label);
      const lacks = document.columns.find((column) => column.kind !== "unused" && !Object.hasOwn(edit.values, column.name));
      if (lacks) throw new RangeError(`A new prototype needs a value in the column ${JSON.stringify(lacks.name)}.`);
      const like = state.list.find((p) => p.code === code);
      const w = placeWith(new Float64Array(d), edit.values, []);
      return { ...state, list: [...state.list, prototypeAt(code, w, like.map, like.offset)] };
    },
    merge(state, { prototype, other }) {
      const p = check(state.list, prototype);
      const q = check(state.list, other);
      if (p === q) throw new RangeError("A prototype cannot be merged with itself.");
      if (p.code !== q.code) needOther(state.list, q.code);
      const w = p.w.map((value, j) => 0.5 * (value + q.w[j]));
      for (const name of state.locked) {
        const j = names.get(name);
        w.set(p.w.subarray(starts[j], starts[j] + document.columns[j].width), starts[j]);
      }
      const list = state.list.slice();
      list[prototype] = prototypeAt(p.code, w, p.map, p.offset);
      list.splice(other, 1);
      return { ...state, list };
    },
    lock: (state, { columns }) => ({ ...state, locked: [...new Set([...state.locked, ...columns])] }),
    unlock: (state, { columns }) => ({ ...state, locked: state.locked.filter((name) => !columns.includes(name)) }),
  };

  const first = {
    list: document.prototypes.map((w, k) => prototypeAt(
      document.prototype_classes[k], Float64Array.from(w), document.map_of[k], document.scores.offsets ? document.scores.offsets[k] : 0)),
    locked: [],
  };

  return {
    first, judge, documentOf, starts, names, encode: one.encode, d, n,
    /** Return the state after an edit; the old one stays as it is, for undo. */
    apply: (state, edit) => operations[edit.edit](state, edit),
  };
}
