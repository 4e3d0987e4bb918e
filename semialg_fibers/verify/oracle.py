"""The slow, independent judge: equality and Jacobian rank of ReLU networks by visiting cells with linear programs.

Main definitions
    OracleCell      a pattern, a point inside its cell, and the network's affine map there
    JacobianRank    the rank of all parameter gradients, and how many cells were left out

Main results
    oracle_cells    every full-dimensional activation cell, neuron after neuron
    same_on_cells   a point where two networks differ, or None when they are equal on their whole domain
    jacobian_rank   the exact functional dimension of theory §9
    strict_point    a solution of strict linear inequalities, by an exact simplex method

Nothing here is shared with `networks.cells`, which it judges: a cell is a list of strict inequalities, each decision a
linear program over Q, and derivatives are differences of exact values.

References: theory §1, §9; R. G. Bland, New finite pivoting rules for the simplex method (1977).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.domain import Form, negated
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.scalar import ONE, ZERO, Vector, affine_value, dot, primitive
from semialg_fibers.networks.layer import Layer, Network
from semialg_fibers.verify.effort import Effort

Pattern = tuple[tuple[int, ...], ...]


class OracleCell(NamedTuple):
    """A pattern (1 = positive), an interior point of its cell, and the map x ↦ matrix · x + offset there."""

    pattern: Pattern
    point: Vector
    matrix: Matrix
    offset: Vector


@dataclass(frozen=True)
class JacobianRank:
    """The rank over the full cells, and how many cells were skipped because a preactivation vanishes on them."""

    rank: int
    skipped: int


def oracle_cells(net: Network) -> Iterator[OracleCell]:
    """Yield every full-dimensional cell {x in the domain : the signs of all preactivations are those of one pattern}.

    A preactivation that is zero on the whole cell counts 0 in the pattern.

    Implements: theory §9.

    >>> net = Network([([[1], [-1]], [0, 1]), ([[1, 1]], [0])])
    >>> sorted(cell.pattern for cell in oracle_cells(net))
    [((0, 1),), ((1, 0),), ((1, 1),)]
    """
    for pieces, point, _ in visit(net):
        pattern, _, forms = pieces[0]
        matrix = Matrix([form[:-1] for form in forms], columns=len(point))
        yield OracleCell(pattern, point, matrix, tuple(form[-1] for form in forms))


def same_on_cells(
    a: Network, b: Network, effort: Effort | None = None, visited: Sequence[Visit] | None = None
) -> Vector | None:
    """Give a point of the domain with a(x) ≠ b(x), or None, which proves a = b on the whole domain.

    Both are affine on each piece of the common refinement of their cells, so equal affine maps there are a proof; any
    depths and any parameters are allowed. The point has been evaluated. `visited` is `visit(a)`, for a judge of many b.

    Implements: theory §1.

    Raises:
        InvalidNetworkError: when domains or numbers of outputs differ.
        BudgetExceededError: when the visit takes more than the given effort.

    >>> a = Network([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> b = Network([([[1]], [0])])
    >>> c = Network([([[1]], [0]), ([[1]], [0])])
    >>> same_on_cells(a, b), c.value(same_on_cells(a, c)), a.value(same_on_cells(a, c))
    (None, (0,), (-1,))
    """
    if a.domain != b.domain or a.widths[-1] != b.widths[-1]:
        raise InvalidNetworkError(
            f"equality needs one domain and one number of outputs, got {a.domain}, {a.widths[-1]} and "
            f"{b.domain}, {b.widths[-1]}"
        )
    effort = effort or Effort(None)
    for pieces, point, inequalities in _refined(iter(visit(a, effort) if visited is None else visited), b, effort):
        for f, g in zip(pieces[0].forms, pieces[1].forms, strict=True):
            difference = tuple(u - v for u, v in zip(f, g, strict=True))
            if any(difference):
                witness = _off_the_zeros(difference, point, inequalities)
                assert a.domain.contains(witness)
                assert a.value(witness) != b.value(witness)
                return witness
    return None


def jacobian_rank(net: Network) -> JacobianRank:
    """Give the rank over Q of the coefficient vectors G_0, ..., G_d of all ∇_θ f_o(x) = G_0 + Σ x_i G_i on full cells.

    With its masks fixed f_o is affine in each single parameter, so the derivative is f_o(θ + e_k) − f_o(θ).
    Cells on which some preactivation vanishes identically are skipped and counted.

    Implements: theory §9.

    >>> jacobian_rank(Network([([[1], [1]], [-1, -1]), ([[2, 3]], [0])]))
    JacobianRank(rank=3, skipped=0)
    """
    rows: set[tuple[int, ...]] = set()
    skipped = 0
    for pieces, _, _ in visit(net):
        if pieces[0].vanishes:
            skipped += 1
        else:
            rows |= {primitive(row) for row in _gradients(net, pieces[0].pattern)}
    return JacobianRank(Matrix.from_integers(sorted(rows), columns=net.parameter_count).rank(), skipped)


def strict_point(inequalities: Sequence[Form], start: Sequence[fmpq], effort: Effort | None = None) -> Vector | None:
    """Give x with w·x + γ > 0 for every form (w, γ), or None when there is none (proved).

    Maximises the slack t ≤ 1 in w·x + γ ≥ t by the simplex method over Q, from the point `start`, and stops when t > 0.

    >>> from semialg_fibers.geometry.scalar import vector
    >>> strict_point([vector([1, -1]), vector([-1, 2])], vector([0]))
    (3/2,)
    >>> strict_point([vector([1, -1]), vector([-1, 1])], vector([0])) is None
    True
    """
    dimension = len(start)
    # Unknowns x − start = y⁺ − y⁻ and s = t − least, all ≥ 0; the origin is feasible.
    effort = effort or Effort(None)
    effort.spend(3 * len(inequalities) * (dimension + 1))
    values = [affine_value(form, start) for form in inequalities]
    least = min([ONE, *values])
    rows = [
        [*(-value for value in form[:-1]), *form[:-1], ONE, value - least]
        for form, value in zip(inequalities, values, strict=True)
    ]
    rows.append([ZERO] * (2 * dimension) + [ONE, ONE - least])
    found = _simplex(rows, [ZERO] * (2 * dimension) + [ONE], -least, effort)
    if found is None:
        return None
    return tuple(x + up - down for x, up, down in zip(start, found[:dimension], found[dimension:-1], strict=True))


def _simplex(rows: list[list[fmpq]], objective: list[fmpq], target: fmpq, effort: Effort) -> list[fmpq] | None:
    """Give z ≥ 0 with row[:-1]·z ≤ row[-1] (≥ 0) for all rows and objective·z > target, or None when there is none."""
    size = len(objective)
    outside, inside = list(range(size)), list(range(size, size + len(rows)))
    gains, reached = objective[:], ZERO
    while reached <= target:
        # Bland's rule: lowest index in and out, so that the method cannot cycle.
        entering = min((j for j in range(size) if gains[j] > 0), key=lambda j: outside[j], default=None)
        if entering is None:
            return None
        bounds = [(row[-1] / row[entering], inside[i], i) for i, row in enumerate(rows) if row[entering] > 0]
        leaving = min(bounds)[2]  # there is one: the slack is at most 1
        pivot = rows[leaving]
        scale = pivot[entering]
        pivot[entering] = ONE
        rows[leaving] = pivot = [value / scale for value in pivot]
        effort.spend(len(rows) * len(pivot), max(value.height_bits() for value in pivot))
        for i, row in enumerate(rows):
            if i != leaving and (factor := row[entering]):
                row[entering] = ZERO
                rows[i] = [u - factor * v for u, v in zip(row, pivot, strict=True)]
        factor, gains[entering] = gains[entering], ZERO
        gains = [u - factor * v for u, v in zip(gains, pivot, strict=False)]
        reached += factor * pivot[-1]
        outside[entering], inside[leaving] = inside[leaving], outside[entering]
    z = [ZERO] * size
    for index, row in zip(inside, rows, strict=True):
        if index < size:
            z[index] = row[-1]
    return z


# the visit


class _Piece(NamedTuple):
    """One network on a piece: its pattern, whether a preactivation is zero there, the forms of its last layer."""

    pattern: Pattern
    vanishes: bool
    forms: list[Form]


Visit = tuple[list[_Piece], Vector, list[Form]]  # the pieces of some networks, a point inside, strict inequalities


def visit(net: Network, effort: Effort | None = None) -> Iterator[Visit]:
    """Yield the pieces on which no unit of the network switches."""
    known = [tuple(map(fmpq, primitive(form))) for form in net.domain.constraints()]
    return _refined(iter([([], net.domain.interior_point(), known)]), net, effort or Effort(None))


def _refined(visits: Iterator[Visit], net: Network, effort: Effort) -> Iterator[Visit]:
    size = net.domain.dimension
    identity: list[Form] = [(*(fmpq(int(i == j)) for j in range(size)), ZERO) for i in range(size)]
    for done, point, known in visits:
        for piece, inside, more in _descend(net.layers, _Piece((), False, identity), point, known, effort):
            yield [*done, piece], inside, more


def _descend(
    rest: Sequence[Layer], reached: _Piece, point: Vector, known: list[Form], effort: Effort
) -> Iterator[tuple[_Piece, Vector, list[Form]]]:
    """Yield the pieces of {known > 0} below a piece on which the layers before `rest` do not switch."""
    forms = _composed(rest[0], reached.forms, effort)
    if len(rest) == 1:
        yield reached._replace(forms=forms), point, known
        return
    vanishes = reached.vanishes or not all(any(form) for form in forms)
    for signs, inside, more in _sign_choices(forms, point, known, effort):
        masked = [form if sign else (ZERO,) * len(form) for form, sign in zip(forms, signs, strict=True)]
        yield from _descend(rest[1:], _Piece((*reached.pattern, signs), vanishes, masked), inside, more, effort)


def _sign_choices(
    forms: list[Form], point: Vector, known: list[Form], effort: Effort
) -> Iterator[tuple[tuple[int, ...], Vector, list[Form]]]:
    """Yield the sign vectors that the forms take on open subsets of {known > 0}, with a point and the inequalities."""
    if not forms:
        yield (), point, known
        return
    form, rest = tuple(map(fmpq, primitive(forms[0]))), forms[1:]
    if not any(form):
        for signs, inside, more in _sign_choices(rest, point, known, effort):
            yield (0, *signs), inside, more
        return
    for sign, oriented in ((1, form), (0, negated(form))):
        inside_here = point if affine_value(oriented, point) > 0 else strict_point([*known, oriented], point, effort)
        if inside_here is not None:
            for signs, inside, more in _sign_choices(rest, inside_here, [*known, oriented], effort):
                yield (sign, *signs), inside, more


def _composed(layer: Layer, inputs: list[Form], effort: Effort) -> list[Form]:
    """Give the layer's affine forms after the affine forms `inputs`."""
    columns = list(zip(*inputs, strict=True))
    height = max(value.height_bits() for form in inputs for value in form)
    effort.spend(layer.outputs * layer.inputs * len(columns), height)
    return [
        (*(dot(form[:-1], column) for column in columns[:-1]), dot(form[:-1], columns[-1]) + form[-1])
        for form in layer.forms
    ]


def _off_the_zeros(form: Form, point: Vector, inequalities: list[Form]) -> Vector:
    """Give a point at which the nonzero form is not zero, still satisfying the strict inequalities."""
    if affine_value(form, point) != 0:
        return point
    step = ONE
    while True:  # the inequalities are strict at the point, so that a short step keeps them
        moved = tuple(x + step * w for x, w in zip(point, form[:-1], strict=True))
        if all(affine_value(known, moved) > 0 for known in inequalities):
            return moved
        step /= 2


def _gradients(net: Network, pattern: Pattern) -> Iterator[Vector]:
    """Yield, for each output and each coefficient of (x, 1), its derivatives by all parameters with fixed masks.

    The map is linear in each parameter: adding 1 to entry (i, j) of a layer adds column i of what follows times row j
    of what comes before.
    """
    steps: list[Matrix] = []
    for number, layer in enumerate(net.layers):
        # (x, 1) ↦ (W x + b, 1), an inactive unit's row replaced by zero
        masks = pattern[number] if number < len(pattern) else (1,) * layer.outputs
        kept = [form if mask else [ZERO] * len(form) for form, mask in zip(layer.forms, masks, strict=True)]
        steps.append(Matrix([*kept, [ZERO] * layer.inputs + [ONE]]))
    after = [Matrix([[ONE if i == j else ZERO for j in range(steps[-1].shape[0])] for i in range(steps[-1].shape[0])])]
    for step in reversed(steps[1:]):
        after.append(after[-1] @ step)
    after.reverse()
    size = net.widths[0] + 1
    before = Matrix([[ONE if i == j else ZERO for j in range(size)] for i in range(size)])
    columns: list[list[fmpq]] = []
    for number, layer in enumerate(net.layers):
        masks = pattern[number] if number < len(pattern) else (1,) * layer.outputs
        rows = before.rows()
        for i, mask in enumerate(masks):
            outgoing = after[number].column(i)[:-1]
            for row in rows:
                columns.append([value * entry if mask else ZERO for value in outgoing for entry in row])
        before = steps[number] @ before
    yield from zip(*columns, strict=True)
