/* What follows is the same for every model; the numbers above are those of this one. */

#include <float.h>
#include <stddef.h>
#ifndef MODEL_NO_MATH
#include <math.h>
#endif

#if defined(__GNUC__)
#define MODEL_FUNCTION static inline __attribute__((unused))
#else
#define MODEL_FUNCTION static inline
#endif

#if MODEL_TEXTS
MODEL_FUNCTION int model_same_text(const char *x, MODEL_ROM char *y) {
  while (*x != 0 && *x == *y) x++, y++;
  return *x == *y;
}
#endif

/* Turn a row into the numbers that are compared. Return 0, or -1 if a value is not usable. */
MODEL_FUNCTION int model_encode(const model_value *row, model_number *z) {
  int j, start = 0;
  for (j = 0; j < MODEL_COLUMNS; j++) {
    const int kind = model_kind(j);
    if (kind == 'u') continue;
    if (kind == 'n') {
      const model_input value = MODEL_NUMBER(row[j]);
      if (value != value) {
        if (model_has_missing(j) == 0 && !MODEL_SKIPS) return -1;
        z[start] = model_has_missing(j) ? model_missing(j) : (model_number)value;
      } else {
        if (value - value != 0) return -1;
        z[start] = (model_number)((value - model_offset(j)) * model_scale(j));
      }
#if MODEL_MARKS
      if (model_width(j) == 2) z[start + 1] = model_marks[2 * j + (value != value)];
#endif
      start += model_width(j);
    }
#if MODEL_LISTS
    if (kind == 't' || kind == 'c') {
      const int first = model_first_category[j], count = model_category_count[j];
      int k, i, found = count + 1;
      for (k = 0; k < count && found > count; k++) {
#if MODEL_TEXTS
        if (kind == 't') {
          if (row[j].text != NULL && model_same_text(row[j].text, model_category_texts[first + k]))
            found = k;
          continue;
        }
#endif
        if (MODEL_NUMBER(row[j]) == model_category_numbers[first + k]) found = k;
      }
#if MODEL_TEXTS
      if (kind == 't' && found > count && (row[j].text == NULL || row[j].text[0] == 0))
        found = count;
#endif
      if (kind == 'c' && MODEL_NUMBER(row[j]) != MODEL_NUMBER(row[j])) found = count;
      for (i = 0; i < model_width(j); i++)
        z[start + i] = model_entries[model_first_entry[j] + found * model_width(j) + i];
      start += model_width(j);
    }
#endif
  }
  return 0;
}

/* Confidences. */

MODEL_FUNCTION model_number model_sqrt(model_number x) {
#ifdef MODEL_NO_MATH
  model_number root = x > 1 ? x : 1, next = (root + x / root) / 2;
  while (next < root) {
    root = next;
    next = (root + x / root) / 2;
  }
  return x > 0 ? root : 0;
#else
  return x > 0 ? (model_number)MODEL_MATH(sqrt)(x) : 0;
#endif
}

MODEL_FUNCTION model_number model_larger(model_number x, model_number y) { return x > y ? x : y; }

MODEL_FUNCTION int model_largest(const model_number *values, int count) {
  int k, best = 0;
  for (k = 1; k < count; k++) best = values[k] > values[best] ? k : best;
  return best;
}

/* The largest value but one: that of another class. */
MODEL_FUNCTION int model_second(const model_number *values, int count, int but) {
  int k, best = but == 0 ? 1 : 0;
  for (k = 0; k < count; k++) best = k != but && values[k] > values[best] ? k : best;
  return best;
}

#if MODEL_PROBABILITIES != 0 && !defined(MODEL_NO_MATH)
MODEL_FUNCTION void model_normalize(model_number *shares) {
  model_number total = 0;
  int c;
  for (c = 0; c < MODEL_CLASSES; c++) total += shares[c];
  for (c = 0; c < MODEL_CLASSES; c++) shares[c] /= total;
}

#if MODEL_PROBABILITIES == 3
MODEL_FUNCTION model_number model_interpolate(model_number value, int c) {
  int low = model_first_step[c], high = model_first_step[c + 1] - 1;
  if (!(value > model_step_at[low])) return model_step_height[low];
  if (value >= model_step_at[high]) return model_step_height[high];
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (model_step_at[middle] <= value) low = middle;
    else high = middle;
  }
  return model_step_height[low] + (value - model_step_at[low]) /
         (model_step_at[high] - model_step_at[low]) *
         (model_step_height[high] - model_step_height[low]);
}
#endif

