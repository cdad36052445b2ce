"""Biehl, *The Shallow and the Deep*, lecture notes: chapters 5 and 6."""
