"""Does an activation commute with permutations of its coordinates? A proof, a counterexample, or an honest neither.

Main definitions
    GeneratorProof    formulas on n symbols that two generating permutations do not change
    Equivariant, NotEquivariant, NotApplicable, EquivarianceUndecided    the answers, each with `check()`

Main results
    is_permutation_equivariant    φ(P z) = P φ(z) for every z in R^n and every permutation matrix P?

A formula of the form `questions.activations.Pointwise` is equivariant: permuting z permutes the z_i and moves no s_j.
Acting on every coordinate alike (k = 0) is sufficient and not necessary: softmax has k = 1. A "no" is certain:
rational values are compared exactly, others by balls of python-flint, which enclose them.

References: theory §8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from flint import arb, ctx, fmpq

from semialg_fibers.errors import InvalidNetworkError, SemialgError, UndecidedSignError, UnsupportedError
from semialg_fibers.geometry.arguments import checked
from semialg_fibers.geometry.reading import sympy_expression
from semialg_fibers.questions.activations import PAIRED, Pointwise, activations, is_real

if TYPE_CHECKING:
    import sympy

Outputs = Callable[[list[Any]], list[Any]]  # of SymPy expressions
BITS = (64, 128, 256, 512)  # of the balls, until two values are told apart


@dataclass(frozen=True)
class GeneratorProof:
    """The formulas of φ on n symbols, which do not change under two permutations that generate all of them."""

    symbols: tuple[sympy.Symbol, ...]
    outputs: tuple[sympy.Expr, ...]
    points: int = 0  # at which the callable gave the values of these formulas

    def check(self) -> bool:
        """Compare φ(P z)_i with (P φ(z))_i as formulas, for a transposition and a cycle."""
        import sympy

        if any(output.has(sympy.Float) for output in self.outputs):
            return False  # no float decides anything
        for order in _generators(len(self.symbols)):
            moved = dict(zip(self.symbols, (self.symbols[i] for i in order), strict=True))
            for i, output in enumerate(self.outputs):
                left, right = output.xreplace(moved), self.outputs[order[i]]
                if left != right and sympy.expand(left - right) != 0:
                    return False
        return True

    def __str__(self) -> str:
        """Give the formulas."""
        formulas = f"({', '.join(map(str, self.outputs))}) commutes with a transposition and a cycle of the coordinates"
        read = (
            f"; the callable was read as this, the formulas that it gives on symbols and also at {self.points} points"
        )
        return formulas + read * bool(self.points)


@dataclass(frozen=True)
class Equivariant:
    """φ commutes with all permutations; `proof` says why."""

    activation: str
    proof: Pointwise | GeneratorProof
    equivariant = True

    def check(self) -> bool:
        """Check the proof."""
        return self.proof.check()

    def __bool__(self) -> bool:
        """Say yes."""
        return True

    def __str__(self) -> str:
        """Give the answer with its reason."""
        return f"{self.activation} is permutation equivariant: {self.proof}"


@dataclass(frozen=True)
class NotEquivariant:
    """A point and a permutation with φ(P z)_i ≠ (P φ(z))_i, where (P z)_i = z_order[i]."""

    activation: str
    function: Outputs
    point: tuple[sympy.Rational, ...]
    order: tuple[int, ...]
    coordinate: int
    values: tuple[sympy.Expr, sympy.Expr]
    equivariant = False

    def check(self) -> bool:
        """Evaluate both sides again, and compare them exactly or by enclosures."""
        here = self.function(list(self.point))
        there = self.function([self.point[i] for i in self.order])
        values = there[self.coordinate], here[self.order[self.coordinate]]
        return values == self.values and _differ(*values) is True

    def __bool__(self) -> bool:
        """Say no."""
        return False

    def __str__(self) -> str:
        """Give the counterexample."""
        moved = ", ".join(str(self.point[i]) for i in self.order)
        left, right = self.values
        return (
            f"{self.activation} is not permutation equivariant: at z = ({', '.join(map(str, self.point))}), "
            f"P z = ({moved}), coordinate {self.coordinate + 1} of φ(P z) is {left} and of P φ(z) is {right}"
        )


@dataclass(frozen=True)
class _NoAnswer:
    """Neither yes nor no about `activation`; `reason` says why."""

    activation: str
    reason: str
    equivariant = None
    _refusal: ClassVar[type[SemialgError]] = UndecidedSignError

    def check(self) -> bool:
        """There is nothing to check, and nothing is claimed."""
        return False

    def __bool__(self) -> bool:
        """Refuse: neither yes nor no."""
        raise self._refusal(self.reason)

    def __str__(self) -> str:
        """Give the reason."""
        return self.reason


@dataclass(frozen=True)
class NotApplicable(_NoAnswer):
    """φ does not map R^n to R^n, so that the claim has no meaning; `reason` says it."""

    _refusal = UnsupportedError


@dataclass(frozen=True)
class EquivarianceUndecided(_NoAnswer):
    """Neither a proof nor a counterexample was found; `reason` says what was tried."""


Answer = Equivariant | NotEquivariant | NotApplicable | EquivarianceUndecided


@checked
def is_permutation_equivariant(activation: str | Pointwise | Callable[[Any], Any], n: int) -> Answer:
    """Decide whether φ(P z) = P φ(z) for all z in R^n and all permutation matrices P.

    `activation` is a name (`ACTIVATIONS`), a `Pointwise` formula, or a callable that takes a SymPy column and gives n
    expressions. A callable's "yes" is about the formulas that it gives on symbols, which must be what it gives at some
    points too; it should be a pure function.

    Implements: theory §8.

    Raises:
        InvalidNetworkError: for an unknown name, something that cannot be called, text among the outputs, or n < 1.
        InexactInputError: for a float in an output.

    >>> print(is_permutation_equivariant("softmax", 3))
    softmax is permutation equivariant: exp(z)/s at z = z_i, where s = sum over i of exp(z)
    >>> print(is_permutation_equivariant("cumsum", 2))
    cumsum is not permutation equivariant: at z = (1, 2), P z = (2, 1), coordinate 1 of φ(P z) is 2 and of P φ(z) is 3
    >>> print(is_permutation_equivariant("glu", 4))
    glu maps R^4 to R^2: P z and P φ(z) cannot both be formed, so the claim does not apply
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InvalidNetworkError(f"the number of coordinates is a positive integer, got {n!r}", value=n)
    name, function = activation if isinstance(activation, str) else _name_of(activation), activation
    if isinstance(activation, str):
        known = activations()
        if activation not in known:
            raise InvalidNetworkError(f"no activation is called {activation[:50]!r}; there are {', '.join(known)}")
        function = known[activation]
    if name in PAIRED and n % 2:
        return NotApplicable(name, f"{name} works on pairs of coordinates and is not defined on R^{n}")
    if isinstance(function, Pointwise):
        if not function.check():
            raise InvalidNetworkError("the formula uses a letter other than z, n and the statistics before it")
        for point in _points(min(n, 3)):  # 0 and negative numbers are among them
            if (found := _no_map(name, len(point), point, function(point))) is not None:
                return found
        return Equivariant(name, function)
    if not callable(function):
        raise InvalidNetworkError(f"expected a name, a formula or a function, got {function!r}", value=function)
    return _examined(name, _listed(function), n)