/* Write the probability of each class. */
MODEL_FUNCTION void model_shares(const model_number *scores, int code, model_number *shares) {
  int c;
#if MODEL_PROBABILITIES == 1
  model_number values[MODEL_CLASSES];
  int top;
  for (c = 0; c < MODEL_CLASSES; c++) {
    model_number value = scores[c];
#if MODEL_MARGINS == 1
    value = -model_sqrt(-scores[c]);
#elif MODEL_MARGINS == 2
    const int best = model_largest(scores, MODEL_CLASSES);
    const model_number D = model_larger(-scores[c], 0);
    const model_number R = model_larger(-scores[model_second(scores, MODEL_CLASSES, best)], 0);
    value = R + D > 0 ? (R - D) / (R + D) : 0;
#endif
    values[c] = MODEL_FACTOR * value + model_class_offset(c);
  }
  top = model_largest(values, MODEL_CLASSES);
  for (c = 0; c < MODEL_CLASSES; c++) shares[c] = MODEL_MATH(exp)(values[c] - values[top]);
  model_normalize(shares);
  for (c = 0; c < MODEL_CLASSES; c++)
    shares[c] = (1 - MODEL_FLOOR) * shares[c] + MODEL_FLOOR / MODEL_CLASSES;
#elif MODEL_PROBABILITIES == 2
  for (c = 0; c < MODEL_CLASSES; c++) shares[c] = 1 / (1 + MODEL_MATH(exp)(-scores[c]));
  model_normalize(shares);
#else
  model_number values[MODEL_CLASSES];
  for (c = 0; c < MODEL_CLASSES; c++) {
    values[c] = scores[c];
#if MODEL_LOWERED
    values[c] -= model_lowered[c];
#endif
  }
  for (c = 0; c < MODEL_CLASSES; c++)
    shares[c] = model_interpolate(values[c] - values[model_second(values, MODEL_CLASSES, c)], c);
  model_normalize(shares);
#endif
#if MODEL_AGREE
  model_number level = 0;
  int above = 0;
  const model_number own = shares[code];
  for (c = 0; c < MODEL_CLASSES; c++)
    if (shares[c] >= own) level += shares[c], above++;
  for (c = 0; c < MODEL_CLASSES; c++)
    if (shares[c] >= own) shares[c] = level / (model_number)above;
  shares[code] *= 1 + 4 * MODEL_EPSILON;
  model_normalize(shares);
#else
  (void)code;
#endif
}
#endif

/* Margins of distances. */

#if MODEL_REACH
/* How far prototypes may move before a lead is lost. */
MODEL_FUNCTION model_number model_reach(model_number lead, const model_number *shrinking,
                                        const model_number *growing, const model_number *weight,
                                        int count) {
  model_number pace = 0, alpha = 0, beta = 0, gamma = lead, divisor;
  int i, k;
  for (i = 0; i < count; i++) pace += weight[i] * (shrinking[i] + growing[i]);
  for (i = 0; i < count; i++) {
    model_number lost = 2 * shrinking[i] * pace, come;
    for (k = 0; k < count; k++) {
      const model_number past = model_larger(shrinking[i] - shrinking[k], 0);
      lost += weight[k] * past * past;
    }
    come = lost < lead ? weight[i] : 0;
    alpha += come;
    beta += weight[i] * growing[i] + (weight[i] - come) * shrinking[i];
    gamma -= come * shrinking[i] * shrinking[i];
  }
  gamma = model_larger(gamma, 0);
  divisor = beta + model_sqrt(beta * beta + alpha * gamma);
  return divisor > 0 ? gamma / divisor : 0;
}
#endif

/* The hypothesis margin of the predicted class; others are the distances to the other prototypes
   of linear scores. */
