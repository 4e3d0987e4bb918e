"""Activations on R^n as formulas: what mixes coordinates, and what treats them alike.

Main definitions
    Pointwise       φ(z)_i = F(z_i, s_1(z), ..., s_k(z)), one formula F, symmetric functions s_j: equivariant
    activations     the activations that are known by name

References: theory §8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.reading import sympy_expression
from semialg_fibers.geometry.scalar import shown

if TYPE_CHECKING:
    import sympy


def is_real(value: Any) -> bool:
    """Say whether an expression may be a real number: neither nan, nor infinite, nor known not to be real."""
    import sympy

    infinite = (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo)
    return value not in infinite and not value.has(sympy.nan, sympy.zoo) and value.is_extended_real is not False


@dataclass(frozen=True)
class Pointwise:
    """φ(z)_i = F(z_i, s_1(z), ..., s_k(z)): the declared structure of an equivariant activation.

    `formula` is a SymPy expression in the symbol `z`, the names of the statistics, and parameters; a statistic
    (name, "sum" or "max", summand) is the sum or the maximum over i of its summand at z = z_i, which may use earlier
    statistics and the number `n` of coordinates.
    """

    formula: sympy.Expr
    statistics: tuple[tuple[str, str, sympy.Expr], ...] = ()

    def __post_init__(self) -> None:
        """Read the formulas.

        Raises:
            InexactInputError: for a float in one of them.
            InvalidNetworkError: for what is no formula, or no statistic (name, kind, summand).
        """
        object.__setattr__(self, "formula", _defined(self.formula, "the formula"))
        statistics: tuple[tuple[str, str, Any], ...] = ()
        given = self.statistics if isinstance(self.statistics, tuple | list) else [self.statistics]
        for each in given:
            if (
                not isinstance(each, tuple | list)
                or len(each) != 3
                or not all(isinstance(text, str) for text in each[:2])
            ):
                raise InvalidNetworkError(
                    f"a statistic is (name, 'sum' or 'max', summand), got {shown(each)}", value=each
                )
            statistics += ((each[0], each[1], _defined(each[2], f"the summand of {each[0]}")),)
        object.__setattr__(self, "statistics", statistics)

    def __call__(self, z: Sequence[Any]) -> list[Any]:
        """Give φ(z) for a vector of SymPy expressions."""
        import sympy

        symbol, known = sympy.Symbol("z"), {sympy.Symbol("n"): sympy.Integer(len(z))}

        def at(expression: sympy.Expr, value: Any) -> Any:
            return expression.xreplace({**known, symbol: value})

        for name, kind, summand in self.statistics:
            values = [at(summand, value) for value in z]
            known[sympy.Symbol(name)] = sympy.Max(*values) if kind == "max" else sympy.Add(*values)
        return [at(self.formula, value) for value in z]

    def check(self) -> bool:
        """Say whether only z_i, n, constants and earlier symmetric functions are used: then φ is equivariant."""
        import sympy

        allowed = {sympy.Symbol("z"), sympy.Symbol("n")}
        for name, kind, summand in self.statistics:
            if kind not in ("sum", "max") or not summand.free_symbols <= allowed or sympy.Symbol(name) in allowed:
                return False
            allowed.add(sympy.Symbol(name))
        return bool(self.formula.free_symbols <= allowed)

    def __str__(self) -> str:
        """Give the formulas."""
        where = "".join(f", {name} = {kind} over i of {summand}" for name, kind, summand in self.statistics)
        return f"{self.formula} at z = z_i{where}".replace("at z = z_i,", "at z = z_i, where", 1)


def _defined(value: Any, where: str) -> Any:
    found = sympy_expression(value, where)
    if not is_real(found):
        raise InvalidNetworkError(f"{where} is {found}, expected a real number for every z", value=value)
    return found


ACTIVATIONS = (
    "relu", "sigmoid", "tanh", "gelu", "prelu_shared", "softmax", "log_softmax", "layer_norm", "rms_norm",
    "relu_minus_mean", "layer_norm_affine", "prelu_per_channel", "sort", "cumsum", "reverse", "maxout", "glu",
)  # fmt: skip


PAIRED = ("maxout", "glu")


def activations() -> dict[str, Pointwise | Callable[[Any], Any]]:
    """Give the activations by name; where they have parameters, with some that are in general position."""
    import sympy

    z, n, s, mean, variance = (sympy.Symbol(name) for name in ("z", "n", "s", "mean", "variance"))
    exp, small = sympy.exp, sympy.Rational(1, 100_000)
    relu = sympy.Max(z, 0)
    moments = (("mean", "sum", z / n), ("variance", "sum", (z - mean) ** 2 / n))
    normal = Pointwise((z - mean) / sympy.sqrt(variance + small), moments)
    formulas: dict[str, Pointwise | Callable[[Any], Any]] = {
        "relu": Pointwise(relu),
        "sigmoid": Pointwise(1 / (1 + exp(-z))),
        "tanh": Pointwise(sympy.tanh(z)),
        "gelu": Pointwise(z * (1 + sympy.erf(z / sympy.sqrt(2))) / 2),
        "prelu_shared": Pointwise(relu + sympy.Rational(1, 4) * sympy.Min(z, 0)),
        "softmax": Pointwise(exp(z) / s, (("s", "sum", exp(z)),)),
        "log_softmax": Pointwise(z - sympy.log(s), (("s", "sum", exp(z)),)),
        "layer_norm": normal,
        "rms_norm": Pointwise(z / sympy.sqrt(s + small), (("s", "sum", z**2 / n),)),
        "relu_minus_mean": Pointwise(relu - mean, (("mean", "sum", z / n),)),
        "layer_norm_affine": lambda v: [(i + 1) * each + i for i, each in enumerate(normal(list(v)))],
        "prelu_per_channel": lambda v: [sympy.Max(each, 0) + sympy.Min(each, 0) / (i + 2) for i, each in enumerate(v)],
        "sort": lambda v: sorted(v),
        "cumsum": lambda v: [sympy.Add(*v[: i + 1]) for i in range(len(v))],
        "reverse": lambda v: list(v)[::-1],
        "maxout": lambda v: [sympy.Max(*v[i : i + 2]) for i in range(0, len(v), 2)],
        "glu": lambda v: [v[i] / (1 + exp(-v[len(v) // 2 + i])) for i in range(len(v) // 2)],
    }
    assert tuple(formulas) == ACTIVATIONS
    return formulas
