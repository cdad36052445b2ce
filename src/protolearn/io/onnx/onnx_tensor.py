"""Formulas written as with NumPy, which become the nodes of an ONNX graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

AXES_ARE_INPUTS = 18  # the operator set in which all reductions take their axes as an input
LEAST_OPSET = 13  # the oldest operator set in which all that is used here means the same


class Graph:
    """Where nodes and constants go: the scope and container that skl2onnx gives a converter."""

    def __init__(self, scope: Any, container: Any):
        self.scope = scope
        self.container = container

    def constant(self, value: Any, dtype: Any = None) -> Tensor:
        """Return an array as a constant of the graph."""
        given = np.asarray(value)
        with np.errstate(over="ignore"):
            array = given.astype(object if given.dtype.kind == "U" else dtype or given.dtype)
        check_range(given, array)
        name = self.scope.get_unique_variable_name("constant")
        self.keep(onnx.numpy_helper.from_array(array, name))
        return Tensor(self, name, array.dtype)

    def keep(self, constant: Any) -> None:
        """Add a constant to the graph."""
        kind, shape = constant.data_type, list(constant.dims)
        words = list(constant.string_data) if kind == onnx.TensorProto.STRING else constant
        self.container.add_initializer(constant.name, kind, shape, words)

    def node(self, operator: str, *inputs: Tensor, dtype: Any = None, **settings: Any) -> Tensor:
        """Add a node; give its output, of the type of the first input unless another is named."""
        name = self.scope.get_unique_variable_name(operator)
        self.add(operator, [each.name for each in inputs], [name], settings)
        return Tensor(self, name, np.dtype(dtype or inputs[0].dtype))

    def add(
        self, operator: str, inputs: list[str], outputs: list[str], settings: dict[str, Any]
    ) -> None:
        """Add a node to the graph."""
        name = self.scope.get_unique_operator_name(operator)
        self.container.add_node(operator, inputs, outputs, name=name, **settings)

    def give(self, tensor: Tensor, name: str) -> None:
        """Name a tensor as an output."""
        self.add("Identity", [tensor.name], [name], {})

    @property
    def opset(self) -> int:
        """The operator set of the graph."""
        return int(self.container.target_opset_any_domain(""))

    def choose(
        self, condition: Tensor, then: Callable[[Graph], Tensor], otherwise: Tensor
    ) -> Tensor:
        """Return one of two tensors; the first is computed only where the condition holds."""
        branches = {
            "then_branch": self._branch(then, otherwise.dtype),
            "else_branch": self._branch(lambda inner: otherwise.within(inner), otherwise.dtype),
        }
        return self.node("If", condition, dtype=otherwise.dtype, **branches)

    def _branch(self, make: Callable[[Graph], Tensor], dtype: Any) -> Any:
        """Return a graph within the graph."""
        branch = Branch(self.scope, self.container)
        made = branch.node("Identity", make(branch))
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        output = onnx.helper.make_tensor_value_info(made.name, kind, None)
        return onnx.helper.make_graph(branch.nodes, "branch", [], [output], branch.constants)


class Branch(Graph):
    """A graph within another, whose tensors it sees."""

    def __init__(self, scope: Any, container: Any):
        super().__init__(scope, container)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def keep(self, constant: Any) -> None:
        """Keep a constant for the branch."""
        self.constants.append(constant)

    def add(
        self, operator: str, inputs: list[str], outputs: list[str], settings: dict[str, Any]
    ) -> None:
        """Keep a node for the branch."""
        self.nodes.append(onnx.helper.make_node(operator, inputs, outputs, **settings))


def binary(operator: str, dtype: Any = None) -> Callable[[Tensor, Any], Tensor]:
    """Return the method of tensors for an operator that takes two of them, entry by entry."""

    def method(self: Tensor, other: Any) -> Tensor:
        return self.graph.node(operator, self, self._with(other), dtype=dtype)

    return method


class Tensor:
    """An array that is known once the graph runs, by its name there; strings have dtype object."""

    def __init__(self, graph: Graph, name: str, dtype: Any):
        self.graph = graph
        self.name = name
        self.dtype = np.dtype(dtype)

    def within(self, graph: Graph) -> Tensor:
        """Return the same tensor for formulas in another graph, which sees it."""
        return Tensor(graph, self.name, self.dtype)

    def _with(self, other: Any) -> Tensor:
        """Return the other operand as a tensor of the same type."""
        return other if isinstance(other, Tensor) else self.graph.constant(other, self.dtype)

    __add__ = binary("Add")
    __sub__ = binary("Sub")
    __mul__ = binary("Mul")
    __truediv__ = binary("Div")
    __pow__ = binary("Pow")
    __matmul__ = binary("MatMul")
    __lt__ = binary("Less", bool)
    __gt__ = binary("Greater", bool)
    __ge__ = binary("GreaterOrEqual", bool)
    equals = binary("Equal", bool)  # == would have to give one truth value
    maximum = binary("Max")

    def __neg__(self) -> Tensor:
        return self.graph.node("Neg", self)

    def __invert__(self) -> Tensor:
        return self.graph.node("Not", self)

    def apply(self, operator: str, dtype: Any = None) -> Tensor:
        """Return a function of each entry, by the name of its operator."""
        return self.graph.node(operator, self, dtype=dtype)

    def square(self) -> Tensor:
        """Return the squares."""
        return self * self

    def positive(self) -> Tensor:
        """Return zero in place of what is negative; what is no number stays so."""
        return self.replace_where(self < 0.0, 0.0)

    def root(self) -> Tensor:
        """Return the square roots, of what rounding made negative zero."""
        return self.positive().apply("Sqrt")

    def replace_where(self, condition: Tensor, other: Any) -> Tensor:
        """Return the entries, and the other ones where the condition holds."""
        return self.graph.node("Where", condition, self._with(other), self, dtype=self.dtype)

    def cast(self, dtype: Any) -> Tensor:
        """Return the same in another type."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        kind = onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return self.graph.node("Cast", self, to=kind, dtype=dtype)

    def sum(self, axis: int | Sequence[int], keepdims: bool = True) -> Tensor:
        """Add up along some axes."""
        axes = self.graph.constant(np.atleast_1d(axis), np.int64)
        return self.graph.node("ReduceSum", self, axes, keepdims=int(keepdims))

    def max(self, axis: int, keepdims: bool = True) -> Tensor:
        """Return the largest entry along an axis."""
        return self._reduce("ReduceMax", axis, keepdims)

    def min(self, axis: int, keepdims: bool = True) -> Tensor:
        """Return the smallest entry along an axis."""
        return self._reduce("ReduceMin", axis, keepdims)

    def _reduce(self, operator: str, axis: int, keepdims: bool) -> Tensor:
        if self.graph.opset < AXES_ARE_INPUTS:
            return self.graph.node(operator, self, axes=[axis], keepdims=int(keepdims))
        axes = self.graph.constant([axis], np.int64)
        return self.graph.node(operator, self, axes, keepdims=int(keepdims))

    def logsumexp(self, axis: int) -> Tensor:
        """Return ``log sum exp`` along an axis, which stays."""
        largest = self.max(axis).maximum(np.finfo(self.dtype).min)  # a number if all are -inf
        return (self - largest).apply("Exp").sum(axis).apply("Log") + largest

    def softmax(self) -> Tensor:
        """Return the softmax of each row."""
        return self.graph.node("Softmax", self, axis=1)

    def argmin(self) -> Tensor:
        """Return where each row has its smallest entry, the first of several."""
        return self.graph.node("ArgMin", self, axis=1, keepdims=0, dtype=np.int64)

    def argmax(self) -> Tensor:
        """Return where each row has its largest entry, the first of several."""
        return self.graph.node("ArgMax", self, axis=1, keepdims=0, dtype=np.int64)

    def take(self, index: Any, axis: int = 0) -> Tensor:
        """Return the named entries along an axis."""
        if not isinstance(index, Tensor):
            index = self.graph.constant(index, np.int64)
        return self.graph.node("Gather", self, index, axis=axis)

    def at(self, index: Tensor) -> Tensor:
        """Return the one entry of each row that is named for it, an array (n, 1)."""
        return self.graph.node("GatherElements", self, index.reshape(-1, 1), axis=1)

    def without(self, index: Tensor, width: int) -> Tensor:
        """Return the rows with infinity in the place of the entry named for each."""
        named = index.reshape(-1, 1).equals(np.arange(width)[None, :])
        return self.replace_where(named, np.inf)

    def reshape(self, *shape: int) -> Tensor:
        """Return the same entries in another shape."""
        return self.graph.node("Reshape", self, self.graph.constant(shape, np.int64))

    def beside(self, *others: Tensor) -> Tensor:
        """Return the columns of this and of others."""
        return self.graph.node("Concat", self, *others, axis=1) if others else self


def check_range(given: NDArray[Any], array: NDArray[Any]) -> None:
    """Raise if numbers have become infinite, or have all become zero, in single precision."""
    if array.dtype != np.float32 or given.dtype.kind not in "fiu":
        return
    if np.isinf(array).any() > np.isinf(given).any() or given.any() > array.any():
        raise ValueError(
            f"The model has numbers of the size {np.abs(given).max():.3g}, out of the range of "
            "single precision; rescale the features, for example with StandardScaler in a "
            "Pipeline, and fit again."
        )
