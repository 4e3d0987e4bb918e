"""From the symbols of a component's parametrization to its members and back, and paths between members.

Main definitions
    Path           members as exact functions of s in [0, 1], with the reason why they are members

Main results
    member_at      values of the symbols → the member
    coordinates    a member → the values of the symbols, checked by putting them back
    path           a path between two members: straight in the symbols where their equations allow it

Scalings, translations, dead and constant rows have convex ranges. Linear rows are tied by C B = M: there B moves on a
straight line, C(s) = M_J B_J(s)⁻¹ for columns J that are a basis, and det B_J(s) must have no zero in [0, 1], which
Sturm's theorem decides. Otherwise no path is claimed: a component may have several connected pieces (theory §2.6).

References: theory §2.3, §2.6, §3.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError, UnsupportedError
from semialg_fibers.geometry.domain import Domain
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.polynomial import evaluate
from semialg_fibers.geometry.scalar import exact, sympy_rational
from semialg_fibers.networks.layer import Network

if TYPE_CHECKING:
    import sympy

ZERO_IN_UNIT_INTERVAL = "the determinant of the linear rows has a zero on the straight line between the two"


class Image(Protocol):
    """A parametrization: symbols, ranges, equations, and the network in the symbols."""

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The symbols."""

    @property
    def ranges(self) -> tuple[Any, ...]:
        """Relations."""

    @property
    def equations(self) -> tuple[sympy.Expr, ...]:
        """Expressions = 0."""

    @property
    def network(self) -> tuple[tuple[sympy.ImmutableMatrix, tuple[sympy.Expr, ...]], ...]:
        """Layers (weight, bias)."""


# members


def member_at(image: Image, values: Mapping[Any, Any], domain: Domain | None = None) -> Network:
    """Give the member with these values of the symbols (and of letters, if there are any), exactly.

    Implements: theory §2.3, §3.4.

    Raises:
        InvalidNetworkError: when a value is missing, lies outside its range, or violates an equation.
    """
    read = {str(key): exact(value) for key, value in values.items()}
    for symbol in image.symbols:
        if symbol.name not in read:
            raise InvalidNetworkError(f"there is no value for {symbol}", value=symbol.name)
    for relation in image.ranges:
        if not _holds(relation, read):
            shown = ", ".join(f"{s} = {read[s.name]}" for s in sorted(relation.free_symbols, key=str))
            raise InvalidNetworkError(f"the values are outside the range {relation}: {shown}", relation=relation)
    for equation in image.equations:
        if evaluate(equation, read, fractions=True):
            raise InvalidNetworkError(f"the values violate {equation} = 0", equation=equation)
    return Network(_layers(image, read), domain)


def _layers(image: Image, read: Mapping[str, fmpq]) -> list[tuple[Any, Any]]:
    import sympy

    def number(value: Any) -> fmpq:
        return evaluate(sympy.sympify(value), read, fractions=True)

    return [
        ([[number(v) for v in row] for row in weight.tolist()], [number(v) for v in bias])
        for weight, bias in image.network
    ]


def _holds(relation: Any, read: Mapping[str, fmpq]) -> bool:
    difference = evaluate(relation.lhs, read, fractions=True) - evaluate(relation.rhs, read, fractions=True)
    return {">": difference > 0, ">=": difference >= 0, "<": difference < 0, "<=": difference <= 0}[relation.rel_op]


def coordinates(image: Image, net: Network) -> dict[sympy.Symbol, sympy.Rational]:
    """Give the values of the symbols at a member: entry by entry, where one symbol is unknown and occurs linearly.

    Implements: theory §2.3, §3.4.

    Raises:
        InvalidNetworkError: when the network is not in the image, or the image has letters (`.letters`).

    >>> from semialg_fibers import gallery
    >>> from semialg_fibers.fibers.bottleneck import fiber
    >>> net = gallery.network("line_hidden_1_1_2_1")
    >>> image = fiber(net).components[0].parametrization
    >>> image.coordinates(net)
    {lambda_0: 1, mu_0: 1, mu_1: 1, t: 0}
    >>> image.at({"lambda_0": 2, "mu_0": 1, "mu_1": 3, "t": "1/2"}).layers[0].bias
    (1,)
    """
    _refuse_letters(image)
    outside = InvalidNetworkError(
        "the network is not in this part of the component, in the labelling of the given network: relabel its units, "
        "or take another part"
    )
    shapes = [(weight.shape, len(bias)) for weight, bias in image.network]
    if shapes != [(layer.matrix.shape, len(layer.offset)) for layer in net.layers]:
        raise outside
    found = _solved(image, net)
    try:
        if member_at(image, found, net.domain) == net:
            return {symbol: found[symbol] for symbol in image.symbols}
    except InvalidNetworkError:
        pass
    raise outside


