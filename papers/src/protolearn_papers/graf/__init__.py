"""Graf, Bousquet, Rätsch and Schölkopf (2009), *Prototype Classification*, section 8."""
