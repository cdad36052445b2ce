// A classifier, exported by protolearn. It runs offline and needs nothing else.
//
//     import { predict } from "./model.mjs";
//     predict({ age: 37, sex: "female" }).label
//
// A row is an object with a value for each column, or an array in the order of the columns. Dates
// are Date objects, texts such as "2024-05-31" or days since 1970. A missing value is null,
// undefined, NaN or "".

/**
 * @typedef {object} Answer
 * @property {string|number|boolean} label The predicted class, or the label of rejected rows.
 * @property {number} code The place of the predicted class among the classes.
 * @property {number[]} scores One score for each class; the largest wins.
 * @property {number[]|null} probabilities One for each class; null if the model has none.
 * @property {number|null} nearestPrototype The place of the nearest prototype.
 * @property {number[]} distances The squared distance to each prototype.
 * @property {number[]} contributions What each column adds to the lead of the predicted class.
 * @property {number|null} margin How far prototypes may move before the class changes.
 * @property {number|null} certifiedRadius No row that is nearer has another class.
 * @property {boolean} rejected Whether the confidence is below the threshold of the model.
 */

const EPSILON = Number.EPSILON;
const FORMAT = "protolearn-model";
const DAY = 86400000;

/** Return the inputs of a model as numbers. */
function encoder(columns) {
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const places = new Map(columns.map((column, j) => [column.name, j]));
  const lists = columns.map((column) =>
    column.categories ? new Map(column.categories.map((value, k) => [key(value), k])) : null);

  /** @param {any} row @param {boolean} skips @returns {Float64Array} */
  function encode(row, skips) {
    const z = new Float64Array(width);
    let start = 0;
    for (let j = 0; j < columns.length; j++) {
      const column = columns[j];
      if (column.kind === "unused") continue;
      const value = Array.isArray(row) || ArrayBuffer.isView(row) ? row[j] : own(row, column.name);
      const absent = value === null || value === undefined || value !== value
        || (value === "" && !(lists[j] && lists[j].has(key(value, column))));
      if (lists[j]) {
        const k = absent ? undefined : lists[j].get(key(value, column));
        const entries = absent ? column.missing : k === undefined ? column.unknown
          : column.entries[k];
        for (let i = 0; i < column.width; i++) z[start + i] = entries[i];
      } else if (absent) {
        if (column.indicator) z[start + 1] = column.indicator[1];
        if (column.missing === null && !skips) {
          throw new RangeError(`Column ${JSON.stringify(column.name)} has no value.`);
        }
        z[start] = column.missing === null ? NaN : column.missing;
      } else {
        const number = column.kind === "date" ? days(value) : Number(value);
        if (!Number.isFinite(number)) {
          throw new RangeError(
            `Column ${JSON.stringify(column.name)} needs a ${column.kind}, not ${String(value)}.`);
        }
        z[start] = (number - column.offset) * column.scale;
        if (column.indicator) z[start + 1] = column.indicator[0];
      }
      start += column.width;
    }
    return z;
  }
  return { encode, width, places };
}

function own(row, name) {
  return Object.prototype.hasOwnProperty.call(row, name) ? row[name] : undefined;
}

/** Return what categories are compared by: "1" is the number 1 where the categories are numbers. */
function key(value, column) {
  if (column !== undefined && typeof value === "string" && column.kind === "boolean") {
    return `boolean:${["true", "yes", "1"].includes(value.trim().toLowerCase())}`;
  }
  if (column !== undefined && typeof value === "string"
      && !column.categories.some((one) => typeof one === "string")) {
    return `number:${Number(value)}`;
  }
  return `${typeof value}:${value}`;
}

/** Return days since 1970. */
function days(value) {
  if (typeof value === "number") return value;
  if (value instanceof Date) return value.getTime() / DAY;
  const text = String(value).trim().replace(" ", "T");
  const zoned = /T.*(Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes("T");
  return Date.parse(zoned ? text : `${text}Z`) / DAY;
}

/** Return all numbers of rows in one array. */
function flat(rows) {
  return Float64Array.from(rows.flat());
}

function softmax(values) {
  const top = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / total);
}

function argmax(values) {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
  return best;
}

function best(values, other) {
  let found = -Infinity;
  for (let k = 0; k < values.length; k++) if (k !== other && values[k] > found) found = values[k];
  return found;
}

function interpolate(value, [at, heights]) {
  const last = at.length - 1;
  if (!(value > at[0])) return heights[0];
  if (value >= at[last]) return heights[last];
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (at[middle] <= value) low = middle; else high = middle;
  }
  const share = (value - at[low]) / (at[high] - at[low]);
  return heights[low] + share * (heights[high] - heights[low]);
}