def _name_of(activation: object) -> str:
    return "the formula" if isinstance(activation, Pointwise) else getattr(activation, "__name__", "the activation")


class _Failed(Exception):
    """The callable raised an error of its own, whose name this carries."""


def _listed(function: Callable[[Any], Any]) -> Outputs:
    """Give the function on lists: a SymPy column in, a column, list or tuple out."""
    import sympy

    def outputs(z: list[Any]) -> list[Any]:
        try:
            found = list(function(sympy.Matrix(z)))
        except Exception as error:  # a callable may do anything with symbols, such as comparing them
            raise _Failed(type(error).__name__) from None
        return [sympy_expression(each, "an output of the activation") for each in found]

    return outputs


def _examined(name: str, function: Outputs, n: int) -> Answer:
    import sympy

    proof: GeneratorProof | None = None
    symbols = tuple(sympy.Symbol(f"z{i}", real=True) for i in range(n))
    try:
        outputs = tuple(function(list(symbols)))
        if (found := _no_map(name, n, symbols, outputs)) is not None:
            return found
        proof, tried = GeneratorProof(symbols, outputs), "its formulas differ, which proves nothing yet"
        proof = proof if proof.check() else None
    except _Failed as error:
        tried = f"it gives no formulas ({error})"
    looked = 0
    for point in _points(n):
        here: list[Any] = []
        for order in (tuple(range(n)), *_generators(n)):
            moved = tuple(point[i] for i in order)
            try:
                there = function(list(moved))
            except _Failed as error:
                reason = f"it fails at {moved} ({error}), {'' if proof else tried + ', '}and no point tells them apart"
                return EquivarianceUndecided(name, _open(name, reason))
            if (found := _no_map(name, n, moved, there)) is not None:
                return found
            here = here or there
            for i, left in enumerate(there):
                if _differ(left, here[order[i]]) is True:
                    return NotEquivariant(name, function, point, order, i, (left, here[order[i]]))
            looked += 1
            if proof and not _agree(there, proof, moved):
                proof, tried = (
                    None,
                    f"at {moved} it is not shown to give the values of the formulas that it gives on symbols",
                )
    if proof:
        return Equivariant(name, GeneratorProof(proof.symbols, proof.outputs, looked))
    return EquivarianceUndecided(name, _open(name, f"{tried}, and no point tells them apart"))


