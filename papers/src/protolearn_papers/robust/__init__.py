"""Certified robustness: the record on MNIST, and small tables."""