/** Return how far prototypes may move before a lead is lost. */
function reach(lead, shrinking, growing, weights) {
  let pace = 0;
  for (let i = 0; i < weights.length; i++) pace += weights[i] * (shrinking[i] + growing[i]);
  let alpha = 0;
  let beta = 0;
  let gamma = lead;
  for (let i = 0; i < weights.length; i++) {
    let lost = 2 * shrinking[i] * pace;
    for (let k = 0; k < weights.length; k++) {
      lost += weights[k] * Math.max(shrinking[i] - shrinking[k], 0) ** 2;
    }
    const come = lost < lead ? weights[i] : 0;
    alpha += come;
    beta += weights[i] * growing[i] + (weights[i] - come) * shrinking[i];
    gamma -= come * shrinking[i] ** 2;
  }
  gamma = Math.max(gamma, 0);
  const divisor = beta + Math.sqrt(beta * beta + alpha * gamma);
  return divisor > 0 ? gamma / divisor : 0;
}

/** Return the functions of a model, given as the document that `export(to="json")` writes. */
export function modelOf(model) {
  if (model.format !== FORMAT || model.version !== 1) {
    throw new TypeError("This is no model that protolearn has exported in format version 1.");
  }
  const { encode, width: d } = encoder(model.columns);
  const C = model.classes.length;
  const K = model.prototypes.length;
  const W = flat(model.prototypes);
  const skips = model.missing === "skip";
  const linear = model.scores.kind === "linear";
  const coef = linear ? model.scores.coef.map((row) => Float64Array.from(row)) : [];
  const rest = model.margin && model.margin.rest ? model.margin.rest : [];
  const maps = model.maps.map((map) => map && {
    diagonal: map.diagonal ? Float64Array.from(map.diagonal) : null,
    matrix: map.matrix ? flat(map.matrix) : null,
    rank: map.matrix ? map.matrix.length : d,
  });
  const rounding = model.prototypes.map((row, k) => {
    const map = model.maps[model.map_of[k]];
    const numbers = !map ? [1] : map.diagonal || map.matrix.flat();
    const stretch = Math.hypot(...numbers);
    return { stretch, length: Math.hypot(...row) };
  });

  /** Write A e for the map of prototype k; return how many numbers it has. */
  function mapped(e, k, out) {
    const map = maps[model.map_of[k]];
    if (!map) {
      out.set(e);
      return d;
    }
    if (map.diagonal) {
      for (let j = 0; j < d; j++) out[j] = map.diagonal[j] * e[j];
      return d;
    }
    for (let r = 0, at = 0; r < map.rank; r++) {
      let sum = 0;
      for (let j = 0; j < d; j++, at++) sum += map.matrix[at] * e[j];
      out[r] = sum;
    }
    return map.rank;
  }

  const difference = new Float64Array(d);
  const image = new Float64Array(Math.max(d, ...maps.map((map) => (map ? map.rank : d))));

  /** Write z - w of a prototype, with zeros where a value is missing. */
  function subtract(z, w, at) {
    for (let j = 0; j < d; j++) {
      const e = z[j] - w[at + j];
      difference[j] = skips && e !== e ? 0 : e;
    }
  }

  /** Return points under the maps of their prototypes. */
  function imagesOf(w, count) {
    const images = [];
    for (let k = 0; k < count; k++) {
      const rank = mapped(w.subarray(k * d, (k + 1) * d), linear ? 0 : k, image);
      images.push(image.slice(0, rank));
    }
    return images;
  }

  /** Add the threshold of each prototype to its distance. */
  function raise(distances) {
    const { offsets } = model.scores;
    if (offsets) offsets.forEach((offset, k) => { distances[k] += offset; });
    return distances;
  }

  /** Return the squared distances, times features / observed ones. */
  function distancesOf(z, w, count, share, images) {
    const found = new Array(count);
    if (share === 1) {
      let before = -1;
      for (let k = 0; k < count; k++) {
        const map = linear ? 0 : model.map_of[k];
        if (map !== before) mapped(z, linear ? 0 : k, image);
        before = map;
        const point = images[k];
        let sum = 0;
        for (let r = 0; r < point.length; r++) sum += (image[r] - point[r]) ** 2;
        found[k] = sum;
      }
      return raise(found);
    }
    for (let k = 0; k < count; k++) {
      subtract(z, w, k * d);
      const rank = mapped(difference, linear ? 0 : k, image);
      let sum = 0;
      for (let r = 0; r < rank; r++) sum += image[r] * image[r];
      found[k] = sum * share;
    }
    return raise(found);
  }

  /** Add what each number of z has in the distance to a prototype. */
  function addTerms(z, k, factor, terms) {
    subtract(z, W, k * d);
    const map = maps[model.map_of[k]];
    const rank = mapped(difference, k, image);
    for (let j = 0; j < d; j++) {
      let sum = 0;
      if (!map) sum = difference[j];
      else if (map.diagonal) sum = map.diagonal[j] * image[j];
      else for (let r = 0; r < rank; r++) sum += map.matrix[r * d + j] * image[r];
      terms[j] += factor * difference[j] * sum;
    }
  }

  const imagesOfPrototypes = imagesOf(W, K);
  const V = flat(rest);
  const imagesOfRest = imagesOf(V, rest.length);

  function scoresOf(z, distances) {
    if (linear) {
      return coef.map((row, c) => {
        let sum = model.scores.intercept[c];
        for (let j = 0; j < d; j++) sum += row[j] * z[j];
        return sum;
      });
    }
    const sharpness = model.scores.sharpness;
    const nearest = new Array(C).fill(-Infinity);
    for (let k = 0; k < K; k++) {
      const c = model.prototype_classes[k];
      if (-distances[k] > nearest[c]) nearest[c] = -distances[k];
    }
    if (sharpness === null) return nearest;
    const sums = new Array(C).fill(0);
    for (let k = 0; k < K; k++) {
      const c = model.prototype_classes[k];
      sums[c] += Math.exp(sharpness * (-distances[k] - nearest[c]));
    }
    return nearest.map((top, c) => top + Math.log(sums[c]) / sharpness);
  }

  function probabilitiesOf(scores, code) {
    const form = model.probabilities;
    if (form === null) return null;
    let shares;
    if (form.kind === "logistic") {
      const odds = scores.map((score) => 1 / (1 + Math.exp(-score)));
      const total = odds.reduce((a, b) => a + b, 0);
      return odds.map((value) => value / total);
    }
    if (form.kind === "isotonic") {
      const own = form.lowered ? scores.map((score, c) => score - form.lowered[c]) : scores;
      shares = own.map((score, c) => interpolate(score - best(own, c), form.steps[c]));
      const total = shares.reduce((a, b) => a + b, 0);
      shares = shares.map((share) => share / total);
    } else {
      shares = softmax(marginsOf(scores, form.of).map(
        (value, c) => form.factor * value + (form.offsets ? form.offsets[c] : 0)));
      if (form.floor) shares = shares.map((p) => (1 - form.floor) * p + form.floor / C);
    }
    if (!form.agree) return shares;
    const above = shares.map((share) => share >= shares[code]);
    const level = shares.reduce((sum, share, c) => sum + (above[c] ? share : 0), 0)
      / above.filter(Boolean).length;
    shares = shares.map((share, c) => (above[c] ? level : share));
    shares[code] *= 1 + 1e-9;
    const total = shares.reduce((a, b) => a + b, 0);
    return shares.map((share) => share / total);
  }

  function marginsOf(scores, kind) {
    if (kind === "scores") return scores;
    const D = scores.map((score) => Math.max(-score, 0));
    if (kind === "root") return D.map((value) => -Math.sqrt(value));
    const second = D.slice().sort((a, b) => a - b)[1];
    return D.map((value) => (second + value > 0 ? (second - value) / (second + value) : 0));
  }

  function contributionsOf(z, scores, code, distances, share) {
    const terms = new Float64Array(d);
    if (linear) {
      let rival = code === 0 ? 1 : 0;
      for (let c = 0; c < C; c++) if (c !== code && scores[c] > scores[rival]) rival = c;
      let square = 0;
      for (let j = 0; j < d; j++) square += (coef[code][j] - coef[rival][j]) ** 2;
      const offset = model.scores.intercept[code] - model.scores.intercept[rival];
      const away = square > 0 ? offset / square : 0;
      for (let j = 0; j < d; j++) {
        const normal = coef[code][j] - coef[rival][j];
        terms[j] = normal * (z[j] + away * normal);
      }
    } else {
      const [own, rival] = nearestOf(distances, code);
      addTerms(z, rival, share, terms);
      addTerms(z, own, -share, terms);
    }
    let start = 0;
    return model.columns.map((column) => {
      let sum = 0;
      for (const end = start + column.width; start < end; start++) sum += terms[start];
      return sum;
    });
  }

  /** Return the nearest prototype of a class, and that of all others. */
  function nearestOf(distances, code) {
    let own = -1;
    let rival = -1;
    for (let k = 0; k < K; k++) {
      if (model.prototype_classes[k] === code) {
        if (own < 0 || distances[k] < distances[own]) own = k;
      } else if (rival < 0 || distances[k] < distances[rival]) rival = k;
    }
    return [own, rival];
  }

  function marginOf(z, scores, code, distances) {
    const form = model.margin;
    if (form === null) return null;
    if (form.kind === "gap") {
      const [own, rival] = nearestOf(distances, code);
      return 0.5 * (Math.sqrt(distances[rival]) - Math.sqrt(distances[own]));
    }
    const near = distances.map(Math.sqrt);
    const others = rest.length ? distancesOf(z, V, C, 1, imagesOfRest).map(Math.sqrt) : null;
    let least = Infinity;
    for (let c = 0; c < C; c++) {
      if (c === code) continue;
      const lead = 2 * (scores[code] - scores[c]);
      const found = others
        ? reach(lead, [others[code], near[c]], [near[code], others[c]],
          [form.weights[code], form.weights[c]])
        : reach(lead, [near[c]], [near[code]], form.weights);
      if (found < least) least = found;
    }
    return least;
  }

  /** Return the certified radius: leads over paces, with the rounding of distances against it. */
  function radiusOf(z, scores, code, distances, share) {
    const form = model.certificate;
    if (form === null || share !== 1) return null;
    const length = Math.hypot(...z);
    const count = linear ? C : K;
    const values = linear ? scores.map((score) => -score) : distances;
    const classes = linear ? null : model.prototype_classes;
    const noise = values.map((value, k) => {
      if (!linear) {
        const size = rounding[k].stretch * (length + rounding[k].length);
        return EPSILON * ((4 * d + 20) * size * size + 4 * value);
      }
      return EPSILON * (d + 10) * (length * Math.hypot(...coef[k])
        + Math.abs(model.scores.intercept[k]));
    });
    let radius = 0;
    for (let j = 0; j < count; j++) {
      if ((classes ? classes[j] : j) !== code) continue;
      let least = Infinity;
      for (let v = 0; v < count; v++) {
        if ((classes ? classes[v] : v) === code) continue;
        const low = values[v] - noise[v];
        const high = values[j] + noise[j];
        const gap = form.root ? Math.sqrt(Math.max(low, 0)) - Math.sqrt(high) : low - high;
        const pace = form.pace[j][v];
        least = Math.min(least, gap > 0 ? gap / pace : gap);
      }
      radius = Math.max(radius, least);
    }
    return Math.max(radius * (1 - 64 * EPSILON) - 8 * EPSILON * length, 0);
  }

  function rejects(answer) {
    const form = model.reject;
    if (form === null) return false;
    const { code, scores } = answer;
    const confidence = {
      probability: () => Math.max(...answer.probabilities),
      margin: () => answer.margin,
      radius: () => answer.certifiedRadius,
      lead: () => scores[code] - best(scores, code),
    }[form.measure]();
    return !(confidence >= form.thresholds[code]);
  }

  /** Return the answer for a row of encoded numbers. @returns {Answer} */
  function decide(z) {
    let observed = d;
    if (skips) for (let j = 0; j < d; j++) if (z[j] !== z[j]) observed--;
    if (d > 0 && observed === 0) throw new RangeError("All values of the row are missing.");
    const share = observed < d ? d / observed : 1;
    const distances = distancesOf(z, W, K, share, imagesOfPrototypes);
    const scores = scoresOf(z, distances);
    const code = argmax(scores);
    const answer = {
      label: model.classes[code],
      code,
      scores,
      probabilities: probabilitiesOf(scores, code),
      nearestPrototype: K > 0 ? argmax(distances.map((value) => -value)) : null,
      distances,
      contributions: contributionsOf(z, scores, code, distances, share),
      margin: marginOf(z, scores, code, distances),
      certifiedRadius: radiusOf(z, scores, code, distances, share),
      rejected: false,
    };
    answer.rejected = rejects(answer);
    if (answer.rejected && model.reject.label !== null) answer.label = model.reject.label;
    return answer;
  }

  /** Return the label alone, which is faster. */
  function label(row) {
    const z = encode(row, skips);
    if (model.reject !== null || z.some(Number.isNaN)) return decide(z).label;
    const distances = linear ? [] : distancesOf(z, W, K, 1, imagesOfPrototypes);
    return model.classes[argmax(scoresOf(z, distances))];
  }

  return {
    document: model,
    classes: model.classes,
    columns: model.columns.map((column) => column.name),
    /** @param {object|any[]} row @returns {Float64Array} */
    encode: (row) => encode(row, skips),
    decide,
    label,
    /** @param {object|any[]} row @returns {Answer} */
    predict: (row) => decide(encode(row, skips)),
  };
}
