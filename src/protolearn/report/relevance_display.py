"""Bars of features and columns: which count, how sure that is, and which way they push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._arrays import Floats
from .._validation import integer_in
from ..analysis import Effects, RelevanceProfile, column_effects, group_names, learned_metric
from ..analysis import feature_names as names_of
from .style import Display, colour, legend_beside, panel_grid, percent

PANELS_IN_A_ROW = 4
DARK = "#333333"
AGAINST = "#D55E00"
EFFECTS_IN_A_ROW = 3


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(Display):
    """Horizontal bars of the relevances, the largest on top; one panel for each local metric.

    Make one with :meth:`from_estimator` or :meth:`from_profile`.

    Parameters
    ----------
    values : array of shape (n_features,) or (n_groups, n_features)
        Length of the bars, as shares of one.
    feature_names : sequence of str
        Names of the features.
    group_names : sequence of str, default=()
        Names of the panels; none with one metric for all.
    interval : tuple of two arrays like ``values``, default=None
        Low and high ends of the interval of each bar.
    interval_name : str, default="interval"
        What the legend calls it.
    single : array like ``values``, default=None
        A second value of each bar, drawn as a dot: of the fit on all rows.
    max_features : int, default=20
        Features that are shown.

    Attributes
    ----------
    ax_ : matplotlib Axes, or array of them
        Where it was drawn; with local metrics one for each group.
    figure_ : matplotlib Figure
        Their figure.
    """

    values: Floats
    feature_names: Sequence[str]
    group_names: Sequence[str] = ()
    interval: tuple[Floats, Floats] | None = None
    interval_name: str = "interval"
    single: Floats | None = None
    max_features: int = 20

    @classmethod
    def from_estimator(
        cls, model: Any, *, feature_names: Any = None, max_features: int = 20, ax: Any = None
    ) -> RelevanceDisplay:
        """Draw the relevances of a fitted model.

        Parameters
        ----------
        model : classifier with a learned linear metric, or Pipeline that ends in one
            The fitted model.
        feature_names : sequence of str, default=None
            Names of the features that the last step sees; None: those of the training data.
        max_features : int, default=20
            How many features to show, those with the largest relevance.
        ax : matplotlib Axes, default=None
            Where to draw; local metrics need a sequence, one for each group. None makes a figure.

        Returns
        -------
        display : RelevanceDisplay
        """
        learned_metric(model)
        check_is_fitted(model)
        before = None
        if isinstance(model, Pipeline):
            model, before = model[-1], model[:-1] if len(model) > 1 else None
            check_is_fitted(model)
        names = names_of(model, before) if feature_names is None else list(map(str, feature_names))
        if len(names) != model.n_features_in_:
            raise ValueError(
                f"feature_names has {len(names)} names; the model sees {model.n_features_in_} "
                "features."
            )
        return cls(
            values=model.relevances_,
            feature_names=names,
            group_names=group_names(model),
            max_features=max_features,
        ).plot(ax=ax)

    @classmethod
    def from_profile(
        cls, profile: RelevanceProfile, *, max_features: int = 20, ax: Any = None
    ) -> RelevanceDisplay:
        """Draw a profile: means as bars, intervals as lines, the fit on all rows as dots.

        Parameters
        ----------
        profile : RelevanceProfile
            What :func:`protolearn.relevance_profile` gives.
        max_features : int, default=20
            How many features to show, those with the largest relevance.
        ax : matplotlib Axes, default=None
            Where to draw; local metrics need a sequence, one for each group. None makes a figure.

        Returns
        -------
        display : RelevanceDisplay
        """
        return cls(
            values=profile.mean,
            feature_names=profile.feature_names,
            group_names=profile.group_names,
            interval=(profile.low, profile.high),
            interval_name=f"{100 * profile.level:g} % of {len(profile.samples)} refits",
            single=profile.relevances,
            max_features=max_features,
        ).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        count = integer_in(self.max_features, "max_features={value!r}", 1)
        values = np.atleast_2d(self.values)
        shown = np.argsort(-values.mean(axis=0), kind="stable")[:count]
        panels = self._panels(ax, len(values), len(shown))
        drawn = [values, *(self.interval or ()), *([] if self.single is None else [self.single])]
        longest = max(float(np.atleast_2d(part)[:, shown].max()) for part in drawn)
        for g, panel in enumerate(panels):
            self._draw_bars(panel, g, shown)
            lowest = ax is not None or g + PANELS_IN_A_ROW >= len(panels)
            self._label(panel, g, shown, lowest)
            panel.set_xlim(0.0, 1.05 * longest)
        if self.interval is not None or self.single is not None:
            legend_beside(panels[min(len(panels), PANELS_IN_A_ROW) - 1])
        return panels if self.group_names else panels[0]

    def _panels(self, ax: Any, n_panels: int, n_bars: int) -> Any:
        """Return one axes for each group, new ones if none are given."""
        if ax is None:
            across = min(n_panels, PANELS_IN_A_ROW)
            down = -(-n_panels // across)
            size = (6.4 if n_panels == 1 else 2.0 + 2.4 * across), down * (1.0 + 0.28 * n_bars)
            return panel_grid(n_panels, across, figsize=size, sharex=True, sharey=True)
        panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(panels) != n_panels:
            raise ValueError(
                f"ax has {len(panels)} axes; this picture has {n_panels} panels, one for each "
                "local metric. Give as many, or ax=None."
            )
        return panels

    def _draw_bars(self, panel: Any, g: int, shown: Any) -> None:
        """Draw the bars of one group."""
        rows = np.arange(len(shown))
        panel.barh(rows, np.atleast_2d(self.values)[g, shown], color=colour(0), alpha=0.75)
        if self.interval is not None:
            low, high = (np.atleast_2d(end)[g, shown] for end in self.interval)
            panel.hlines(rows, low, high, color=DARK, lw=1.4, label=self.interval_name)
            panel.plot(np.r_[low, high], np.r_[rows, rows], "|", color=DARK, ms=6)
        if self.single is not None:
            dots = np.atleast_2d(self.single)[g, shown]
            panel.plot(dots, rows, "o", color="w", mec=DARK, ms=5, label="fit on all rows")

    def _label(self, panel: Any, g: int, shown: Any, lowest: bool) -> None:
        """Name features, axis and group; inner panels have no axis labels."""
        panel.set_yticks(np.arange(len(shown)), [self.feature_names[j] for j in shown])
        panel.set_ylim(len(shown) - 0.5, -0.5)
        panel.locator_params(axis="x", nbins=3 if self.group_names else 6)
        panel.xaxis.set_major_formatter(percent)
        if self.group_names:
            panel.set_title(self.group_names[g])
            panel.label_outer()
        if lowest:
            panel.tick_params(labelbottom=True)
            total = len(self.feature_names)
            panel.set_xlabel(
                "relevance" if len(shown) == total else f"relevance, {len(shown)} of {total}"
            )


@dataclass(kw_only=True, eq=False, repr=False)
class EffectDisplay(Display):
    """Signed bars of what a step in each column does to the score of a class.

    Make one with :meth:`from_estimator`. Of two classes there is one panel, for the second class;
    otherwise one for each class.

    Parameters
    ----------
    effects : Effects
        What :func:`protolearn.analysis.column_effects` returns.
    max_effects : int, default=20
        Effects that are shown, those that are largest in some panel.

    Attributes
    ----------
    ax_ : matplotlib Axes, or array of them
        Where it was drawn; one for each class if there are more than two.
    figure_ : matplotlib Figure
        Their figure.
    """

    effects: Effects
    max_effects: int = 20

    @classmethod
    def from_estimator(
        cls, model: Any, data: Any = None, *, max_effects: int = 20, ax: Any = None
    ) -> EffectDisplay:
        """Draw the effects of the columns of a fitted model.

        Parameters
        ----------
        model : classifier
            A fitted linear model in a table pipeline; with ``data`` any model.
        data : DataFrame, or array-like of shape (n_rows, n_features), default=None
            Rows over which the effects are averaged, if they differ between rows; thin lines span
            the middle 90% of them.
        max_effects : int, default=20
            Effects that are shown, the largest ones.
        ax : matplotlib Axes, default=None
            Where to draw; with more than two classes a sequence. None makes a figure.

        Returns
        -------
        display : EffectDisplay
        """
        return cls(effects=column_effects(model, data), max_effects=max_effects).plot(ax=ax)

    def _draw(self, ax: Any) -> Any:
        """Return the axes with the picture."""
        most = integer_in(self.max_effects, "max_effects={value!r}", 1)
        values = np.array([[one.effect for one in part] for part in self.effects.effects])
        order = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:most]
        across = min(len(values), EFFECTS_IN_A_ROW)
        if ax is None:
            size = 2.4 + 3.4 * across, -(-len(values) // across) * (1.1 + 0.3 * len(order))
            panels = panel_grid(len(values), across, figsize=size, sharey=True)
        else:
            panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
            if len(panels) != len(values):
                raise ValueError(f"ax has {len(panels)} axes; this picture has {len(values)}.")
        for g, panel in enumerate(panels):
            self._draw_panel(panel, g, order)
        return panels if len(panels) > 1 else panels[0]

    def _draw_panel(self, panel: Any, g: int, order: Any) -> None:
        """Draw the effects on the score of one class."""
        shown = [self.effects.effects[g][k] for k in order]
        rows, sizes = np.arange(len(shown)), np.array([one.effect for one in shown])
        panel.barh(rows, sizes, color=np.where(sizes >= 0.0, colour(0), AGAINST), alpha=0.85)
        if not self.effects.exact:
            panel.hlines(rows, [o.low for o in shown], [o.high for o in shown], color=DARK, lw=1)
        panel.axvline(0.0, color=DARK, lw=0.8)
        panel.set_yticks(rows, [f"{one.column}: {one.step}" for one in shown])
        panel.set_ylim(len(shown) - 0.5, -0.5)
        panel.set_xlabel("effect on the score")
        panel.set_title(f"for {self.effects.classes[g]}")