MODEL_FUNCTION model_number model_margin(const model_number *scores, int code,
                                         const model_number *distances,
                                         const model_number *others) {
  (void)scores, (void)code, (void)distances, (void)others;
#if MODEL_REACH
  model_number least = MODEL_MOST;
  int c;
  for (c = 0; c < MODEL_CLASSES; c++) {
    const model_number lead = 2 * (scores[code] - scores[c]);
    model_number shrinking[2], growing[2], weight[2], found;
    if (c == code) continue;
    shrinking[MODEL_REACH - 1] = model_sqrt(distances[c]);
    growing[0] = model_sqrt(distances[code]);
    weight[0] = model_weights[MODEL_REACH == 2 ? code : 0];
#if MODEL_REACH == 2
    shrinking[0] = model_sqrt(others[code]), growing[1] = model_sqrt(others[c]);
    weight[1] = model_weights[c];
#endif
    found = model_reach(lead, shrinking, growing, weight, MODEL_REACH);
    least = found < least ? found : least;
  }
  return least;
#elif MODEL_LINEAR
  return -1;
#else
  int k;
  model_number own = MODEL_MOST, rival = MODEL_MOST;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    model_number *side = model_prototype_class[k] == code ? &own : &rival;
    if (distances[k] < *side) *side = distances[k];
  }
  return (model_sqrt(rival) - model_sqrt(own)) / 2;
#endif
}

/* Decisions in floating point. */

/* The answer for a row; a number that the model does not have is -1. */
typedef struct {
  int code;              /* the place of the predicted class in model_labels */
  int nearest_prototype; /* the place of the nearest prototype */
  int rejected;          /* whether the confidence is below the threshold */
  model_number scores[MODEL_CLASSES];
  model_number probabilities[MODEL_CLASSES];
  model_number contributions[MODEL_COLUMNS]; /* they add up to the lead of the class */
  model_number margin;                       /* how far prototypes may move */
  model_number certified_radius;             /* no row that is nearer has another class */
  model_number distances[MODEL_PROTOTYPES > 0 ? MODEL_PROTOTYPES : 1];
} model_answer;

#if MODEL_PROTOTYPES
/* Write A v, with the map of a prototype; return how many numbers it has. */
MODEL_FUNCTION int model_map(const model_number *v, int map, model_number *image) {
  const int rank = model_rank[map], kind = model_map_kind[map];
  MODEL_ROM model_number *row = model_maps + model_first_map[map];
  int r, j;
  for (r = 0; r < rank; r++) {
    model_number sum = 0;
    if (kind == 'i') sum = v[r];
    else if (kind == 'd') sum = row[r] * v[r];
    else
      for (j = 0; j < MODEL_FEATURES; j++) sum += *row++ * v[j];
    image[r] = sum;
  }
  return rank;
}

/* Write the squared distances; with values missing, times the features over the observed ones. */
MODEL_FUNCTION void model_distances(const model_number *z, MODEL_ROM model_number *points,
                                    MODEL_ROM model_number *mapped, int count,
                                    model_number share, model_number *distances) {
  model_number image[MODEL_IMAGE] = {0};
  int k, j, r, before = -1;
  for (k = 0; k < count; k++) {
    const int map = model_map_of[k], rank = model_rank[map];
    model_number sum = 0;
    if (share > 1) {
      model_number e[MODEL_FEATURES];
      for (j = 0; j < MODEL_FEATURES; j++) {
        e[j] = z[j] - points[k * MODEL_FEATURES + j];
        if (e[j] != e[j]) e[j] = 0;
      }
      model_map(e, map, image);
      for (r = 0; r < rank; r++) sum += image[r] * image[r];
    } else {
      if (map != before) model_map(z, map, image);
      before = map;
      for (r = 0; r < rank; r++) sum += (image[r] - mapped[r]) * (image[r] - mapped[r]);
      mapped += rank;
    }
    distances[k] = sum * share;
#if MODEL_OFFSETS
    distances[k] += model_offsets[k];
#endif
  }
}

/* Find the nearest prototype of a class, and that of all others. */
MODEL_FUNCTION void model_nearest(const model_number *distances, int code, int *own, int *rival) {
  int k;
  *own = *rival = -1;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    int *which = model_prototype_class[k] == code ? own : rival;
    if (*which < 0 || distances[k] < distances[*which]) *which = k;
  }
}

/* Add what each number of a row has in the distance to a prototype. */
MODEL_FUNCTION void model_terms(const model_number *z, int k, model_number factor,
                                model_number *contributions) {
  model_number e[MODEL_FEATURES], image[MODEL_IMAGE] = {0};
  const int map = model_map_of[k], kind = model_map_kind[map];
  MODEL_ROM model_number *matrix = model_maps + model_first_map[map];
  int j, r, rank, c = 0, left;
  for (j = 0; j < MODEL_FEATURES; j++) {
    e[j] = z[j] - model_prototypes[k * MODEL_FEATURES + j];
    if (e[j] != e[j]) e[j] = 0;
  }
  rank = model_map(e, map, image);
  left = model_width(0);
  for (j = 0; j < MODEL_FEATURES; j++) {
    model_number sum = 0;
    if (kind == 'i') sum = e[j];
    else if (kind == 'd') sum = matrix[j] * image[j];
    else
      for (r = 0; r < rank; r++) sum += matrix[r * MODEL_FEATURES + j] * image[r];
    while (left == 0) {
      c++;
      left = model_width(c);
    }
    contributions[c] += factor * e[j] * sum;
    left--;
  }
}
#endif