def _open(name: str, reason: str) -> str:
    return f"not decided whether {name} is permutation equivariant: {reason}"


def _no_map(name: str, n: int, point: Sequence[Any], outputs: Sequence[Any]) -> NotApplicable | None:
    """Say why these are no values of a map from R^n to R^n, if they are not."""
    if len(outputs) != n:
        count = len(outputs)
        reason = f"{name} maps R^{n} to R^{count}: P z and P φ(z) cannot both be formed, so the claim does not apply"
        return NotApplicable(name, reason)
    wrong = next((value for value in outputs if not is_real(value)), None)
    if wrong is None:
        return None
    at = ", ".join(map(str, point))
    reason = f"{name} does not map R^{n} to R^{n}: at z = ({at}) a coordinate is {wrong}, so the claim does not apply"
    return NotApplicable(name, reason)


def _agree(values: Sequence[Any], proof: GeneratorProof, point: Sequence[Any]) -> bool:
    """Say whether these are shown to be the values of the formulas at a point."""
    import sympy

    put = dict(zip(proof.symbols, point, strict=True))
    for value, output in zip(values, proof.outputs, strict=True):
        expected = output.xreplace(put)
        if value != expected and sympy.expand(value - expected) != 0 and sympy.simplify(value - expected) != 0:
            return False
    return True


def _generators(n: int) -> Iterator[tuple[int, ...]]:
    """Yield a transposition and a cycle, which generate all permutations; there is none but the identity for n = 1."""
    if n > 1:
        yield (1, 0, *range(2, n))
    if n > 2:
        yield (*range(1, n), 0)


def _points(n: int) -> Iterator[tuple[Any, ...]]:
    import sympy

    yield tuple(sympy.Integer(i + 1) for i in range(n))
    yield tuple(sympy.Integer(-i) for i in range(n))
    yield tuple(sympy.Rational((-1) ** i * (i + 2), i + 1) for i in range(n))
    yield tuple(sympy.Rational((5 * i + 3) % (2 * n + 1) - n, 2) for i in range(n))


def _differ(a: Any, b: Any) -> bool | None:
    """Say whether two numbers are different: True is certain, False (equal formulas) too, None is neither."""
    if a == b:
        return False
    if a.is_Rational and b.is_Rational:
        return True
    for bits in BITS:
        before, ctx.prec = ctx.prec, bits
        try:
            if not (_ball(a) - _ball(b)).contains(0):
                return True
        except (NotImplementedError, ZeroDivisionError, ValueError):
            return None
        finally:
            ctx.prec = before
    return None


_BALLS: dict[str, Callable[[arb], arb]] = {
    "exp": arb.exp, "log": arb.log, "tanh": arb.tanh, "erf": arb.erf, "sin": arb.sin, "cos": arb.cos, "Abs": abs
}  # fmt: skip


def _ball(expression: Any) -> arb:
    """Give a ball that contains the real number.

    Raises:
        NotImplementedError: for a function that is not in the list.
    """
    if expression.is_Rational:
        return arb(fmpq(int(expression.p), int(expression.q)))
    name = type(expression).__name__
    if name in ("Pi", "Exp1"):
        return arb.pi() if name == "Pi" else arb(1).exp()
    values = [_ball(each) for each in expression.args]
    if name == "Add":
        return sum(values, arb(0))
    if name == "Mul":
        result = arb(1)
        for value in values:
            result *= value
        return result
    if name == "Pow":
        base, power = values
        found = base ** int(expression.exp) if expression.exp.is_Integer else base**power
        if not found.is_finite():
            raise ValueError("no enclosure")
        return found
    if name in _BALLS:
        ball = _BALLS[name](values[0])
        if not ball.is_finite():
            raise ValueError("no enclosure")
        return ball
    if name in ("Max", "Min"):
        result = values[0]
        for value in values[1:]:
            result = result.max(value) if name == "Max" else result.min(value)
        return result
    raise NotImplementedError(name)
