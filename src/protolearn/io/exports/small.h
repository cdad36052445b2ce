/* The prototype of label score k is point k / MODEL_SCORES behind the map, and has its class. */
#define MODEL_POINT(k) ((k) / MODEL_SCORES)
#if MODEL_SCORES == MODEL_CLASSES
#define MODEL_CLASS(k) ((k) % MODEL_CLASSES)
#else
#define MODEL_CLASS(k) model_classes[k]
#endif

#ifdef MODEL_LEARN
/* Points that learn are in memory, in units that are finer by some bits. */
#ifndef MODEL_RATE
#define MODEL_RATE 51 /* of MODEL_WHOLE_RATE */
#endif
#define MODEL_FINE 8
#define MODEL_WHOLE_RATE 1024
static model_image model_points[MODEL_POINTS * MODEL_IMAGE];
#define MODEL_PLACE(i) ((model_wide)model_shift(model_points[i], MODEL_FINE))
#else
#define MODEL_PLACE(i) ((model_wide)model_places[i])
#endif

/* Write A q, with numbers that are cut off at the largest one. */
MODEL_FUNCTION void model_map(const model_small *q, model_small *image) {
  int r, j;
#if MODEL_SPARSE
  MODEL_ROM model_small *value = model_values;
  MODEL_ROM uint8_t *gap = model_gaps;
#else
  MODEL_ROM model_small *value = model_matrix;
#endif
  for (r = 0; r < MODEL_IMAGE; r++) {
    model_wide sum = 0;
    int64_t found;
#if MODEL_SPARSE
    int at = 0;
    for (j = 0; j < (int)model_counts[r]; j++) {
      at += *gap++;
      sum += (model_wide)*value++ * q[at];
    }
#else
    for (j = 0; j < MODEL_FEATURES; j++) sum += (model_wide)*value++ * q[j];
#endif
    found = model_shift(sum, MODEL_SHIFT);
    image[r] = (model_small)(found > MODEL_TOP ? MODEL_TOP : found < -MODEL_TOP ? -MODEL_TOP : found);
  }
}

/* Write the squared distance of each point, in units of MODEL_DISTANCE_UNIT. */
MODEL_FUNCTION void model_distances(const model_small *image, model_wide *distances) {
  int k, r, i = 0;
  for (k = 0; k < MODEL_POINTS; k++) {
    model_wide sum = 0;
    for (r = 0; r < MODEL_IMAGE; r++, i++) {
      const model_wide e = image[r] - MODEL_PLACE(i);
      sum += e * e;
    }
    distances[k] = sum;
  }
}

/* The distance of a prototype: what its label score takes is added. */
MODEL_FUNCTION model_wide model_distance(const model_wide *distances, int k) {
  return distances[MODEL_POINT(k)] + (model_wide)model_costs[k] * MODEL_COST_UNIT;
}

/* Find the nearest prototype of a class, and that of all others; -1: there is none. */
MODEL_FUNCTION void model_nearest(const model_wide *distances, int code, int *own, int *rival) {
  int k;
  model_wide least[2] = {0, 0};
  *own = *rival = -1;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    const int other = (int)MODEL_CLASS(k) != code;
    int *which = other ? rival : own;
    const model_wide D = model_distance(distances, k);
    if (*which < 0 || D < least[other]) *which = k, least[other] = D;
  }
}

/* Find the same among points that stand for the class of their best label score, if there are any. */
MODEL_FUNCTION void model_rivals(const model_wide *distances, int code, int *own, int *rival) {
  int p, e;
  model_wide least[2] = {0, 0};
  int best[2] = {-1, -1};
  for (p = 0; p < MODEL_POINTS; p++) {
    int k = p * MODEL_SCORES, other;
    model_wide D;
    for (e = 1; e < MODEL_SCORES; e++)
      if (model_costs[p * MODEL_SCORES + e] < model_costs[k]) k = p * MODEL_SCORES + e;
    other = (int)MODEL_CLASS(k) != code;
    D = model_distance(distances, k);
    if (best[other] < 0 || D < least[other]) best[other] = k, least[other] = D;
  }
  model_nearest(distances, code, own, rival);
  if (best[0] >= 0) *own = best[0];
  if (best[1] >= 0) *rival = best[1];
}