/* Write a score for each class; the largest wins. */
MODEL_FUNCTION void model_scores(const model_number *z, const model_number *distances,
                                 model_number *scores) {
  int c;
#if MODEL_LINEAR
  int j;
  (void)distances;
  for (c = 0; c < MODEL_CLASSES; c++) {
    scores[c] = model_intercept[c];
    for (j = 0; j < MODEL_FEATURES; j++) scores[c] += model_coef[c * MODEL_FEATURES + j] * z[j];
  }
#else
  int k;
  (void)z;
  for (c = 0; c < MODEL_CLASSES; c++) {
    scores[c] = -MODEL_MOST;
    for (k = 0; k < MODEL_PROTOTYPES; k++)
      if (model_prototype_class[k] == c) scores[c] = model_larger(scores[c], -distances[k]);
#if MODEL_SOFT
    model_number sum = 0;
    for (k = 0; k < MODEL_PROTOTYPES; k++)
      if (model_prototype_class[k] == c)
        sum += MODEL_MATH(exp)(MODEL_SHARPNESS * (-distances[k] - scores[c]));
    scores[c] += MODEL_MATH(log)(sum) / MODEL_SHARPNESS;
#endif
  }
#endif
}

#if MODEL_CERTIFICATE
/* How far the value of a prototype or class can be off, wherever a row of some length moves. */
MODEL_FUNCTION model_number model_error(int k, model_number value, model_number length,
                                        model_number moved) {
#if MODEL_LINEAR
  (void)value;
  return ((length + moved) * model_stretch[k] + model_size[k]) * MODEL_EPSILON
         * (MODEL_FEATURES + 10);
#else
  const int map = model_map_of[k], terms = model_map_kind[map] == 'm' ? MODEL_FEATURES : 0;
  const model_number stretch = model_stretch[k];
  const model_number far = model_sqrt(value) + stretch * moved;
  const model_number image = ((model_number)(terms + 2) * (length + moved) + model_size[k])
                             * stretch * MODEL_EPSILON + far * MODEL_EPSILON;
  return (far + image) * image + ((model_number)(model_rank[map] + 2) * far * far + 4 * value)
                                 * MODEL_EPSILON;
#endif
}

/* A radius that is proved for rows that move less than some length; none: without rounding. */
MODEL_FUNCTION model_number model_certify(const model_number *values, int code,
                                          model_number length, model_number moved, int none) {
  model_number radius = 0;
  int j, v;
  for (j = 0; j < MODEL_PACES; j++) {
    model_number least = MODEL_MOST;
    const model_number own = none ? 0 : model_error(j, values[j], length, moved);
    if (MODEL_CLASS_OF(j) != code) continue;
    for (v = 0; v < MODEL_PACES; v++) {
      const model_number other = none ? 0 : model_error(v, values[v], length, moved);
      model_number gap = MODEL_LINEAR ? (values[j] - values[v]) - own - other
                                      : (values[v] - values[j]) - own - other;
      if (MODEL_CLASS_OF(v) == code) continue;
      if (MODEL_ROOT) gap = model_sqrt(values[v] - other) - model_sqrt(values[j] + own);
      if (gap > 0) gap /= model_pace[j * MODEL_PACES + v];
      least = gap < least ? gap : least;
    }
    radius = model_larger(radius, least);
  }
  return radius;
}

/* A radius that is proved, with the rounding of distances held against it. */
MODEL_FUNCTION model_number model_radius(const model_number *z, const model_number *values,
                                         int code) {
  model_number radius, length = 0;
  int j;
  for (j = 0; j < MODEL_FEATURES; j++) length += z[j] * z[j];
  length = model_sqrt(length);
  radius = model_certify(values, code, length, 0, 1);
  radius = model_certify(values, code, length, radius, 0);
  radius = radius * (1 - 8 * MODEL_EPSILON) - 8 * MODEL_EPSILON * length;
  return model_larger(radius, 0);
}
#endif

