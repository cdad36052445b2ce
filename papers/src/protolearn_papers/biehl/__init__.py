"""Biehl's lecture notes: chapters 5 and 6."""
