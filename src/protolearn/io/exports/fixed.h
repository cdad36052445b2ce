/* Decisions in fixed point: from model_quantize on whole numbers alone decide. */

/* The answer for a row. Confidences are computed from the whole numbers in floating point; one that
   the model does not have is -1. */
typedef struct {
  int code;              /* the place of the predicted class in model_labels */
  int nearest_prototype; /* the place of the nearest prototype, -1 without prototypes */
  int rejected;          /* whether the confidence is below the threshold */
  model_wide scores[MODEL_CLASSES]; /* in units of MODEL_SCORE_UNIT; the largest wins */
  int64_t contributions[MODEL_COLUMNS]; /* in units of MODEL_CONTRIBUTION_UNIT */
  model_number probabilities[MODEL_CLASSES];
  model_number margin;           /* how far prototypes may move */
  model_number certified_radius; /* no row that is nearer has another class */
} model_answer;

/* Divide by a power of two, and round half away from zero. */
MODEL_FUNCTION int64_t model_shift(int64_t x, int bits) {
  const int64_t half = ((int64_t)1 << bits) >> 1;
  return x < 0 ? -((half - x) >> bits) : (x + half) >> bits;
}

/* Turn encoded numbers into whole ones; what is too large becomes the largest. */
MODEL_FUNCTION int model_quantize(const model_number *z, model_small *q) {
  int j;
  for (j = 0; j < MODEL_FEATURES; j++) {
    const model_number x = z[j] * model_input_scale(j);
    if (x != x) return -1;
    if (x >= MODEL_TOP) q[j] = MODEL_TOP;
    else if (x <= -MODEL_TOP) q[j] = -MODEL_TOP;
    else q[j] = (model_small)(x < 0 ? x - (model_number)0.5 : x + (model_number)0.5);
  }
  return 0;
}

/* What decides. */

#if MODEL_PROTOTYPES
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
    image[r] = (model_image)model_shift(sum, MODEL_SHIFT);
  }
  return rank;
}

/* Write the squared distances, in units of MODEL_DISTANCE_UNIT. */
MODEL_FUNCTION void model_distances(const model_small *q, MODEL_ROM model_image *mapped,
                                    model_wide *distances) {
  model_image image[MODEL_IMAGE] = {0};
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
#if MODEL_OFFSETS
    sum += model_offsets[k];
#endif
    distances[k] = sum;
  }
}
#endif

/* Write the score of each class; return the place of the largest. */
MODEL_FUNCTION int model_scores(const model_small *q, const model_wide *distances,
                                model_wide *scores) {
  int c, best = 0;
#if MODEL_LINEAR
  int j;
  (void)distances;
  for (c = 0; c < MODEL_CLASSES; c++) {
    scores[c] = model_intercept[c];
    for (j = 0; j < MODEL_FEATURES; j++)
      scores[c] += (model_wide)model_coef[c * MODEL_FEATURES + j] * q[j];
  }
  for (c = 1; c < MODEL_CLASSES; c++) best = scores[c] > scores[best] ? c : best;
  return best;
#else
  int k;
  (void)q;
  for (c = 0; c < MODEL_CLASSES; c++) scores[c] = -MODEL_WIDEST;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    c = model_prototype_class[k];
    if (-distances[k] > scores[c]) scores[c] = -distances[k];
    best = distances[k] < distances[best] ? k : best;
  }
  return model_prototype_class[best];
#endif
}

#if MODEL_LINEAR
/* Write what each column adds to the lead of a class over the second. */
MODEL_FUNCTION void model_explain(const model_small *q, const model_wide *scores, int code,
                                  int64_t *contributions) {
  MODEL_ROM model_small *one = model_coef + code * MODEL_FEATURES, *other;
  int64_t total = 0, lead;
  int j, c, rival = code == 0, left = model_width(0);
  for (c = 0; c < MODEL_CLASSES; c++) rival = c != code && scores[c] > scores[rival] ? c : rival;
  other = model_coef + rival * MODEL_FEATURES;
  lead = (int64_t)model_intercept[code] - model_intercept[rival];
  for (j = 0; j < MODEL_FEATURES; j++) {
    const int64_t normal = (int64_t)one[j] - other[j];
    total += normal * normal * model_away[j];
  }
  if (total < 1) total = 1;
  for (c = 0, j = 0; j < MODEL_FEATURES; j++) {
    const int64_t normal = (int64_t)one[j] - other[j];
    const int64_t share = (normal * normal * model_away[j] * (1 << MODEL_AWAY_BITS)) / total;
    while (left == 0) {
      c++;
      left = model_width(c);
    }
    contributions[c] += normal * q[j] + model_shift(lead * share, MODEL_AWAY_BITS);
    left--;
  }
}
#else
/* Add what each number of a row has in the distance to a prototype. */
MODEL_FUNCTION void model_terms(const model_small *q, int k, int sign, int64_t *contributions) {
  const int map = model_map_of[k], kind = model_map_kind[map];
  MODEL_ROM model_small *matrix = model_maps + model_first_map[map];
  MODEL_ROM model_image *mapped = model_mapped;
  model_image image[MODEL_IMAGE] = {0};
  int j, r, c = 0, left = model_width(0);
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
    while (left == 0) {
      c++;
      left = model_width(c);
    }
    contributions[c] += sign * e * sum;
    left--;
  }
}