/* Write what each column adds to the lead of the predicted class over the second. */
MODEL_FUNCTION void model_explain(const model_number *z, const model_number *scores, int code,
                                  const model_number *distances, model_number share,
                                  model_number *contributions) {
  int c;
  for (c = 0; c < MODEL_COLUMNS; c++) contributions[c] = 0;
#if MODEL_LINEAR
  const int rival = model_second(scores, MODEL_CLASSES, code);
  MODEL_ROM model_number *one = model_coef + code * MODEL_FEATURES;
  MODEL_ROM model_number *other = model_coef + rival * MODEL_FEATURES;
  model_number square = 0, away;
  int j, left = model_width(0);
  (void)distances, (void)share;
  for (j = 0; j < MODEL_FEATURES; j++) square += (one[j] - other[j]) * (one[j] - other[j]);
  away = square > 0 ? (model_intercept[code] - model_intercept[rival]) / square : 0;
  for (c = 0, j = 0; j < MODEL_FEATURES; j++) {
    const model_number normal = one[j] - other[j];
    while (left == 0) {
      c++;
      left = model_width(c);
    }
    contributions[c] += normal * (z[j] + away * normal);
    left--;
  }
#else
  int own, rival;
  (void)scores;
  model_nearest(distances, code, &own, &rival);
  model_terms(z, rival, share, contributions);
  model_terms(z, own, -share, contributions);
#endif
}

/* Write distances and scores of encoded numbers; return features over observed ones, 0: none. */
MODEL_FUNCTION model_number model_measure(const model_number *z, model_number *distances,
                                          model_number *scores) {
  model_number share = 1;
#if MODEL_SKIPS
  int j, observed = 0;
  for (j = 0; j < MODEL_FEATURES; j++) observed += z[j] == z[j];
  if (observed == 0) return 0;
  share = (model_number)MODEL_FEATURES / (model_number)observed;
#endif
#if MODEL_PROTOTYPES
  model_distances(z, model_prototypes, model_mapped, MODEL_PROTOTYPES, share, distances);
#endif
  model_scores(z, distances, scores);
  return share;
}

/* Write the answer for a row. Return the place of the class, or -1 if a value is not usable. */
MODEL_FUNCTION int model_predict(const model_value *row, model_answer *answer) {
  model_number z[MODEL_FEATURES], share, others[MODEL_REACH == 2 ? MODEL_CLASSES : 1] = {0};
  int code, c;
  if (model_encode(row, z) != 0) return -1;
  share = model_measure(z, answer->distances, answer->scores);
  if (!(share > 0)) return -1;
  answer->code = code = model_largest(answer->scores, MODEL_CLASSES);
  answer->nearest_prototype = -1;
#if MODEL_PROTOTYPES
  answer->nearest_prototype = 0;
  for (c = 1; c < MODEL_PROTOTYPES; c++)
    if (answer->distances[c] < answer->distances[answer->nearest_prototype])
      answer->nearest_prototype = c;
#endif
#if MODEL_PROBABILITIES != 0 && !defined(MODEL_NO_MATH)
  model_shares(answer->scores, code, answer->probabilities);
#else
  for (c = 0; c < MODEL_CLASSES; c++) answer->probabilities[c] = -1;
#endif
  (void)c;
  model_explain(z, answer->scores, code, answer->distances, share, answer->contributions);
#if MODEL_REACH == 2
  model_distances(z, model_rest, model_mapped_rest, MODEL_CLASSES, 1, others);
#endif
  answer->margin = model_margin(answer->scores, code, answer->distances, others);
#if MODEL_CERTIFICATE
  answer->certified_radius =
      share > 1 ? -1 : model_radius(z, MODEL_LINEAR ? answer->scores : answer->distances, code);
#else
  answer->certified_radius = -1;
#endif
  answer->rejected = MODEL_REJECTS(answer);
  return code;
}

/* Return the place of the class alone, which is faster; -1 if a value is not usable. */
MODEL_FUNCTION int model_classify(const model_value *row) {
  model_number z[MODEL_FEATURES], scores[MODEL_CLASSES];
  model_number distances[MODEL_PROTOTYPES > 0 ? MODEL_PROTOTYPES : 1];
  if (model_encode(row, z) != 0 || !(model_measure(z, distances, scores) > 0)) return -1;
  return model_largest(scores, MODEL_CLASSES);
}
