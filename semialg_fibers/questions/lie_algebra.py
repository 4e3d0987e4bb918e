"""The fields ∇_θ f_o(x) of networks with fixed masks, and the rank of the Lie algebra that they generate.

Main definitions
    Parameters     the weights and biases of given widths, in the order W1, b1, W2, b2, ...; some layers without a bias
    GradientFields the polynomial vector fields ∇_θ (coefficient of x_k or of 1 in f_o) for given patterns of masks
    BracketRank    a lower bound for the rank of their Lie algebra at almost every θ, with the brackets that prove it

Main results
    bracket_rank   brackets of growing length, until the rank meets a known upper bound or does not grow any more

With its masks fixed, f_o is a polynomial with integer coefficients in θ and x, and so are its brackets
[X, Y] = DY·X − DX·Y in θ. Vectors of brackets at an integer point that are independent modulo a prime are independent
over Q there, hence at almost every θ: the bound is proved by one point and one prime. Right-nested brackets of the
generators span the Lie algebra (Jacobi), and those of one length depend multilinearly on their entries, so that random
combinations of the generators reach everything that there is.

A bracket is evaluated over truncated dual numbers Z_p[ε_1, ..., ε_k]/(ε_i²): [X, Y](u) is the ε-part of
Y(u + ε X(u)) − X(u + ε Y(u)).

References: theory §7; S. Marcotte, R. Gribonval, G. Peyré, arXiv:2307.00144.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from flint import nmod_mat

from semialg_fibers.verify.conservation import Wiring
from semialg_fibers.verify.lie_rank import rank_of_brackets

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Residues: TypeAlias = npt.NDArray[np.int64]

Pattern = tuple[tuple[int, ...], ...]

PRIME = 2**28 - 57  # products stay below 2^56, so that 64 of them fit into 63 bits
CHUNK = 64
BATCH = 64  # patterns propagated together
FEW = 48  # patterns that are tried before all of them
SAMPLES = 64  # brackets evaluated together
SPARE = 2  # brackets beyond those that are missing
LONGEST_BRACKET = 7


@dataclass(frozen=True)
class Parameters:
    """The parameters of networks with these widths (input first); `biased[l]` says whether affine layer l+1 has a bias.

    >>> Parameters((1, 2, 1), (True, False)).names
    ('W1_0_0', 'W1_1_0', 'b1_0', 'b1_1', 'W2_0_0', 'W2_0_1')
    """

    widths: tuple[int, ...]
    biased: tuple[bool, ...]

    @cached_property
    def edges(self) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
        """(tail, head) of each parameter; a node is (layer, unit), layer 0 the input, (−1, 0) the constant 1."""
        found: list[tuple[tuple[int, int], tuple[int, int]]] = []
        for layer, (inputs, outputs) in enumerate(pairwise(self.widths), 1):
            found += [((layer - 1, j), (layer, i)) for i in range(outputs) for j in range(inputs)]
            if self.biased[layer - 1]:
                found += [((-1, 0), (layer, i)) for i in range(outputs)]
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """W1_0_0, ..., b1_0, ..., in order."""
        return tuple(
            f"b{head[0]}_{head[1]}" if tail[0] < 0 else f"W{head[0]}_{head[1]}_{tail[1]}" for tail, head in self.edges
        )

    @property
    def count(self) -> int:
        """The number D of parameters."""
        return len(self.edges)

    @property
    def hidden_units(self) -> tuple[tuple[int, int], ...]:
        """The nodes of all hidden units."""
        return tuple((layer, i) for layer in range(1, len(self.widths) - 1) for i in range(self.widths[layer]))


@dataclass(frozen=True)
class GradientFields:
    """The fields ∇_θ φ, φ the coefficient of x_k (or of 1) in output o, the hidden units having the masks of a pattern.

    A linear network is one pattern of ones.
    """

    parameters: Parameters
    patterns: tuple[Pattern, ...]

    @property
    def coefficients(self) -> int:
        """The number of coefficients of an affine form: d, and one more when there are biases."""
        return self.parameters.widths[0] + int(any(self.parameters.biased))

    @cached_property
    def _masks(self) -> list[Residues]:
        import numpy as np

        return [np.array(rows, dtype=np.int64)[:, :, None] for rows in zip(*self.patterns, strict=True)]

    def combination(self, seeds: Residues, points: Residues) -> Residues:
        """Give Σ seeds · fields over the dual numbers; seeds (S, patterns, outputs, coefficients), points (T, S, D)."""
        total = None
        for start in range(0, len(self.patterns), BATCH):
            batch = GradientFields(self.parameters, self.patterns[start : start + BATCH])
            part = batch._gradients(seeds[:, start : start + BATCH], points)
            total = part if total is None else (total + part) % PRIME
        assert total is not None  # there is a pattern
        return total

    def random_seeds(self, samples: int, source: np.random.Generator) -> Residues:
        """Give random coefficients for so many combinations."""
        outputs = self.parameters.widths[-1]
        return source.integers(0, PRIME, (samples, len(self.patterns), outputs, self.coefficients))

    def thinned(self, most: int) -> GradientFields:
        """Give the fields of so many patterns at most, evenly chosen."""
        step = -(-len(self.patterns) // most)
        return GradientFields(self.parameters, self.patterns[::step])

    def _gradients(self, seeds: Residues, points: Residues) -> Residues:
        """Propagate affine forms forwards and the seeds backwards, for all patterns at once; leading axis ε-degrees."""
        import numpy as np

        parts = self._split(points)
        constant = self.coefficients - 1
        inputs: list[Residues] = []
        forms = None
        for number, (weight, bias) in enumerate(parts):
            if forms is None:
                image = np.zeros((*weight.shape[:-1], self.coefficients), dtype=np.int64)
                image[..., : weight.shape[-1]] = weight
            else:
                image = dual_product(weight, forms)
            if bias is not None:
                image = image.copy()
                image[..., constant] = (image[..., constant] + bias) % PRIME
            if number < len(parts) - 1:
                forms = image * self._masks[number]
                inputs.append(forms)
        after = np.zeros((points.shape[0], *seeds.shape), dtype=np.int64)
        after[0] = seeds
        blocks: list[Residues] = []
        for number in range(len(parts) - 1, -1, -1):
            weight, bias = parts[number]
            slopes = after[..., : weight.shape[-1]] if number == 0 else dual_product(after, inputs[number - 1], True)
            made = [slopes.reshape(*slopes.shape[:-2], -1)]
            if bias is not None:
                made.append(after[..., constant])
            blocks = made + blocks
            if number:
                after = dual_product(weight, after, False, True) * self._masks[number - 1]
        shape = np.broadcast_shapes(*(block.shape[:-1] for block in blocks))
        joined = np.concatenate([np.broadcast_to(block, (*shape, block.shape[-1])) for block in blocks], axis=-1)
        return np.asarray(joined.sum(axis=-2) % PRIME)

    def _split(self, points: Residues) -> list[tuple[Residues, Residues | None]]:
        """Give (W, b) of each layer with an axis for the patterns."""
        parts: list[tuple[Residues, Residues | None]] = []
        start = 0
        for (inputs, outputs), biased in zip(pairwise(self.parameters.widths), self.parameters.biased, strict=True):
            weight = points[..., start : start + inputs * outputs].reshape(*points.shape[:-1], 1, outputs, inputs)
            start += inputs * outputs
            bias = None
            if biased:
                bias = points[..., None, start : start + outputs]
                start += outputs
            parts.append((weight, bias))
        return parts


def dual_product(a: Residues, b: Residues, right_turned: bool = False, left_turned: bool = False) -> Residues:
    """Multiply matrices of dual numbers (leading axis: subsets of the ε_i), modulo the prime; a or b transposed."""
    import numpy as np

    a = np.swapaxes(a, -1, -2) if left_turned else a
    b = np.swapaxes(b, -1, -2) if right_turned else b
    degrees = a.shape[0]
    products = []
    for whole in range(degrees):
        parts = [part for part in range(whole + 1) if part & ~whole == 0]
        products.append(sum(_product(a[part], b[whole ^ part]) for part in parts) % PRIME)
    return np.stack(products)


def _product(a: Residues, b: Residues) -> Residues:
    """Multiply matrices modulo the prime; entries are residues."""
    import numpy as np

    inner = a.shape[-1]
    if inner <= CHUNK:
        return np.asarray(np.matmul(a, b) % PRIME)
    starts = range(0, inner, CHUNK)
    pieces = [np.matmul(a[..., i : i + CHUNK], b[..., i : i + CHUNK, :]) % PRIME for i in starts]
    return np.asarray(sum(pieces) % PRIME)


def bracket(fields: GradientFields, seeds: Sequence[Residues], points: Residues) -> Residues:
    """Give [X_1, [X_2, ... X_k]] with X_i = Σ seeds[i] · fields, at points (T, S, D) over the dual numbers."""
    import numpy as np

    first = fields.combination(seeds[0], points)
    if len(seeds) == 1:
        return first
    inner = bracket(fields, seeds[1:], np.concatenate([points, first]))
    moved = fields.combination(seeds[0], np.concatenate([points, inner[: len(points)]]))
    return (inner[len(points) :] - moved[len(points) :]) % PRIME


def independent(rows: Residues) -> list[int]:
    """Give indices of rows that are a basis of the row space modulo the prime, the first ones possible."""
    if not rows.size:
        return []
    reduced, rank = nmod_mat(rows.shape[1], rows.shape[0], rows.T.ravel().tolist(), PRIME).rref()
    pivots, column = [], 0
    for i in range(rank):
        while not int(reduced[i, column]):
            column += 1
        pivots.append(column)
        column += 1
    return pivots


@dataclass(frozen=True)
class BracketRank:
    """Brackets of `fields` that are independent at `point` modulo the prime, so the Lie algebra has at least this rank.

    Each of `brackets` is a tuple of coefficients (patterns, outputs, coefficients) of X_1, ..., X_k in
    [X_1, [X_2, ... X_k]]. `ranks[k]` is the rank of those up to length k + 1. That the last length added nothing, where
    it did, is no proof of anything.
    """

    fields: GradientFields
    point: tuple[int, ...]
    brackets: tuple[tuple[Residues, ...], ...]
    ranks: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The rank that is proved."""
        return self.ranks[-1]

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        ranks = ", ".join(map(str, self.ranks))
        return f"at a random point, modulo {PRIME}, the brackets of length up to 1, 2, ... have rank {ranks}"

    def check(self) -> bool:
        """Form the brackets again, letter by letter, without dual numbers; may take long."""
        own = self.fields.parameters
        wiring = Wiring(own.widths, own.biased, self.fields.patterns)
        brackets = [[seeds.tolist() for seeds in each] for each in self.brackets]
        return rank_of_brackets(wiring, PRIME, self.point, brackets) == self.rank


