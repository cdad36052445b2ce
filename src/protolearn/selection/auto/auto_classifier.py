"""The automatic choice of a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._arrays import Floats, Indices, validate_data
from ..._dask import AccuracyMixin
from ..._threads import one_blas_thread
from ..._validation import all_or_nothing
from ...analysis import by_class
from ...folds import RowGroups
from ...rule import with_raised_scores
from ...tables import TableEncoder
from ..scorers import class_weights_for, label_score_of
from .candidates import KINDS, Candidate, candidates, chosen_names, with_class_weights
from .choice import (
    CHOICES,
    Choice,
    calibration_of,
    chosen_of,
    chosen_without,
    expected_score,
    held_out_answers,
    most_readable,
    raise_of,
    search,
)
from .leaderboard import Leaderboard, leaderboard
from .ledger import Ledger
from .pace import Budget, Pace
from .score_calibration import ScoreCalibration
from .search_data import (
    SearchPlan,
    affordable,
    check_parameters,
    checked_data,
    checked_times,
    draw_rows,
    encoder_for,
    plan_search,
)
from .search_progress import progress_of, search_bar
from .trials import SearchedData, quiet_fits

HARDER = 1e12
"""Numbers by which a kind of model seems larger than one that is easier to look at."""


class AutoPrototypeClassifier(AccuracyMixin, BaseEstimator):
    """Choose a prototype classifier by cross-validation, and fit it.

    The candidates are LVQ with fixed, learned, local and kernel metrics, linear classifiers and
    prototype SVMs, each with the few settings that matter, behind a
    :class:`~sklearn.preprocessing.StandardScaler`. The rows are split into five stratified folds.
    In a first look each candidate is fitted without each fold and the next one. One in eight goes
    on, and is also fitted without the other pairs of folds and without each fold alone. The one of
    these that is easiest to look at, within one standard error of the best, is fitted to all rows.

    What is fitted follows from the size of the data and the seed, not from a clock: the same seed
    gives the same model on a machine of any speed.

    Parameters
    ----------
    families : "all" or sequence of str, default="all"
        Which may be chosen, out of ``"linear"`` (mean of class, Fisher, soft-margin SVM, logistic
        regression), ``"fixed"`` (GLVQ, RSLVQ), ``"learned"`` (GRLVQ, GMLVQ, MRSLVQ),
        ``"local"`` (LGMLVQ), ``"kernel"`` (KernelGLVQ), ``"ensemble"`` (PrototypeSVM), and the
        name of any classifier of this library, such as ``"LVQ21"`` or ``"lvq21"``. The families
        ``"kernel"`` and ``"ensemble"`` compare all pairs of rows: ``"all"`` has them up to 5,000
        rows.
    max_fits : int, default=None
        Fits that the search may make; None: as many as the candidates need, about 500 for some
        hundred rows.
    time_budget : float, default=None
        Seconds that ``fit`` may take at most; None: as long as it takes. If the limit is met, the
        choice depends on the machine. Fits that have begun are finished, so that it may take a
        little longer, but none begins that is expected to take longer than there is time. Up to a
        third of it is kept for the last fit; if that is too short for all rows, it takes fewer.
    prefer : {"readable", "accurate", "small"}, default="readable"
        Which model to take. ``"accurate"``: the one with the best score. The others give up at
        most one standard error: ``"small"`` for the model with the fewest numbers, ``"readable"``,
        at most one point, for the kind that is easiest to look at: first a few prototypes with
        exact margins, then linear models, then local metrics and prototypes that decide together,
        last kernels and ensembles; of one kind the model with the fewest numbers.
    cv : int, default=5
        Number of folds, two or more; with two the choice is not repeated without each of them.
    standardize : bool, default=True
        Put a scaler before every candidate; False: X is scaled already, as by
        :class:`~protolearn.tables.TableEncoder`.
    scoring : str or callable, default="accuracy"
        What is best, a scorer of scikit-learn's, or a :class:`~protolearn.selection.CostScorer` or
        :class:`~protolearn.selection.PositiveScorer`. The method ``score`` gives the accuracy all
        the same. With ``"balanced_accuracy"``, ``"f1_macro"``, ``"matthews_corrcoef"``, costs, and
        the F1 of a class, candidates that take class weights are also tried with such weights, and
        the threshold between the classes is chosen on held-out probabilities.
    n_jobs : int, default=None
        Fits at a time, as in scikit-learn. It does not change the choice unless time is short.
    checkpoint : str or path, default=None
        A file of JSON lines to keep fits in, so that a search that was stopped goes on where it
        was when ``fit`` is called again with the same data and parameters; ``random_state`` must
        be an integer. Budgets may be others than before.
    callback : callable, default=None
        Is called after fits with a :class:`~protolearn.selection.SearchProgress`: how many fits
        there are, what share of the search is done, which model is ahead.
    verbose : int, default=0
        1 shows a progress bar, and says where the search stopped.
    random_state : int, RandomState or None, default=None
        Seed of the order of the candidates, of the folds and of the models.
    prefer_simple : bool, default=None
        Deprecated: True is ``prefer="small"``, False is ``prefer="accurate"``.

    Attributes
    ----------
    best_estimator_ : Pipeline
        The scaler, if any, and the chosen model, fitted to all rows; to be given to the functions
        of :mod:`protolearn.analysis`, which tell what they can say about models of its kind.
    table_ : TableEncoder or None
        What turns the columns of a data frame into numbers, its first step; None if X has numbers
        alone.
    best_params_ : dict
        The class of the model (``"model"``) and its settings; ``prototypes_per_class`` by class
        where one has fewer rows than the others have prototypes; ``n_features`` if it sees the
        most telling ones alone.
    best_score_ : float
        What may be expected of the choice on new rows: for each fold the score of the model that
        would be chosen without that fold, mean over the folds. The best score of the leaderboard
        promises too much, since it is the best of many.
    held_out_proba_ : array of shape (n_samples, n_classes)
        Probabilities of the classes for each row, by a model that was fitted without its fold and
        chosen by the other folds: what the whole procedure says about rows that it has not seen.
        NaN for rows that were never held out.
    held_out_labels_ : array of shape (n_samples,)
        The labels that these models predict; of no meaning for rows that were never held out.
    held_out_folds_ : array of shape (n_samples,)
        The fold of each row, from 0; -1 for rows that were never held out.
    held_out_models_ : list of str
        The model that was chosen without each fold.
    leaderboard_ : Leaderboard
        All candidates that were tried, the best score first; print it, or take its ``to_frame()``.
    stopped_ : str
        Where the search stopped, and why.
    n_copies_ : int
        Rows that are copies of others; copies stay in the same fold.
    n_fits_ : int
        Fits that the search made, those of a checkpoint included.
    search_time_ : float
        Seconds that it took.
    calibration_ : ScoreCalibration
        How scores become probabilities: its ``method`` is ``"temperature"``, ``"sigmoid"`` or
        ``"isotonic"``, the one that held-out folds prefer.
    temperature_ : float
        What a difference of scores is divided by before.
    raised_scores_ : array of shape (n_classes,) or None
        What is added to the score of each class in ``best_estimator_``, so that the threshold suits
        ``scoring``; None: nothing.
    classes_ : array of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Their names, if X has names that are strings.

    See Also
    --------
    protolearn.selection.nested_cross_validate : A fair estimate of the whole procedure.
    protolearn.selection.compare : Several models on several data sets.

    Notes
    -----
    The simplest model is the one with the fewest numbers: prototypes, metric and coefficients, and
    of kernel models the rows that they refer to. The standard error is that of the mean difference
    to the best candidate, fold by fold, as if the folds were independent.

    ``best_score_`` and ``held_out_proba_`` come from the same fits as the choice, without a second
    search. For each fold, those that go on and the one that is chosen are found by fits that left
    out this fold and another one, on which they are scored. The fit of that model without the fold
    predicts the rows of the fold, so these rows had no part in it and none in its choice. The
    result is low rather than high where there is something to learn, since models are chosen by
    fits to three fifths of the rows.

    ``predict_proba`` is calibrated on the scores of held-out rows, for models without
    probabilities too: the softmax of the scores divided by a temperature, the same with an offset
    for each class (sigmoid), or a rising function of the lead of a class (isotonic). Each method
    is learned from all folds but one and judged by its log loss on that one. If a class is more
    probable than the one with the largest score, both get the mean of their probabilities, so that
    ``predict`` and ``predict_proba`` agree; not so if a threshold was chosen for ``scoring``: then
    the probabilities stay as they are.

    The first look takes 2,000 rows at most, the comparison of those that go on 10,000; the chosen
    model is fitted to all rows. Of more than 10,000 rows a fifth, 20,000 at most, is set aside.
    The choice, fitted to all others, predicts these rows, and ``best_score_`` is its score on them;
    then it is fitted to all rows. Candidates whose first look or further fits would take long, by
    the products that they need, are left out.

    Of more than 300 features the candidates see the 25 or 100 whose means differ most between the
    classes (:class:`~sklearn.feature_selection.SelectKBest`), found in each fit by its own rows;
    linear models see all of them too.

    Classes of one or two rows are learned but never held out. Equal rows stay in one fold: their
    numbers agree in about 12 digits, and labels play no part. So a copy of a training row is never
    in a test fold.

    References
    ----------
    Jamieson and Talwalkar (2016), *Non-stochastic best arm identification and hyperparameter
    optimization*, AISTATS.

    Breiman, Friedman, Olshen and Stone (1984), *Classification and regression trees*: the rule of
    one standard error.

    Varma and Simon (2006), *Bias in error estimation when using cross-validation for model
    selection*, BMC Bioinformatics 7: why each fold has a choice of its own.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from protolearn import AutoPrototypeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AutoPrototypeClassifier(max_fits=80, random_state=0).fit(X, y)
    >>> bool(model.best_score_ > 0.9)
    True
    >>> len(model.leaderboard_)
    8
    """

    best_estimator_: Pipeline
    leaderboard_: Leaderboard
    table_: TableEncoder | None = None  # as in files of versions without it
    raised_scores_: Floats | None = None

    def __init__(
        self,
        *,
        families: Any = "all",
        max_fits: int | None = None,
        time_budget: float | None = None,
        prefer: str = "readable",
        cv: int = 5,
        standardize: bool = True,
        scoring: Any = "accuracy",
        n_jobs: int | None = None,
        checkpoint: Any = None,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        prefer_simple: bool | None = None,
    ):
        self.families = families
        self.max_fits = max_fits
        self.time_budget = time_budget
        self.prefer = prefer
        self.cv = cv
        self.standardize = standardize
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state
        self.prefer_simple = prefer_simple

    def fit(self, X: Any, y: Any, groups: Any = None, times: Any = None) -> Self:
        """Choose a model, and fit it to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or data frame
            Training data, in any units. The columns of a frame of pandas or polars may also be
            words, truth values or dates, with missing values:
            :class:`~protolearn.tables.TableEncoder` turns them into numbers.
        y : array-like of shape (n_samples,)
            Labels.
        groups : array-like of shape (n_samples,), default=None
            Rows that depend on each other, such as those of one patient, have the same label here.
            They stay in one fold, as equal rows do. Groups that have a row in common, up to
            rounding, count as one group.
        times : array-like of shape (n_samples,), default=None
            When rows were observed, as numbers or dates. Folds then follow each other in time, and
            models are judged by rows that are later than all they were fitted to. The first rows
            are never held out.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        with all_or_nothing(self):
            check_parameters(self)
            budget = Budget(self.max_fits, self.time_budget)
            self.table_ = encoder_for(X)
            scaled = self.standardize and self.table_ is None  # an encoder scales
            array, y, together = checked_data(self, X, y, groups)
            rng = check_random_state(self.random_state)
            names = chosen_names(self.families, len(array))
            tried = candidates(names, array.shape[1], rng, scaled)
            if label_score_of(self.scoring, self.classes_) is not None:
                tried = with_class_weights(tried, class_weights_for(self.scoring, self.classes_))
            seed = int(rng.randint(2**31 - 1))
            prefer = self.prefer
            if self.prefer_simple is not None:
                prefer = "small" if self.prefer_simple else "accurate"
            choose = CHOICES[prefer]
            times = None if times is None else checked_times(times, groups, len(y))
            plan = plan_search(y, together, self.cv, seed, times)
            tried = affordable(tried, plan, array.shape[1], len(self.classes_))
            ledger = self._search(tried, array, y, plan, budget, seed, choose, together)
            number = chosen_of(ledger, choose)
            chosen, last = ledger.candidates[number], self._last_rows(ledger, number, y, seed)
            self.leaderboard_ = leaderboard(ledger, number)
            self.n_copies_ = together.n_copies
            found = calibration_of(ledger, number, list(range(ledger.n_folds)))
            self.calibration_ = found or ScoreCalibration()
            self.temperature_ = 1.0 / self.calibration_.factor
            every = list(range(ledger.n_folds))
            self.raised_scores_ = raise_of(ledger, number, every, self.scoring)
            if plan.test is None:
                self._keep_held_out(ledger, choose, plan.rows, y)
            else:
                self._keep_tested(ledger, number, array, y, last, plan.test)
            with one_blas_thread(), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Features .* are constant|invalid value")
                rows = with_names(X, array) if self.table_ is None else array
                rows, y = some_rows_of(rows, last), y[last]
                self.best_estimator_ = self._with_threshold(chosen.pipeline(y, seed).fit(rows, y))
            if self.table_ is not None:
                self.best_estimator_.steps.insert(0, ("table", self.table_))
            model = self.best_estimator_[-1]
            settings = {name: getattr(model, name) for name in chosen.settings}
            self.best_params_ = {"model": type(model).__name__, **settings}
            if chosen.n_features is not None:
                self.best_params_["n_features"] = chosen.n_features
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "temperature_" in state and "calibration_" not in state:  # a file of an older version
            self.calibration_ = ScoreCalibration(factor=1.0 / state["temperature_"])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Write the parameters, and once it is fitted what was chosen and what to expect."""
        given = super().__repr__(N_CHAR_MAX)
        if not hasattr(self, "best_estimator_"):
            return given
        chosen = next(standing for standing in self.leaderboard_ if standing.chosen)
        score = f"{self.best_score_:.1%} accuracy"
        if self.scoring != "accuracy":
            score = f"a score of {self.best_score_:.3g} ({self.scoring})"
        return (
            f"{given}\nChosen: {chosen.model}, one of {len(self.leaderboard_)} models compared. "
            f"Expect {score} on new rows."
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : array of shape (n_samples,)
            Labels out of ``classes_``.
        """
        return np.asarray(self._answer("predict", X))

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the chosen model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : array of shape (n_samples, n_classes), or (n_samples,) for two classes
            The largest wins; of two classes the second if positive.
        """
        return np.asarray(self._answer("decision_function", X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Each row sums to one. The predicted class has the largest, unless a threshold was
            chosen (``raised_scores_``).
        """
        return self._shares(self.decision_function(X))

    def _answer(self, method: str, X: Any) -> Any:
        """Return the answer of the chosen model."""
        check_is_fitted(self, "best_estimator_")
        if self.table_ is not None:
            return getattr(self.best_estimator_, method)(X)
        array = validate_data(self, X, dtype=np.float64, reset=False)
        with warnings.catch_warnings():  # which has been said already
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            return getattr(self.best_estimator_, method)(with_names(X, array))

    def _search(
        self,
        tried: Sequence[Candidate],
        X: Floats,
        y: NDArray[Any],
        plan: SearchPlan,
        budget: Budget,
        seed: int,
        choose: Choice,
        together: RowGroups,
    ) -> Ledger:
        """Try candidates within the budget."""
        scorer = None
        if self.scoring != "accuracy":
            scorer = check_scoring(tried[0].pipeline(y, seed), self.scoring)
        task = SearchedData(X[plan.rows], y[plan.rows], scorer, seed)
        pace = Pace(budget, len(y), choose, 1 if plan.test is None else 2)
        ledger = Ledger(tried, task, plan, budget, n_jobs=self.n_jobs, pace=pace)
        if choose is most_readable:
            ledger.handicaps += [HARDER * KINDS.index(one.kind) for one in tried]
        with self._follow(ledger), quiet_fits():
            finished = search(ledger)
        self.n_fits_, self.search_time_ = budget.n_fits, budget.seconds_spent
        why = "every candidate was tried" if finished else budget.reason()
        n_tried = len({number for number, _ in ledger.trials})
        self.stopped_ = (
            f"{why}: {n_tried} of {len(tried)} candidates, {budget.n_fits} fits in "
            f"{budget.seconds_spent:.1f} s"
        )
        if self.verbose:
            for line in (self.stopped_, *together.notes):
                print(f"AutoPrototypeClassifier: {line}")
        return ledger

    def without_table(self) -> Self:
        """Return the same classifier for rows that its encoder has turned into numbers.

        Returns
        -------
        model : object
            Itself if it was fitted to numbers; otherwise a copy, to be put behind ``table_``.
        """
        check_is_fitted(self, "best_estimator_")
        if self.table_ is None:
            return self
        model = copy(self)
        model.table_, model.best_estimator_ = None, Pipeline(self.best_estimator_.steps[1:])
        model.n_features_in_ = self.table_.units_.n_features_in_
        if hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
        return model

    def forget_held_out(self) -> Self:
        """Remove what was said about the training rows, so that a saved model does not hold it.

        Returns
        -------
        self : object
            The same classifier, without ``held_out_proba_``, ``held_out_labels_``,
            ``held_out_folds_`` and ``held_out_models_``.
        """
        for name in [name for name in vars(self) if name.startswith("held_out_")]:
            if hasattr(self, name):
                delattr(self, name)
        return self

    def _with_threshold(self, model: Pipeline) -> Pipeline:
        """Return a fitted model whose scores are raised as held-out rows ask for."""
        if self.raised_scores_ is not None:
            name, last = model.steps[-1]
            model.steps[-1] = name, with_raised_scores(last, self.raised_scores_)
        return model

    def _keep_held_out(
        self, ledger: Ledger, choose: Choice, rows: Indices, y: NDArray[Any]
    ) -> None:
        """Store what the models that were chosen without a fold say about its rows."""
        self.held_out_proba_ = np.full((len(y), len(self.classes_)), np.nan)
        self.held_out_folds_ = np.full(len(y), -1)
        self.held_out_labels_ = np.repeat(self.classes_[:1], len(y))
        self.held_out_models_, scores = [], []
        score = label_score_of(self.scoring, self.classes_)
        for fold in range(ledger.n_folds):
            number = chosen_without(ledger, fold, choose)
            self.held_out_models_.append(str(ledger.candidates[number]))
            found = held_out_answers(ledger, number, fold, self.scoring)
            if found is not None:
                test = rows[found.rows]
                self.held_out_proba_[test], self.held_out_folds_[test] = found.shares, fold
                self.held_out_labels_[test] = self.classes_[found.codes]
                if score is not None:
                    scores.append(score(y[test], self.held_out_labels_[test]))
        self.best_score_ = float(np.mean(scores)) if scores else expected_score(ledger, choose)

    def _last_rows(self, ledger: Ledger, number: int, y: NDArray[Any], seed: int) -> Indices:
        """Return the rows of the last fit: all of them, unless the time is too short."""
        assert ledger.pace is not None
        n_rows = ledger.pace.rows_in_time(ledger, number)
        rows = draw_rows(np.arange(len(y)), y, n_rows, seed)
        if len(rows) < len(y):
            self.stopped_ += f"; the model was fitted to {len(rows)} of {len(y)} rows"
        return rows

    def _keep_tested(
        self, ledger: Ledger, number: int, X: Floats, y: NDArray[Any], last: Indices, test: Indices
    ) -> None:
        """Store what the choice says about the rows that had no part in the search."""
        chosen, train = ledger.candidates[number], np.setdiff1d(last, test)
        with quiet_fits():
            fitted = chosen.pipeline(y[train], ledger.task.seed).fit(X[train], y[train])
        model = self._with_threshold(fitted)
        self.held_out_proba_ = np.full((len(y), len(self.classes_)), np.nan)
        self.held_out_folds_ = np.full(len(y), -1)
        self.held_out_labels_ = np.repeat(self.classes_[:1], len(y))
        self.held_out_proba_[test] = self._shares(model.decision_function(X[test]))
        self.held_out_folds_[test], self.held_out_labels_[test] = 0, model.predict(X[test])
        self.held_out_models_ = [str(chosen)]
        self.best_score_ = float(check_scoring(model, self.scoring)(model, X[test], y[test]))

    def _shares(self, scores: Floats) -> Floats:
        """Return the probabilities that belong to scores of the chosen model."""
        if self.raised_scores_ is None:
            return self.calibration_.probabilities(scores)
        return self.calibration_.probabilities(by_class(scores) - self.raised_scores_, agree=False)

    @contextmanager
    def _follow(self, ledger: Ledger) -> Iterator[None]:
        """Keep the fits of a search in the file, and report how far it is."""
        settings = {"scoring": self.scoring, "random_state": self.random_state}
        with (
            nullcontext() if self.checkpoint is None else ledger.keep_in(self.checkpoint, settings),
            search_bar(bool(self.verbose)) as listeners,
        ):
            if self.callback is not None:
                listeners.append(self.callback)

            def report() -> None:
                for listener in listeners:
                    listener(progress_of(ledger))

            ledger.report = report
            yield
            for listener in listeners:
                listener(replace(progress_of(ledger), share=1.0))


def some_rows_of(X: Any, rows: Indices) -> Any:
    """Return some rows of an array or a frame, in their order."""
    if len(rows) == len(X):
        return X
    return nw.from_native(X)[rows].to_native() if hasattr(X, "columns") else X[rows]


def with_names(X: Any, array: Floats) -> Any:
    """Return rows with the names of their features, if they have such."""
    return X if hasattr(X, "columns") else array