/* Write the sums of the weights of each class; return the place of the largest. */
MODEL_FUNCTION int model_scores(const model_wide *distances, model_wide *scores) {
  int k, c, best = 0;
  int64_t least = INT64_MAX;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    const int64_t e = ((int64_t)model_distance(distances, k) * MODEL_STEEPNESS) >> MODEL_FLATNESS;
    least = e < least ? e : least;
  }
  for (c = 0; c < MODEL_CLASSES; c++) scores[c] = 0;
  for (k = 0; k < MODEL_PROTOTYPES; k++) {
    const int64_t e =
        (((int64_t)model_distance(distances, k) * MODEL_STEEPNESS) >> MODEL_FLATNESS) - least;
    if (e < 16 * MODEL_LEVELS)
      scores[MODEL_CLASS(k)] += model_powers[e % MODEL_LEVELS] >> (e / MODEL_LEVELS);
  }
  for (c = 1; c < MODEL_CLASSES; c++) best = scores[c] > scores[best] ? c : best;
  return best;
}

/* Write what each column adds to the lead of the nearest prototype over that of other classes. */
MODEL_FUNCTION void model_explain(const model_small *q, const model_wide *distances, int own,
                                  int rival, int64_t *contributions) {
  model_wide normal[MODEL_FEATURES] = {0};
  int64_t total = 0, lead;
  int r, j, c = 0, left = model_width(0);
#if MODEL_SPARSE
  MODEL_ROM model_small *value = model_values;
  MODEL_ROM uint8_t *gap = model_gaps;
#else
  MODEL_ROM model_small *value = model_matrix;
#endif
  lead = (int64_t)model_distance(distances, rival) - model_distance(distances, own)
         + distances[MODEL_POINT(own)] - distances[MODEL_POINT(rival)];
  for (r = 0; r < MODEL_IMAGE; r++) {
    const model_wide one = MODEL_PLACE(MODEL_POINT(own) * MODEL_IMAGE + r);
    const model_wide other = MODEL_PLACE(MODEL_POINT(rival) * MODEL_IMAGE + r);
    lead += (int64_t)other * other - (int64_t)one * one;
#if MODEL_SPARSE
    int at = 0;
    for (j = 0; j < (int)model_counts[r]; j++) {
      at += *gap++;
      normal[at] += 2 * (one - other) * *value++;
    }
#else
    for (j = 0; j < MODEL_FEATURES; j++) normal[j] += 2 * (one - other) * *value++;
#endif
  }
  for (j = 0; j < MODEL_FEATURES; j++) {
    const int64_t n = model_shift(normal[j], MODEL_COARSE);
    total += n * n;
  }
  if (total < 1) total = 1;
  for (j = 0; j < MODEL_FEATURES; j++) {
    const int64_t n = model_shift(normal[j], MODEL_COARSE);
    const int64_t share = (n * n * (1 << MODEL_AWAY_BITS)) / total;
    while (left == 0) {
      c++;
      left = model_width(c);
    }
    contributions[c] += (int64_t)normal[j] * q[j];
#if MODEL_SHIFT < MODEL_AWAY_BITS
    contributions[c] += model_shift(lead * share, MODEL_AWAY_BITS - MODEL_SHIFT);
#else
    contributions[c] += lead * share * ((int64_t)1 << (MODEL_SHIFT - MODEL_AWAY_BITS));
#endif
    left--;
  }
}

/* Write the answer for whole numbers, and return the place of the class. */
MODEL_FUNCTION int model_decide(const model_small *q, model_answer *answer) {
  model_small image[MODEL_IMAGE];
  model_wide distances[MODEL_POINTS];
  model_number total = 0, near, far;
  int c, own, rival;
  model_map(q, image);
  model_distances(image, distances);
  answer->code = model_scores(distances, answer->scores);
  model_nearest(distances, -1, &own, &answer->nearest_prototype);
  model_nearest(distances, answer->code, &own, &rival);
  near = MODEL_DISTANCE_UNIT * (model_number)model_distance(distances, own);
  far = MODEL_DISTANCE_UNIT * (model_number)model_distance(distances, rival);
  answer->margin = (model_sqrt(far) - model_sqrt(near)) / 2;
  model_rivals(distances, answer->code, &own, &rival);
  for (c = 0; c < MODEL_CLASSES; c++) total += (model_number)answer->scores[c];
  for (c = 0; c < MODEL_CLASSES; c++)
    answer->probabilities[c] = (model_number)answer->scores[c] / total;
  for (c = 0; c < MODEL_COLUMNS; c++) answer->contributions[c] = 0;
  model_explain(q, distances, own, rival, answer->contributions);
  answer->certified_radius = -1;
  answer->rejected = MODEL_REJECTS(answer);
  return answer->code;
}