def bracket_rank(fields: GradientFields, most: int, seed: int = 0) -> BracketRank:
    """Give a proved lower bound for the rank of the Lie algebra at almost every θ; stop when it is `most`.

    Few patterns are tried before all of them.

    Implements: theory §7.

    >>> linear = GradientFields(Parameters((2, 2, 2), (False, False)), (((1, 1),),))
    >>> bracket_rank(linear, most=5).ranks  # 8 parameters, three laws
    (4, 5)
    """
    few = _bracket_rank(fields.thinned(FEW), most, seed)
    return few if few.rank == most or len(fields.patterns) <= FEW else _bracket_rank(fields, most, seed)


def _bracket_rank(fields: GradientFields, most: int, seed: int) -> BracketRank:
    import numpy as np

    source = np.random.default_rng(seed)
    count = fields.parameters.count
    point = source.integers(0, PRIME, (1, count))
    basis = point[:0]
    kept: list[tuple[Residues, ...]] = []
    ranks: list[int] = []
    while len(ranks) < LONGEST_BRACKET and len(basis) < most and (len(ranks) < 2 or ranks[-1] > ranks[-2]):
        while True:
            samples = min(most - len(basis) + SPARE, SAMPLES)
            seeds = [fields.random_seeds(samples, source) for _ in range(len(ranks) + 1)]
            values = bracket(fields, seeds, np.broadcast_to(point, (1, samples, count)))[0]
            added = [row - len(basis) for row in independent(np.concatenate([basis, values])) if row >= len(basis)]
            kept += [tuple(each[row] for each in seeds) for row in added]
            basis = np.concatenate([basis, values[added]])
            if len(added) <= samples - SPARE or len(basis) >= most:  # fewer than asked for: this length has no more
                break
        ranks.append(len(basis))
    return BracketRank(fields, tuple(map(int, point[0])), tuple(kept), tuple(ranks))