def _refuse_letters(image: Image) -> None:
    import sympy

    entries = [v for weight, bias in image.network for v in (*weight, *bias)]
    used = set().union(*(sympy.sympify(v).free_symbols for v in (*entries, *image.equations)))
    letters = sorted(str(letter) for letter in used - set(image.symbols))
    if letters:
        raise InvalidNetworkError(
            f"the image has the letters {', '.join(letters)}: put numbers in with .subs of the component first",
            letters=tuple(letters),
        )


def _solved(image: Image, net: Network) -> dict[Any, Any]:
    """Solve each entry for the one symbol in it that no entry before it has.

    In the images of components there is one at most: rows of layer 1 bring λ_k (no row is zero, by (G1)), one of its
    biases t, nonlinear rows of layer 2 their μ_l with known λ, other rows and their columns have symbols as entries,
    and all other columns and the last biases bring none (theory §2.3, §3.4).
    """
    import sympy

    found = dict[Any, Any]()
    for (weight, bias), layer in zip(image.network, net.layers, strict=True):
        for entry, value in zip([*weight, *bias], [*layer.weight, *layer.bias], strict=True):
            unknown = sympy.sympify(entry).free_symbols - set(found)
            if len(unknown) == 1:
                (symbol,) = unknown
                numerator = sympy.Poly(sympy.numer(sympy.together(entry.xreplace(found) - value)), symbol)
                if numerator.degree() == 1:
                    slope, constant = numerator.all_coeffs()
                    found[symbol] = -constant / slope
    return found


# paths


@dataclass(frozen=True)
class Path:
    """Members for s in [0, 1]: `values` are the image's symbols as functions of `parameter`, `reason` says why.

    >>> from semialg_fibers import gallery
    >>> from semialg_fibers.fibers.bottleneck import fiber
    >>> component = fiber(gallery.network("hidden_2_2_2_1")).components[0]
    >>> path = component.path(component.sample(1), component.sample(2))
    >>> path.at(1) == component.sample(2), component.contains(path.at("1/3")), path.check()
    (True, True, True)
    """

    image: Image
    parameter: sympy.Symbol
    values: Mapping[sympy.Symbol, sympy.Expr]
    start: Network
    end: Network
    domain: Domain
    reason: str

    def at(self, s: Any) -> Network:
        """Give the member at s, exactly.

        Raises:
            InvalidNetworkError: for s outside [0, 1].
        """
        place = exact(s)
        if not 0 <= place <= 1:
            raise InvalidNetworkError(f"a path is given for s in [0, 1], got {place}", value=s)
        at = {self.parameter.name: place}
        return member_at(self.image, {x: evaluate(f, at, fractions=True) for x, f in self.values.items()}, self.domain)

    @property
    def network(self) -> tuple[tuple[sympy.ImmutableMatrix, tuple[sympy.Expr, ...]], ...]:
        """The layers (weight, bias) as functions of the parameter."""
        import sympy

        put_in = dict(self.values)
        return tuple(
            (weight.subs(put_in), tuple(sympy.sympify(value).subs(put_in) for value in bias))
            for weight, bias in self.image.network
        )

    def check(self) -> bool:
        """Prove again that every point is a member: denominators, equations as identities, ranges, and the two ends."""
        return (
            all(_is_defined(f, self.parameter) for f in self.values.values())
            and all(_vanishes(e, self.values) for e in self.image.equations)
            and all(_holds_throughout(r, self.values, self.parameter) for r in self.image.ranges)
            and self.at(0) == self.start
            and self.at(1) == self.end
        )


def path(images: Sequence[Image], start: Network, end: Network, domain: Domain) -> Path:
    """Give a path between two members of one part.

    Implements: theory §2.6, §3.4.

    Raises:
        InvalidNetworkError: when one of the two is in no image.
        UnsupportedError: where no path is claimed.
    """
    outside: InvalidNetworkError | None = None
    refused: UnsupportedError | None = None
    places: list[set[int]] = [set(), set()]
    for number, image in enumerate(images):
        ends = []
        for net, met in zip((start, end), places, strict=True):
            try:
                ends.append(coordinates(image, net))
                met.add(number)
            except InvalidNetworkError as error:
                outside = outside or error
        if len(ends) == 2:
            try:
                return _between(image, ends[0], ends[1], start, end, domain)
            except UnsupportedError as error:
                refused = refused or error
    if not all(places) and outside is not None:
        raise outside
    raise refused or UnsupportedError(
        "no path is claimed: the two members have different numbers of linear rows, or other rows are linear"
    )


