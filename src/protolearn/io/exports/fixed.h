/* Decisions in fixed point: whole numbers alone, from model_quantize on. */

#include <stdint.h>

/* The answer for a row. */
typedef struct {
  int code;              /* the place of the predicted class in model_labels */
  int nearest_prototype; /* the place of the nearest prototype, -1 for linear scores */
  model_wide scores[MODEL_CLASSES]; /* in units of MODEL_SCORE_UNIT; the largest wins */
  int64_t contributions[MODEL_COLUMNS]; /* in units of MODEL_CONTRIBUTION_UNIT */
} model_answer;

/* Round half away from zero, times a power of two. */
MODEL_FUNCTION model_wide model_shift(model_wide x) {
#if MODEL_SHIFT
  const model_wide half = (model_wide)1 << (MODEL_SHIFT - 1);
  return x < 0 ? -((half - x) >> MODEL_SHIFT) : (x + half) >> MODEL_SHIFT;
#else
  return x;
#endif
}

/* Turn encoded numbers into whole ones; what is too large becomes the largest. */
MODEL_FUNCTION int model_quantize(const model_number *z, model_small *q) {
  int j;
  for (j = 0; j < MODEL_FEATURES; j++) {
    const model_number x = z[j] * model_input_scale[j];
    if (x != x) return -1;
    if (x >= MODEL_TOP) q[j] = MODEL_TOP;
    else if (x <= -MODEL_TOP) q[j] = -MODEL_TOP;
    else q[j] = (model_small)(x < 0 ? x - (model_number)0.5 : x + (model_number)0.5);
  }
  return 0;
}

#if !MODEL_LINEAR
/* Write A q, with the map of a prototype; return how many numbers it has. */
MODEL_FUNCTION int model_map(const model_small *q, int map, model_image *image) {
  const int rank = model_rank[map], kind = model_map_kind[map];
  MODEL_ROM model_small *row = model_maps + model_first_map[map];
  int r, j;
  for (r = 0; r < rank; r++) {
    model_wide sum = 0;
    if (kind == 'i') {
      image[r] = q[r];
      continue;
    }
    if (kind == 'd') sum = (model_wide)row[r] * q[r];
    else
      for (j = 0; j < MODEL_FEATURES; j++) sum += (model_wide)*row++ * q[j];
    image[r] = (model_image)model_shift(sum);
  }
  return rank;
}

/* Write the squared distances, in units of -MODEL_SCORE_UNIT. */
MODEL_FUNCTION void model_distances(const model_small *q, model_wide *distances) {
  model_image image[MODEL_IMAGE] = {0};
  MODEL_ROM model_image *mapped = model_mapped;
  int k, r, before = -1;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    const int map = model_map_of[k], rank = model_rank[map];
    model_wide sum = 0;
    if (map != before) model_map(q, map, image);
    before = map;
    for (r = 0; r < rank; r++) {
      const model_wide e = (model_wide)image[r] - mapped[r];
      sum += e * e;
    }
    mapped += rank;
    distances[k] = sum;
  }
}

/* Add what each number of a row has in the distance to a prototype. */
MODEL_FUNCTION void model_terms(const model_small *q, int k, int sign, int64_t *contributions) {
  const int map = model_map_of[k], kind = model_map_kind[map];
  MODEL_ROM model_small *matrix = model_maps + model_first_map[map];
  MODEL_ROM model_image *mapped = model_mapped;
  model_image image[MODEL_IMAGE] = {0};
  int j, r, c = 0, left = model_width[0];
  const int rank = model_map(q, map, image);
  for (j = 0; j < k; j++) mapped += model_rank[model_map_of[j]];
  for (j = 0; j < MODEL_FEATURES; j++) {
    const int64_t e = (int64_t)q[j] - model_prototypes[k * MODEL_FEATURES + j];
    int64_t sum = 0;
    if (kind == 'i') sum = (int64_t)image[j] - mapped[j];
    else if (kind == 'd') sum = (int64_t)matrix[j] * ((int64_t)image[j] - mapped[j]);
    else
      for (r = 0; r < rank; r++)
        sum += (int64_t)matrix[r * MODEL_FEATURES + j] * ((int64_t)image[r] - mapped[r]);
    while (left == 0) left = model_width[++c];
    contributions[c] += sign * e * sum;
    left--;
  }
}
#endif

/* Write the answer for whole numbers, and return the place of the class. */
MODEL_FUNCTION int model_decide(const model_small *q, model_answer *answer) {
  int c, best = 0;
#if MODEL_LINEAR
  int j;
  for (c = 0; c < MODEL_CLASSES; c++) {
    model_wide sum = model_intercept[c];
    for (j = 0; j < MODEL_FEATURES; j++)
      sum += (model_wide)model_coef[c * MODEL_FEATURES + j] * q[j];
    answer->scores[c] = sum;
  }
  for (c = 1; c < MODEL_CLASSES; c++) best = answer->scores[c] > answer->scores[best] ? c : best;
  answer->nearest_prototype = -1;
  for (c = 0; c < MODEL_COLUMNS; c++) answer->contributions[c] = 0;
#else
  model_wide distances[MODEL_PROTOTYPES];
  int k, own = 0, rival = -1;
  model_distances(q, distances);
  for (k = 1; k < MODEL_PROTOTYPES; k++) own = distances[k] < distances[own] ? k : own;
  best = model_prototype_class[own];
  for (c = 0; c < MODEL_CLASSES; c++) answer->scores[c] = -MODEL_WIDEST;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    c = model_prototype_class[k];
    if (-distances[k] > answer->scores[c]) answer->scores[c] = -distances[k];
    if (c != best && (rival < 0 || distances[k] < distances[rival])) rival = k;
  }
  answer->nearest_prototype = own;
  for (c = 0; c < MODEL_COLUMNS; c++) answer->contributions[c] = 0;
  model_terms(q, rival, 1, answer->contributions);
  model_terms(q, own, -1, answer->contributions);
#endif
  answer->code = best;
  return best;
}

/* Write the answer for a row. Return the place of the class, or -1 if a value is not usable. */
MODEL_FUNCTION int model_predict(const model_value *row, model_answer *answer) {
  model_number z[MODEL_FEATURES];
  model_small q[MODEL_FEATURES];
  if (model_encode(row, z) != 0 || model_quantize(z, q) != 0) return -1;
  return model_decide(q, answer);
}
