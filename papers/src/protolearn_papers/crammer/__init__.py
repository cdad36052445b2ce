"""Crammer, Gilad-Bachrach, Navot and Tishby (2002), *Margin Analysis of the LVQ Algorithm*."""