def _between(image: Image, a: Any, b: Any, start: Network, end: Network, domain: Domain) -> Path:
    import sympy

    s = sympy.Symbol("s", real=True)
    values = {x: sympy.expand(a[x] + s * (b[x] - a[x])) for x in image.symbols}
    reason = "the ranges are convex: straight in the symbols"
    if not all(_vanishes(e, values) for e in image.equations):
        values |= _outgoing_weights(image, a, values, s)
        reason = "linear rows on a straight line, their determinant without zero in [0, 1]: C(s) = M_J B_J(s)^(-1)"
    found = Path(image, s, values, start, end, domain, reason)
    if not found.check():
        raise UnsupportedError(f"no path is claimed: {ZERO_IN_UNIT_INTERVAL}, or they do not determine one")
    return found


def _outgoing_weights(image: Image, a: Mapping[Any, Any], line: Mapping[Any, Any], s: sympy.Symbol) -> dict[Any, Any]:
    """Give C(s) = M_J B_J(s)^(-1) for the linear rows, those whose symbols C stand in the equations."""
    import sympy

    named = {symbol.name: symbol for symbol in image.symbols}
    tied = {symbol.name for equation in image.equations for symbol in equation.free_symbols}
    pairs = [match.groups() for name in sorted(tied) if (match := re.fullmatch(r"C_([0-9]+)_([0-9]+)", name))]
    outputs, labels = (sorted({pair[i] for pair in pairs}, key=int) for i in (0, 1))
    columns = sorted({m[2] for n in named if (m := re.fullmatch(r"B_([0-9]+)_([0-9]+)", n))}, key=int)
    c = [[named[f"C_{i}_{j}"] for j in labels] for i in outputs]
    rows = [[named[f"B_{j}_{k}"] for k in columns] for j in labels]
    basis = Matrix([[exact(a[x]) for x in row] for row in rows], columns=len(columns)).independent_columns()
    if len(basis) < len(labels):
        raise UnsupportedError("no path is claimed: the linear rows of the start are linearly dependent")
    moving = sympy.Matrix([[line[row[k]] for k in basis] for row in rows])
    determinant = sympy.Poly(moving.det(method="berkowitz"), s)
    if not _has_no_zero(determinant):
        raise UnsupportedError(f"no path is claimed: {ZERO_IN_UNIT_INTERVAL} (theory §2.6)")
    fixed = sympy.Matrix([[a[x] for x in row] for row in c]) * sympy.Matrix(
        [[a[row[k]] for k in basis] for row in rows]
    )
    found = fixed * moving.adjugate()
    return {x: sympy.cancel(found[i, j] / determinant.as_expr()) for i, row in enumerate(c) for j, x in enumerate(row)}


def _has_no_zero(polynomial: sympy.Poly) -> bool:
    """Say whether a polynomial in s has no zero in [0, 1], by exact root counting."""
    if polynomial.degree() <= 0:
        return not polynomial.is_zero
    return bool(polynomial.count_roots(0, 1) == 0)


def _vanishes(equation: sympy.Expr, values: Mapping[Any, Any]) -> bool:
    import sympy

    return bool(sympy.expand(sympy.numer(sympy.together(equation.subs(dict(values))))) == 0)


def _holds_throughout(relation: Any, values: Mapping[Any, Any], s: sympy.Symbol) -> bool:
    """Say that an inequality between affine functions of s holds on [0, 1]: it does when it holds at both ends."""
    import sympy

    difference = sympy.expand((relation.lhs - relation.rhs).subs(dict(values)))
    if not difference.is_polynomial(s) or sympy.degree(difference, s) > 1:
        return False
    ends = (type(relation)(sympy_rational(evaluate(difference, {s.name: exact(i)})), 0) for i in (0, 1))
    return all(bool(end) for end in ends)


def _is_defined(function: sympy.Expr, s: sympy.Symbol) -> bool:
    import sympy

    return _has_no_zero(sympy.Poly(sympy.denom(sympy.together(function)), s))
