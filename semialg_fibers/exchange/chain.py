"""A ReLU network being read, one operation after the other: affine maps, scalings of coordinates, ReLU.

Main definitions
    Chain           what has been read so far; `network` closes it
    ExchangeNote    the warning in which an importer or exporter says what it did besides copying numbers

Main results
    inverse_root    1/√v exactly, or with the root rounded to stated bits

All that is affine between two ReLUs is one affine map, computed exactly: a normalisation before or after a layer, two
layers in a row. ReLU before the first layer or after the last stands between identity maps.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isqrt, lcm
from operator import add, mul

from flint import fmpq

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, SemialgError, UnsupportedError, one_line
from semialg_fibers.exchange.json_text import MAX_MATRIX_BYTES, MAX_ROW_DIGITS
from semialg_fibers.geometry.floats import MAX_ENTRIES
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import MAX_DIGITS, ONE, ZERO, Vector, quantity, shown
from semialg_fibers.networks.layer import Layer, Network

MAX_ROOT_BITS = 4096
MAX_IDENTITY = 2048  # units of a layer that is put there, one entry for each pair of them
MAX_NUMBER_BITS = MAX_DIGITS * 3322 // 1000  # of a number that coordinates are multiplied by
MAX_BITS = MAX_ROW_DIGITS * 3322 // 1000  # of a number that was multiplied out
MAX_WORK = 2**28  # entries that are multiplied out, each as often as it has 64 bits


class ExchangeNote(UserWarning):
    """What an importer or exporter did besides copying numbers: one line, whatever names of a file it quotes."""

    def __init__(self, message: str) -> None:
        """Keep the sentence."""
        super().__init__(one_line(message))


class Chain:
    """The operations that have been read, as closed layers and one open affine map."""

    def __init__(self, width: int | None = None) -> None:
        """Start at inputs of this width; None where it is not known before the first affine map."""
        self.notes: list[str] = []
        self._width = width
        self._closed: list[Layer] = []
        self._matrix: Matrix | None = None
        self._offset: Vector = ()
        # Scalings before the open matrix: a list of (s, t), each a vector or one number for all coordinates.
        self._scalings: list[tuple[Vector | fmpq, Vector | fmpq]] = []
        self._work = self._entries = 0
        self._rectified = False  # a ReLU stands before everything, and the width was not known yet
        self._opener = ""

    @property
    def width(self) -> int | None:
        """The width of the value that was reached; None where no operation has told it."""
        return self._width

    def expect(self, width: int, node: str) -> None:
        """Say that the value reached has this width.

        Raises:
            InvalidNetworkError: when it has another one.
        """
        if not 1 <= width <= MAX_ENTRIES:
            raise InvalidNetworkError(f"{node} takes {quantity(width, 'input')}, expected 1..{MAX_ENTRIES:,}")
        if self._width is not None and self._width != width:
            raise InvalidNetworkError(
                f"widths do not chain: {node} takes {quantity(width, 'input')}, it is given {self._width}"
            )
        self._width = width
        if self._rectified:
            self._closed.append(Layer(diagonal((ONE,) * width, node), (ZERO,) * width))
            self._rectified = False

    def affine(self, matrix: Matrix, offset: Sequence[fmpq] | None, node: str) -> None:
        """Append x ↦ M x + o (o = 0 unless given).

        Raises:
            InvalidNetworkError: for widths that do not chain or a bias of another length, naming the node.
        """
        outputs, inputs = matrix.shape
        shift = (ZERO,) * outputs if offset is None else tuple(offset)
        if len(shift) != outputs:
            raise InvalidNetworkError(
                f"{node}: the bias has {quantity(len(shift), 'entry')}, the weight gives {quantity(outputs, 'output')}"
            )
        self.expect(inputs, node)
        self._entries = within_total(self._entries, outputs * inputs, node)
        inner: Vector | None = None
        if self._matrix is not None:
            self.notes.append(f"no ReLU stands between {self._opener} and {node}: their exact product is one layer")
            width, bits = self._matrix.shape[1], bits_of(matrix) + bits_of(self._matrix)
            self._spend(outputs * width, bits, node, steps=inputs // 16 + 1)
            inner, self._matrix = self._offset, matrix @ self._matrix
        elif self._scalings:
            scales, inner = self._total(inputs, node)
            common = _common(scales, node)
            self._spend(outputs * inputs, bits_of(matrix) + _longest(scales) + common.bit_length(), node)
            self._matrix = scaled_columns(matrix, scales, common)
        else:
            self._matrix = matrix
        self._offset = shift if inner is None else tuple(map(add, matrix.times(inner), shift))
        self._opener, self._scalings, self._width = node, [], outputs

    def scaling(self, scales: Vector | fmpq, shifts: Vector | fmpq, node: str) -> None:
        """Append x ↦ s ∘ x + t, coordinate by coordinate; one number stands for all coordinates.

        Raises:
            InvalidNetworkError: for another number of coordinates.
        """
        for part in (scales, shifts):
            if isinstance(part, tuple):
                self.expect(len(part), node)
                self._spend(len(part), 1, node, steps=128)  # a fraction for each coordinate
        if self._matrix is None:
            self._scalings.append((scales, shifts))
            return
        outputs = self._matrix.shape[0]
        factors, terms = spread(scales, outputs), spread(shifts, outputs)
        self._spend(outputs * self._matrix.shape[1], bits_of(self._matrix) + _longest(factors), node)
        self._spend(outputs, _longest(self._offset) + _longest(factors) + _longest(terms), node)
        self._matrix = scaled_rows(self._matrix, factors)
        self._offset = tuple(s * o + t for s, o, t in zip(factors, self._offset, terms, strict=True))

    def relu(self, node: str) -> None:
        """Append x ↦ max(0, x).

        Raises:
            UnsupportedError: where the width of x is not known.
        """
        if self._matrix is None and not self._scalings:
            if self._closed or self._rectified:
                return  # relu of what relu gave
            if self._width is None:
                self._rectified = True
                return
        self._close(node)

    def network(self, source: str) -> Network:
        """Close the last affine map and give the network on all of R^d.

        Raises:
            InvalidNetworkError: where no layer was read.
        """
        if self._matrix is None and not self._scalings:
            if not self._closed:
                raise InvalidNetworkError(f"{source} has no affine layer")
            self.notes.append("no affine layer follows the last ReLU: an identity layer was put there")
        self._close(source)
        net = Network(self._closed)
        for note in self.notes:
            warnings.warn(ExchangeNote(note), stacklevel=3)  # where the importer was called
        return net

    def _close(self, node: str) -> None:
        if self._width is None:
            raise UnsupportedError(f"{node}: the width of its input is not known; put a flattened input in front")
        if self._matrix is None:
            scales, self._offset = self._total(self._width, node)
            self._matrix = diagonal(scales, node)
        self._closed.append(Layer(self._matrix, self._offset))
        self._matrix, self._offset, self._scalings = None, (), []

    def _spend(self, entries: int, bits: int, node: str, steps: int = 1) -> None:
        """Count what is multiplied out, before it is.

        Raises:
            UnsupportedError: beyond the stated sizes.
        """
        if bits > MAX_BITS or entries > MAX_ENTRIES or entries * bits > 8 * MAX_MATRIX_BYTES:
            raise UnsupportedError(
                f"{node}: multiplied out with what stands before it, a layer would have {entries:,} entries of up to "
                f"{bits:,} bits, beyond the stated sizes; put a ReLU between, or round the numbers"
            )
        self._work += entries * steps * (1 + bits // 64)
        if self._work > MAX_WORK:
            raise BudgetExceededError(
                f"{node}: multiplying out what stands between two ReLUs takes more than the stated {MAX_WORK:,} steps"
            )

    def _total(self, width: int, node: str) -> tuple[Vector, Vector]:
        """The scalings that wait for a matrix, as one: x ↦ s ∘ x + t."""
        scales, shifts = (ONE,) * width, (ZERO,) * width
        for factor, term in self._scalings:
            factors, terms = spread(factor, width), spread(term, width)
            bits = _longest(factors) + max(_longest(scales), _longest(shifts)) + _longest(terms)
            if bits > MAX_NUMBER_BITS:  # fractions, each brought to lowest terms, which takes longer than a product
                raise UnsupportedError(
                    f"{node}: multiplied out, its numbers are beyond the stated {MAX_DIGITS:,} digits"
                )
            self._spend(2 * width, bits, node, steps=16)
            scales = tuple(map(mul, factors, scales))
            shifts = tuple(f * t + u for f, t, u in zip(factors, shifts, terms, strict=True))
        return scales, shifts

    def batch_norm(
        self,
        gamma: Vector | None,
        beta: Vector | None,
        mean: Vector,
        variance: Vector,
        epsilon: fmpq,
        root_bits: int | None,
        node: str,
    ) -> None:
        """Append γ (x − μ) / √(σ² + ε) + β with the stored μ and σ², exactly where all roots are rational.

        Raises:
            UnsupportedError: for an irrational root, unless `root_bits` says how it is rounded.
            InvalidNetworkError: for a variance that is not positive, or vectors of different lengths.
        """
        width = len(variance)
        gamma = (ONE,) * width if gamma is None else gamma
        beta = (ZERO,) * width if beta is None else beta
        if not len(gamma) == len(beta) == len(mean) == width:
            raise InvalidNetworkError(f"{node}: its vectors have different lengths")
        scales: Vector = ()
        rounded = 0
        for i, value in enumerate(variance):
            try:
                inverse, is_exact = inverse_root(value + epsilon, root_bits)
            except SemialgError as error:
                raise type(error)(f"{node}, channel {i + 1}: {error.message}", row=i) from None
            rounded += not is_exact
            scales += (gamma[i] * inverse,)
        if rounded:
            roots = f"{quantity(rounded, 'irrational root')} {'was' if rounded == 1 else 'were'}"
            self.notes.append(f"{node}: {roots} rounded to {root_bits} significant bits")
        self.scaling(scales, tuple(b - s * m for b, s, m in zip(beta, scales, mean, strict=True)), node)


def within_total(before: int, entries: int, node: str) -> int:
    """Give the entries of all layers so far: one tensor of a file may stand in many layers.

    Raises:
        UnsupportedError: for more than `MAX_ENTRIES`.
    """
    if before + entries > MAX_ENTRIES:
        raise UnsupportedError(
            f"with {node} the layers have more than the stated size of {MAX_ENTRIES:,} entries in all"
        )
    return before + entries


def inverse_root(value: fmpq, bits: int | None) -> tuple[fmpq, bool]:
    """Give 1/√v and True where √v is rational; else 1/r and False, r the nearest to √v with `bits` significant bits.

    Raises:
        InvalidNetworkError: for v ≤ 0, or bits outside 2..`MAX_ROOT_BITS`.
        UnsupportedError: for an irrational root where bits is None.

    >>> inverse_root(fmpq(9, 4), None), inverse_root(fmpq(2), 8)
    ((2/3, True), (128/181, False))
    """
    if value <= 0:
        raise InvalidNetworkError(f"the variance plus epsilon is {shown(value)}, expected a positive number")
    p, q = int(value.p), int(value.q)
    if isqrt(p) ** 2 == p and isqrt(q) ** 2 == q:
        return fmpq(isqrt(q), isqrt(p)), True
    if bits is None:
        raise UnsupportedError(
            "the root of the variance plus epsilon is irrational, so that the network has no rational parameters; "
            "root_bits=53, say, rounds each such root to 53 significant bits"
        )
    if not 2 <= bits <= MAX_ROOT_BITS:
        raise InvalidNetworkError(f"root_bits is 2..{MAX_ROOT_BITS}, got {bits}")
    # √v · 2^k lies in [2^(bits−1), 2^bits) for one of two neighbouring k.
    k = bits - (p.bit_length() - q.bit_length()) // 2
    while True:
        above, below = p << max(2 * k, 0), q << max(-2 * k, 0)
        floor = isqrt(above // below)
        if floor >> bits:
            k -= 1
        elif not floor >> (bits - 1):
            k += 1
        else:
            break
    count = floor + ((2 * floor + 1) ** 2 * below < 4 * above)  # never a tie: the root is irrational
    return (fmpq(1 << k, count) if k >= 0 else fmpq(1, count << -k)), False


def spread(value: Vector | fmpq, width: int) -> Vector:
    """Give the vector, or one number as often as there are coordinates."""
    return value if isinstance(value, tuple) else (value,) * width


def diagonal(scales: Vector, node: str) -> Matrix:
    """Give diag(s), where a ReLU or the end of the network stands without a layer.

    Raises:
        UnsupportedError: for more than `MAX_IDENTITY` units.
    """
    width = len(scales)
    if width > MAX_IDENTITY:
        raise UnsupportedError(
            f"{node} would need a layer of {width} × {width} entries, of width beyond {MAX_IDENTITY:,}"
        )
    return scaled_rows(Matrix.identity(width), scales)


def scaled_rows(matrix: Matrix, scales: Sequence[fmpq]) -> Matrix:
    """Give diag(s) M."""
    rows, denominators = [], []
    for row, below, scale in zip(matrix.integer_rows(), matrix.denominators(), scales, strict=True):
        p = int(scale.p)
        rows.append([p * value for value in row])
        denominators.append(below * int(scale.q))
    return Matrix.from_integers(rows, denominators, matrix.shape[1])


def bits_of(matrix: Matrix) -> int:
    """Give the bits of the longest numerator or denominator of a row over its common denominator."""
    rows = zip(matrix.integer_rows(), matrix.denominators(), strict=True)
    return max((max(*row, *(-value for value in row), below) for row, below in rows), default=0).bit_length()


def _longest(values: Vector | fmpq) -> int:
    """Give the bits of the longest numerator or denominator."""
    vector = values if isinstance(values, tuple) else (values,)
    return max((max(int(value.p).bit_length(), int(value.q).bit_length()) for value in vector), default=0)


def _common(scales: Sequence[fmpq], node: str) -> int:
    """Give the common denominator; refuse one that is too long as soon as it is."""
    common = 1
    for below in {int(scale.q) for scale in scales}:
        common = lcm(common, below)
        if common.bit_length() > MAX_BITS:
            raise UnsupportedError(
                f"{node}: the common denominator of what its inputs are multiplied by is beyond the stated size of "
                f"{MAX_ROW_DIGITS:,} digits; round the numbers"
            )
    return common


def scaled_columns(matrix: Matrix, scales: Sequence[fmpq], common: int) -> Matrix:
    """Give M diag(s) for scales with this common denominator."""
    factors = [int(scale.p) * (common // int(scale.q)) for scale in scales]
    rows = [[a * b for a, b in zip(row, factors, strict=True)] for row in matrix.integer_rows()]
    return Matrix.from_integers(rows, [below * common for below in matrix.denominators()], matrix.shape[1])
