"""Layer and Network: exact parameters, exact values.

Main definitions
    Layer      the affine map x ↦ W x + b, W of shape (out, in)
    Network    affine layers with ReLU between them and none after the last, on a domain

Main results
    Network.permuted, Network.rescaled    the two symmetries that every ReLU network has

References: theory §1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, cast

from flint import fmpq

from semialg_fibers.errors import InexactInputError, InvalidNetworkError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.arguments import checked_methods, entries
from semialg_fibers.geometry.decision import letters_of
from semialg_fibers.geometry.domain import Domain, Orthant, Space
from semialg_fibers.geometry.expression import Expression, to_sympy
from semialg_fibers.geometry.insertion import put
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.reading import scalar
from semialg_fibers.geometry.scalar import ZERO, Vector, numbered, quantity, shown, vector
from semialg_fibers.geometry.signs import declared
from semialg_fibers.geometry.symbolic_matrix import SymbolicMatrix, matrix_of

if TYPE_CHECKING:
    import sympy


_VARIABLE = re.compile(r"W[0-9]+_[0-9]+_[0-9]+|b[0-9]+_[0-9]+")


@dataclass(frozen=True, init=False, repr=False)
class Layer:
    """The affine map x ↦ W x + b with exact entries, numbers or expressions in letters with declared signs.

    `matrix` and `offset` are the package's own exact values; `weight` and `bias` give them as SymPy objects.

    >>> Layer([[1, "-1/2"]], [3]).weight
    Matrix([[1, -1/2]])
    """

    matrix: Matrix
    offset: Vector

    def __init__(self, weight: Any, bias: Iterable[Any]) -> None:
        """Read `weight` (out × in) and `bias` (out,).

        Raises:
            InvalidNetworkError: for ragged rows, entries that are no rational functions of letters, or a bias that
                does not fit (place: `row`, `column`).
            InexactInputError: for floats.
            UndecidedSignError: for an entry with a denominator that may be zero.
        """
        matrix = weight if isinstance(weight, Matrix) else matrix_of(weight)
        if not hasattr(bias := entries(bias), "__iter__") or isinstance(bias, str | bytes | dict):
            raise InvalidNetworkError(f"a bias is a list of numbers, got {type(bias).__name__}")
        offset: Vector = ()
        for i, value in enumerate(bias):
            try:
                offset += (cast(fmpq, scalar(value)),)
            except (InvalidNetworkError, InexactInputError, UndecidedSignError) as error:
                raise type(error)(f"bias: {error.message}", **{**error.place, "row": i}) from None
        if 0 in matrix.shape:
            raise InvalidNetworkError(f"a layer needs at least one input and one output, got shape {matrix.shape}")
        if len(offset) != matrix.shape[0]:
            raise InvalidNetworkError(
                f"the bias has {quantity(len(offset), 'entry')}, the weight has {quantity(matrix.shape[0], 'row')}",
                row=len(offset),
            )
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "offset", offset)

    def __repr__(self) -> str:
        """Show data that `Layer` reads."""
        weight = [[str(value) for value in row] for row in self.matrix.rows()]
        return f"Layer({weight}, {[str(value) for value in self.offset]})"

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self.matrix.shape[1]

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return self.matrix.shape[0]

    @cached_property
    def weight(self) -> sympy.ImmutableMatrix:
        """W as a SymPy matrix (out × in)."""
        return self.matrix.to_sympy()

    @cached_property
    def bias(self) -> tuple[sympy.Expr, ...]:
        """The tuple b of SymPy numbers or expressions (out,)."""
        return tuple(to_sympy(value) for value in self.offset)

    @property
    def is_rational(self) -> bool:
        """Whether every entry is a number."""
        return not isinstance(self.matrix, SymbolicMatrix) and not any(isinstance(b, Expression) for b in self.offset)

    @cached_property
    def forms(self) -> tuple[Vector, ...]:
        """The rows of [W | b]: the affine form of each unit, constant last."""
        return tuple((*self.matrix.row(i), self.offset[i]) for i in range(self.outputs))

    @cached_property
    def integer_forms(self) -> tuple[tuple[int, ...], ...]:
        """The rows of [W | b] as primitive integer vectors, positive multiples of `forms`; signs need no more."""
        if not self.is_rational:
            SymbolicMatrix(self.forms).integer_rows()  # refuses, naming the letters
        rows = []
        for numerators, below, bias in zip(
            self.matrix.integer_rows(), self.matrix.denominators(), self.offset, strict=True
        ):
            p, q = int(bias.p), int(bias.q)
            common = lcm(below, q)
            row = [*(value * (common // below) for value in numerators), p * (common // q)]
            divisor = gcd(*row)
            rows.append(tuple(value // divisor for value in row) if divisor > 1 else tuple(row))
        return tuple(rows)

    def apply(self, x: Sequence[fmpq]) -> Vector:
        """Give W x + b."""
        return tuple(a + b for a, b in zip(self.matrix.times(x), self.offset, strict=True))


def relu(x: Sequence[fmpq]) -> Vector:
    """Give max(0, x_i) for each coordinate."""
    return tuple(value if value > 0 else ZERO for value in x)


@checked_methods("__init__", "part", "permuted", "rescaled", "subs")
@dataclass(frozen=True, init=False, repr=False)
class Network:
    """The function T_L ∘ relu ∘ T_(L−1) ∘ ... ∘ relu ∘ T_1 on a domain, with exact parameters.

    Implements: theory §1.

    >>> net = Network([Layer([[1], [-1]], [0, 0]), Layer([[1, 1]], [0])])
    >>> net([-3])
    (3,)
    >>> net.widths, net.parameter_count
    ((1, 2, 1), 7)
    """

    layers: tuple[Layer, ...]
    domain: Domain

    def __init__(self, layers: Iterable[Layer | tuple[Any, Any]], domain: Domain | None = None) -> None:
        """Chain the layers; a pair (weight, bias) is read as a `Layer`; the domain is R^d unless given.

        Raises:
            InvalidNetworkError: for no layer, widths that do not chain, or a domain of another dimension
                (place: `layer`, counted from 1).
        """
        chained: list[Layer] = []
        for number, layer in enumerate(layers, 1):
            try:
                made = layer if isinstance(layer, Layer) else Layer(*layer)
            except (InvalidNetworkError, InexactInputError, UndecidedSignError) as error:
                raise type(error)(f"layer {number}: {error.message}", **{**error.place, "layer": number}) from None
            except TypeError:
                raise InvalidNetworkError(f"layer {number} is not a pair (weight, bias)", layer=number) from None
            if chained and made.inputs != chained[-1].outputs:
                raise InvalidNetworkError(
                    f"widths do not chain: layer {number} takes {quantity(made.inputs, 'input')}, "
                    f"layer {number - 1} gives {chained[-1].outputs}",
                    layer=number,
                )
            chained.append(made)
        if not chained:
            raise InvalidNetworkError("a network needs at least one layer")
        where = Space(chained[0].inputs) if domain is None else domain
        if not isinstance(where, Domain):
            raise InvalidNetworkError(f"expected a Space, Orthant, Box or Polyhedron, got {shown(where)}", value=domain)
        if where.dimension != chained[0].inputs:
            takes = f"the first layer takes {quantity(chained[0].inputs, 'input')}"
            raise InvalidNetworkError(f"the domain has dimension {where.dimension}, {takes}")
        for letter in letters_of(v for layer in chained if not layer.is_rational for form in layer.forms for v in form):
            if _VARIABLE.fullmatch(letter.name):
                raise InvalidNetworkError(
                    f"the letter {letter.name} has the name of a fiber's variable (W1_0_0, b1_0, ...): call it "
                    f"{letter.name.lower() + 'x' if letter.name[0] == 'b' else letter.name.lower()}, say",
                    value=letter.name,
                )
        object.__setattr__(self, "layers", tuple(chained))
        object.__setattr__(self, "domain", where)

    def __repr__(self) -> str:
        """Show data that `Network` reads."""
        return f"Network({list(self.layers)!r}, domain={self.domain!r})"

    def __str__(self) -> str:
        """Name the widths and the domain."""
        return f"ReLU network {'-'.join(map(str, self.widths))} on {self.domain}"

    @property
    def widths(self) -> tuple[int, ...]:
        """(d, n1, ..., m): inputs, hidden units of each layer, outputs."""
        return (self.layers[0].inputs, *(layer.outputs for layer in self.layers))

    @property
    def parameter_count(self) -> int:
        """The number of weights and biases."""
        return sum(layer.outputs * (layer.inputs + 1) for layer in self.layers)

    @property
    def is_rational(self) -> bool:
        """Whether every parameter is a rational number."""
        return all(layer.is_rational for layer in self.layers)

    @cached_property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The letters that occur in the parameters, sorted by name; none for a network of numbers."""
        symbolic = (layer for layer in self.layers if not layer.is_rational)
        return letters_of(value for layer in symbolic for form in layer.forms for value in form)

    def refuse_letters(self) -> None:
        """Refuse a network with letters where an answer is known for numbers only.

        Raises:
            UnsupportedError: naming the letters.
        """
        if not self.is_rational:
            names = ", ".join(letter.name for letter in self.symbols)
            raise UnsupportedError(f"this needs numbers: substitute values for {names}, as in net.subs({{...}})")

    def subs(self, values: Mapping[Any, Any]) -> Network:
        """Put numbers or expressions for letters (keys: symbols or their names).

        Raises:
            InvalidNetworkError: for a name that is no letter of the network, a value that breaks the letter's
                assumption, or a denominator that becomes zero.

        >>> net = Network.generic(1, 1, 1, 1, signs=["+-"])
        >>> net.subs({"a2_0_0": 5, "c2_0": -2}).layers[1]
        Layer([['5']], ['-2'])
        """
        names = {letter.name for letter in self.symbols}
        unknown = next((str(key) for key in values if str(key) not in names), None)
        if unknown is not None:
            known = ", ".join(sorted(names)) or "it has none"
            raise InvalidNetworkError(f"{unknown} is no letter of the network; its letters: {known}", value=unknown)

        return self.with_layers(
            layer if layer.is_rational else Layer(put(layer.matrix, values), put(layer.offset, values))
            for layer in self.layers
        )

    @classmethod
    def generic(cls, d: int, n1: int, n2: int, m: int, signs: Sequence[str]) -> Network:
        """Give the three-layer network with a letter for each parameter and the stated signs of [A2 | b2].

        `signs` are n2 strings of n1 + 1 characters + or −, bias last. The letters are a1_0_0, ..., c1_0, ... (real),
        a2_0_0, ..., c2_0, ... (of the stated signs), a3_0_0, ..., c3_0, ... (real; nonzero where m = 1, since a zero
        there would be a zero column).

        Implements: theory §3, §5.

        Raises:
            InvalidNetworkError: for signs of another shape.

        >>> net = Network.generic(2, 2, 1, 1, signs=["+--"])
        >>> net.layers[1].weight, net.layers[1].bias[0].is_negative
        (Matrix([[a2_0_0, a2_0_1]]), True)
        """
        if isinstance(signs, str) or len(signs) != n2:
            strings = f"{quantity(n2, 'string')} of signs"
            raise InvalidNetworkError(f"expected {strings}, one for each row of [A2 | b2]", value=signs)
        for j, row in enumerate(signs):
            if not isinstance(row, str) or len(row) != n1 + 1 or set(row) - set("+-"):
                raise InvalidNetworkError(
                    f"row {j + 1}: expected {quantity(n1 + 1, 'character')} + or -, bias last, got {shown(row)}", row=j
                )
        words = {"+": "positive", "-": "negative"}
        outer = "nonzero" if m == 1 else "real"
        shapes = ((n1, d), (n2, n1), (m, n2))
        declarations: list[Callable[[int, int], str]] = [
            lambda i, j: "real",
            lambda i, j: words[signs[i][j]],
            lambda i, j: outer if j < n2 else "real",
        ]
        layers = []
        for number, ((outputs, inputs), say) in enumerate(zip(shapes, declarations, strict=True), 1):
            weight = [[declared(f"a{number}_{i}_{j}", say(i, j)) for j in range(inputs)] for i in range(outputs)]
            layers.append((weight, [declared(f"c{number}_{i}", say(i, inputs)) for i in range(outputs)]))
        return cls(layers)

    def value(self, point: Sequence[fmpq]) -> Vector:
        """Give f(point) as exact scalars."""
        x = tuple(point)
        for layer in self.layers[:-1]:
            x = relu(layer.apply(x))
        return self.layers[-1].apply(x)

    def __call__(self, point: Iterable[Any]) -> tuple[sympy.Expr, ...]:
        """Give f(point) exactly, as SymPy numbers or expressions; the point must lie in the domain.

        Raises:
            InvalidNetworkError: for a point of another dimension or outside the domain.
            UndecidedSignError: when the sign of a preactivation depends on the values of the letters.
        """
        x = vector(point)
        if not self.domain.contains(x):
            raise InvalidNetworkError(f"the point {x} lies outside the domain {self.domain}")
        return tuple(to_sympy(value) for value in self.value(x))

    @cached_property
    def parameters(self) -> dict[str, fmpq]:
        """The parameters by name in the order W1 (row by row), b1, W2, b2, ...: exact scalars."""
        named: dict[str, fmpq] = {}
        for number, layer in enumerate(self.layers, 1):
            for i, row in enumerate(layer.matrix.rows()):
                named |= {f"W{number}_{i}_{j}": value for j, value in enumerate(row)}
            named |= {f"b{number}_{i}": value for i, value in enumerate(layer.offset)}
        return named

    def with_layers(self, layers: Iterable[Layer]) -> Network:
        """Give the network with other layers on the same domain."""
        return Network(layers, self.domain)

    def part(self, first: int, last: int) -> Network:
        """Give affine layers first..last (counted from 1, both included); for first > 1 the domain is the orthant.

        Raises:
            InvalidNetworkError: when there are no such layers.
        """
        if not 1 <= first <= last <= len(self.layers):
            there = numbered("layer", 1, len(self.layers))
            raise InvalidNetworkError(f"layers {first}..{last} do not exist: the network has {there}", layer=first)
        domain = self.domain if first == 1 else Orthant(self.layers[first - 1].inputs)
        return Network(self.layers[first - 1 : last], domain)

    def _hidden(self, layer: int) -> None:
        if not isinstance(layer, int) or not 1 <= layer < len(self.layers):
            there = numbered("hidden layer", 1, len(self.layers) - 1)
            raise InvalidNetworkError(f"layer {layer!r} is not hidden: the network has {there}", layer=layer)

    def permuted(self, layer: int, order: Sequence[int]) -> Network:
        """Relabel the units of a hidden layer: new unit i is old unit `order[i]`; the function stays.

        Implements: theory §1.

        Raises:
            InvalidNetworkError: when `order` is no permutation of the layer's units.

        >>> net = Network([Layer([[1], [2]], [3, 4]), Layer([[5, 6]], [7])])
        >>> net.permuted(1, [1, 0]).layers[0].bias
        (4, 3)
        """
        self._hidden(layer)
        before, after = self.layers[layer - 1], self.layers[layer]
        units = sorted(range(before.outputs), key=str)
        if not hasattr(order, "__iter__") or sorted(order, key=str) != units:
            raise InvalidNetworkError(
                f"{order!r} is no permutation of the {quantity(before.outputs, 'unit')} of layer {layer}", layer=layer
            )
        layers = list(self.layers)
        layers[layer - 1] = Layer(before.matrix.select(rows=order), [before.offset[i] for i in order])
        layers[layer] = Layer(after.matrix.select(columns=order), after.offset)
        return self.with_layers(layers)

    def rescaled(self, layer: int, factors: Iterable[Any]) -> Network:
        """Multiply each hidden unit's incoming weights and bias by its factor > 0, divide its outgoing ones; f stays.

        Implements: theory §1.

        Raises:
            InvalidNetworkError: when a factor is not positive or their number is wrong.
        """
        self._hidden(layer)
        before, after = self.layers[layer - 1], self.layers[layer]
        scales = tuple(map(scalar, factors))
        if len(scales) != before.outputs:
            sizes = f"{quantity(before.outputs, 'unit')}, got {quantity(len(scales), 'factor')}"
            raise InvalidNetworkError(f"layer {layer} has {sizes}", layer=layer)
        for i, scale in enumerate(scales):
            if scale <= 0:
                raise InvalidNetworkError(f"the factor of unit {i + 1} is {scale}, expected a positive one", row=i)
        rows = [[scale * value for value in row] for scale, row in zip(scales, before.matrix.rows(), strict=True)]
        columns = [[value / scale for value, scale in zip(row, scales, strict=True)] for row in after.matrix.rows()]
        layers = list(self.layers)
        layers[layer - 1] = Layer(rows, [scale * value for scale, value in zip(scales, before.offset, strict=True)])
        layers[layer] = Layer(columns, after.offset)
        return self.with_layers(layers)