/* Write what each column adds to the lead of a class over the second. */
MODEL_FUNCTION void model_explain(const model_small *q, const model_wide *distances, int code,
                                  int64_t *contributions) {
  int k, own = -1, rival = -1;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    int *which = model_prototype_class[k] == code ? &own : &rival;
    if (*which < 0 || distances[k] < distances[*which]) *which = k;
  }
  model_terms(q, rival, 1, contributions);
  model_terms(q, own, -1, contributions);
}
#endif

#if MODEL_CERTIFICATE
/* A radius that is proved; what rounding to whole numbers can change is held against it. */
MODEL_FUNCTION model_number model_radius(const model_wide *values, int code) {
  model_number radius = 0;
  int j, v;
  for (j = 0; j < MODEL_PACES; j++) {
    model_number least = MODEL_MOST;
    if (MODEL_CLASS_OF(j) != code) continue;
    for (v = 0; v < MODEL_PACES; v++) {
      model_number gap;
      if (MODEL_CLASS_OF(v) == code) continue;
#if MODEL_ROOT
      gap = model_sqrt((model_number)values[v]) * (1 - 4 * MODEL_EPSILON)
            - model_sqrt((model_number)values[j]) * (1 + 4 * MODEL_EPSILON);
#else
      gap = MODEL_LINEAR ? (model_number)(values[j] - values[v])
                         : (model_number)(values[v] - values[j]);
#endif
      gap -= model_slack[j * MODEL_PACES + v];
      if (gap > 0) gap /= model_pace[j * MODEL_PACES + v];
      least = gap < least ? gap : least;
    }
    radius = model_larger(radius, least);
  }
  return model_larger(radius * (1 - 64 * MODEL_EPSILON), 0);
}
#endif

/* Write the confidences of an answer. */
MODEL_FUNCTION void model_confide(const model_small *q, const model_wide *distances,
                                  model_answer *answer) {
  model_number scores[MODEL_CLASSES], near[MODEL_PROTOTYPES > 0 ? MODEL_PROTOTYPES : 1] = {0};
  model_number others[MODEL_REACH == 2 ? MODEL_CLASSES : 1] = {0};
  int c;
  for (c = 0; c < MODEL_CLASSES; c++)
    scores[c] = MODEL_SCORE_UNIT * (model_number)answer->scores[c];
#if MODEL_PROTOTYPES
  for (c = 0; c < MODEL_PROTOTYPES; c++)
    near[c] = MODEL_DISTANCE_UNIT * (model_number)distances[c];
#endif
#if MODEL_REACH == 2
  model_wide rest[MODEL_PROTOTYPES];
  model_distances(q, model_mapped_rest, rest);
  for (c = 0; c < MODEL_CLASSES; c++) others[c] = MODEL_DISTANCE_UNIT * (model_number)rest[c];
#endif
  (void)q, (void)distances;
#if MODEL_PROBABILITIES != 0 && !defined(MODEL_NO_MATH)
  model_shares(scores, answer->code, answer->probabilities);
#else
  for (c = 0; c < MODEL_CLASSES; c++) answer->probabilities[c] = -1;
#endif
  answer->margin = model_margin(scores, answer->code, near, others);
#if MODEL_CERTIFICATE
  answer->certified_radius =
      model_radius(MODEL_LINEAR ? answer->scores : distances, answer->code);
#else
  answer->certified_radius = -1;
#endif
}

/* Write the answer for whole numbers, and return the place of the class. */
MODEL_FUNCTION int model_decide(const model_small *q, model_answer *answer) {
  model_wide distances[MODEL_PROTOTYPES > 0 ? MODEL_PROTOTYPES : 1] = {0};
  int c;
  answer->nearest_prototype = -1;
#if MODEL_PROTOTYPES
  model_distances(q, model_mapped, distances);
  answer->nearest_prototype = 0;
  for (c = 1; c < MODEL_PROTOTYPES; c++)
    if (distances[c] < distances[answer->nearest_prototype]) answer->nearest_prototype = c;
#endif
  answer->code = model_scores(q, distances, answer->scores);
  for (c = 0; c < MODEL_COLUMNS; c++) answer->contributions[c] = 0;
  model_explain(q, MODEL_LINEAR ? answer->scores : distances, answer->code, answer->contributions);
  model_confide(q, distances, answer);
  answer->rejected = MODEL_REJECTS(answer);
  return answer->code;
}

/* Write the answer for a row. Return the place of the class, or -1 if a value is not usable. */
MODEL_FUNCTION int model_predict(const model_value *row, model_answer *answer) {
  model_number z[MODEL_FEATURES];
  model_small q[MODEL_FEATURES];
  if (model_encode(row, z) != 0 || model_quantize(z, q) != 0) return -1;
  return model_decide(q, answer);
}

/* Return the place of the class alone, which is faster; -1 if a value is not usable. */
MODEL_FUNCTION int model_classify(const model_value *row) {
  model_number z[MODEL_FEATURES];
  model_small q[MODEL_FEATURES];
  model_wide scores[MODEL_CLASSES], distances[MODEL_PROTOTYPES > 0 ? MODEL_PROTOTYPES : 1] = {0};
  if (model_encode(row, z) != 0 || model_quantize(z, q) != 0) return -1;
#if MODEL_PROTOTYPES && !MODEL_LINEAR
  model_distances(q, model_mapped, distances);
#endif
  return model_scores(q, distances, scores);
}
