"""Models as ONNX graphs, which run without Python.

Whatever needs onnx or skl2onnx is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Parts", "onnx_distance", "register_converters", "to_onnx"]


def __getattr__(name: str) -> Any:
    if name in ("Parts", "onnx_distance"):
        from . import onnx_distances

        return getattr(onnx_distances, "DistanceParts" if name == "Parts" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def to_onnx(
    model: Any, *, outputs: Sequence[str] | None = None, target_opset: int | None = None
) -> ModelProto:
    """Turn a fitted model into an ONNX graph, which runs without Python.

    The graph has one input, ``X``, in single precision, of any number of rows. For a model that
    begins with a table it has one input for each column, named as the column, of shape (n, 1):
    single precision for numbers, codes and truth values, double precision for dates, as days since
    1970, and strings for words and texts. A missing value is NaN, or the empty string. Texts are
    taken apart by an operator of the ONNX Runtime, which other runtimes lack. The conversion needs
    the packages of ``pip install 'protolearn[onnx]'``; to run the graph, onnxruntime is enough.

    Parameters
    ----------
    model : classifier
        A fitted nearest-prototype or linear classifier of protolearn, also in the space of a
        named kernel (``KernelGLVQ``, ``RVM``, ``KernelAdaTron``), a
        :class:`~protolearn.RejectClassifier` or :class:`~protolearn.AutoPrototypeClassifier` with
        one, or a Pipeline or search of scikit-learn that ends in one of these. A step before the
        last can be a table or the transform of a metric model such as ``GMLVQ``. Other steps, and
        models of scikit-learn around one such as ``StackingClassifier``, are converted by
        skl2onnx, as far as it knows them.
    outputs : sequence of str, default=None
        The names of the outputs that the graph shall have, in this order; the others are not
        computed. None: all of them, ``"label"`` first.
    target_opset : int, default=None
        The operator set of ONNX, 13 or later, for a runtime that is not new; None: the latest that
        skl2onnx has been tested with.

    Returns
    -------
    graph : onnx.ModelProto
        Write it with ``onnx.save(graph, "model.onnx")``. The type of the model, the classes, the
        labels of the prototypes and the names of the features are in its ``metadata_props``, in
        JSON.

    Notes
    -----
    The outputs, as far as the model has them:

    - ``label``: the predicted class, a string or number as in the training data; of rejected rows
      the label that the reject option gives them.
    - ``probabilities``: one for each class, as ``predict_proba``.
    - ``nearest_prototype``: the place of the nearest prototype among ``prototypes_``.
    - ``distances``: to each prototype, squared where the distance of the model is.
    - ``hypothesis_margin``: of the predicted class, see :func:`~protolearn.hypothesis_margin`.
    - ``certified_radius``: no row nearer than this has another ``label`` in this graph; of linear
      models, and of nearest prototypes with Euclidean distances, also after a linear map.
    - ``contributions``: what each feature that the model sees adds to the lead of its class; of a
      table, and scalers behind it, what each column adds. For the same models.
    - ``scores``: the decision function, one column a class; for two classes minus and plus it.
    - ``rejected``: whether the reject option gives no class.

    A graph raises no errors of ours. Where a model takes missing values, its graph takes NaN too;
    otherwise a row with NaN has no meaningful answer, and a reject option rejects it.

    A category that the training rows do not have counts as in Python, without a warning or an
    error. A column that is named as an output has an input whose name ends in ``_column``.

    Results are those of the model to single precision: a row so near to a border, or to a
    threshold, that this makes a difference may be on the other side of it.

    See Also
    --------
    save : One file that Python reads back as a model.
    register_converters : For calls of skl2onnx of your own.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from protolearn import GLVQ, datasets, to_onnx
    >>> X, y = datasets.load("iris")
    >>> graph = to_onnx(GLVQ(random_state=0).fit(X, y))
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> label, margin = session.run(["label", "hypothesis_margin"], {"X": np.float32(X[:2])})
    >>> label.tolist()
    ['setosa', 'setosa']
    >>> bool((margin > 0.0).all())
    True
    """
    check_is_fitted(model)
    register_converters()
    from .onnx_conversion import add_metadata, convert_model, select_outputs

    return add_metadata(select_outputs(convert_model(model, target_opset), outputs), model)


def register_converters() -> None:
    """Register the converters of protolearn's classifiers with skl2onnx.

    :func:`to_onnx` does so itself. It is for calls of ``skl2onnx.to_onnx``, with inputs of other
    types than single precision. There a classifier has two outputs, the label and probabilities
    (or scores); all with ``options={id(model): {"all_outputs": True}}``. Kinds of classifiers that
    skl2onnx knows already are left as they are; call it again for classes that are made later.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from protolearn import GLVQ, datasets
    >>> from protolearn.io import register_converters
    >>> register_converters()
    >>> X, y = datasets.load("iris")
    >>> graph = skl2onnx.to_onnx(GLVQ(random_state=0).fit(X, y), np.float64(X[:1]))
    >>> graph.graph.output[0].name
    'label'
    """
    try:
        import onnx  # noqa: F401
        import skl2onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"ONNX needs packages that are not installed ({error}): pip install 'protolearn[onnx]'."
        ) from error
    from .onnx_converters import register_all

    register_all()