/* Return the place of the class of whole numbers alone, which is faster. */
MODEL_FUNCTION int model_decide_class(const model_small *q) {
  model_small image[MODEL_IMAGE];
  model_wide distances[MODEL_POINTS], scores[MODEL_CLASSES];
  model_map(q, image);
  model_distances(image, distances);
  return model_scores(distances, scores);
}

/* Turn a row into whole numbers. Return 0, or -1 if a value is not usable. */
MODEL_FUNCTION int model_encode_whole(const model_value *row, model_small *q) {
  model_number z[MODEL_FEATURES];
  return model_encode(row, z) != 0 || model_quantize(z, q) != 0 ? -1 : 0;
}

/* Write the answer for a row. Return the place of the class, or -1 if a value is not usable. */
MODEL_FUNCTION int model_predict(const model_value *row, model_answer *answer) {
  model_small q[MODEL_FEATURES];
  if (model_encode_whole(row, q) != 0) return -1;
  return model_decide(q, answer);
}

/* Return the place of the class alone, which is faster; -1 if a value is not usable. */
MODEL_FUNCTION int model_classify(const model_value *row) {
  model_small q[MODEL_FEATURES];
  if (model_encode_whole(row, q) != 0) return -1;
  return model_decide_class(q);
}

#ifdef MODEL_LEARN
/* Begin with the points of the training: call this before anything else. */
MODEL_FUNCTION void model_start(void) {
  int i;
  for (i = 0; i < MODEL_POINTS * MODEL_IMAGE; i++)
    model_points[i] = (model_image)(model_places[i] * (1 << MODEL_FINE));
}

/* Move a point towards an image, or away from it, by a share of MODEL_WHOLE_RATE. */
MODEL_FUNCTION void model_move(int point, const model_small *image, int share) {
  const int64_t most = (int64_t)MODEL_TOP << MODEL_FINE;
  int r;
  for (r = 0; r < MODEL_IMAGE; r++) {
    const int64_t before = model_points[point * MODEL_IMAGE + r];
    const int64_t apart = image[r] * ((int64_t)1 << MODEL_FINE) - before;
    const int64_t moved = before + model_shift(apart * share, 10);
    model_points[point * MODEL_IMAGE + r] =
        (model_image)(moved > most ? most : moved < -most ? -most : moved);
  }
}

/* Learn from whole numbers and the place of their class: a step of LVQ1 where MODEL_LEARN is 1, and
   of GLVQ where it is 2. */
MODEL_FUNCTION void model_learn(const model_small *q, int code) {
  model_small image[MODEL_IMAGE];
  model_wide distances[MODEL_POINTS];
  int own, rival;
  model_map(q, image);
  model_distances(image, distances);
#if MODEL_LEARN == 1
  model_nearest(distances, -1, &own, &rival);
  model_move(MODEL_POINT(rival), image,
             (int)MODEL_CLASS(rival) == code ? MODEL_RATE : -MODEL_RATE);
#else
  model_rivals(distances, code, &own, &rival);
  if (own >= 0 && rival >= 0) {
    const int64_t near = model_distance(distances, own), far = model_distance(distances, rival);
    const int share =
        near + far > 0 ? (int)(far * MODEL_WHOLE_RATE / (near + far)) : MODEL_WHOLE_RATE / 2;
    model_move(MODEL_POINT(own), image, (int)((int32_t)MODEL_RATE * share / MODEL_WHOLE_RATE));
    model_move(MODEL_POINT(rival), image,
               -(int)((int32_t)MODEL_RATE * (MODEL_WHOLE_RATE - share) / MODEL_WHOLE_RATE));
  }
#endif
}

/* Learn from a row and the place of its class. Return 0, or -1 if a value is not usable. */
MODEL_FUNCTION int model_update(const model_value *row, int code) {
  model_small q[MODEL_FEATURES];
  if (model_encode_whole(row, q) != 0) return -1;
  model_learn(q, code);
  return 0;
}
#endif
