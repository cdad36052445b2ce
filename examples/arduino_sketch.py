"""
A sketch for an Arduino
=======================

A model of three kilobytes that reads digits of 8 x 8 pixels, on a board with 2 KB of memory. It
says how sure it is and learns from digits whose class you tell it.
"""

import tempfile
from pathlib import Path

from protolearn import SmallGMLVQ, datasets, export

# %%
# A small model
# -------------
#
# The model has two prototypes a class, behind a map of ten rows, so that the prototypes fit into
# memory, where they can learn. :func:`~protolearn.compress` makes such a model of another one.

X, y = datasets.load("digits")
model = SmallGMLVQ(
    max_bytes=3000, rank=10, prototypes_per_class=2, label_scores=1, random_state=0
).fit(X[:1200], y[:1200])
print(
    f"{model.n_bytes_} bytes; {model.score(X[1200:], y[1200:]):.1%} of the other digits are right"
)

# %%
# A folder for the Arduino IDE
# ----------------------------
#
# Tables stay in flash where C is compiled, so a file in C includes the header, and the sketch calls
# its functions. It reads 64 numbers from the serial port, and answers with the digit; after a line
# such as ``= 7`` it learns that the last one was a 7.

folder = Path(tempfile.mkdtemp()) / "digits"
folder.mkdir()
export(model, folder / "model.h", to="c", number="int8")

(folder / "model.c").write_text(r"""
#define MODEL_LEARN 2 /* GLVQ; 1: LVQ1 */
#include "model.h"

static model_small pixels[MODEL_FEATURES];
static model_answer answer;

void digits_start(void) { model_start(); }

int digits_read(const float *row) {
  return model_encode_whole(row, pixels) == 0 ? model_decide(pixels, &answer) : -1;
}

float digits_probability(void) { return answer.probabilities[answer.code]; }

void digits_learn(int digit) { model_learn(pixels, digit); }
""")

(folder / "digits.ino").write_text(r"""
extern "C" {
void digits_start(void);
int digits_read(const float *row);
float digits_probability(void);
void digits_learn(int digit);
}

void setup() {
  Serial.begin(9600);
  digits_start();
}

void loop() {
  if (!Serial.available()) return;
  if (Serial.peek() == '=') {
    Serial.read();
    digits_learn((int)Serial.parseInt());
    Serial.println("learned");
    return;
  }
  float row[64];
  for (int j = 0; j < 64; j++) row[j] = Serial.parseFloat();
  Serial.print(digits_read(row));
  Serial.print(", probability ");
  Serial.println(digits_probability());
}
""")
print(sorted(path.name for path in folder.iterdir()))
