"""A bound on what a framework's floats may differ from the exact value of a network, from the textbook, on Fractions.

An inner product of length n with a term added, computed in floats of unit roundoff u in any order, differs from the
exact one by at most γ (|w|·|x| + |b|) with γ = (n + 1) u / (1 − (n + 1) u), plus what underflow loses (Higham, Accuracy
and Stability of Numerical Algorithms, §3.1). ReLU does not enlarge differences. No code of the package computes it.
"""

from fractions import Fraction

# Unit roundoff, and the distance of subnormal numbers.
FLOATS = {
    "float16": (Fraction(1, 2**11), Fraction(1, 2**24)),
    "bfloat16": (Fraction(1, 2**8), Fraction(1, 2**133)),
    "float32": (Fraction(1, 2**24), Fraction(1, 2**149)),
    "float64": (Fraction(1, 2**53), Fraction(1, 2**1074)),
}


def fractions(values):
    return [Fraction(int(value.p), int(value.q)) for value in values]


def value_and_bound(net, point, form):
    """The exact value at a point (Fractions), and for each output how far floats may be from it."""
    u, tiny = FLOATS[form]
    x, error = list(point), [Fraction(0)] * len(point)
    for depth, layer in enumerate(net.layers):
        n = layer.inputs + 2  # two more: alpha and beta of a Gemm, or a scaling that was folded
        gamma = n * u / (1 - n * u)
        assert gamma > 0
        values, bounds = [], []
        for form_ in layer.forms:
            *w, b = fractions(form_)
            values.append(sum((a * c for a, c in zip(w, x, strict=True)), b))
            size = sum((abs(a) * (abs(c) + e) for a, c, e in zip(w, x, error, strict=True)), abs(b))
            moved = sum((abs(a) * e for a, e in zip(w, error, strict=True)), Fraction(0))
            bounds.append(moved + gamma * size + 2 * n * tiny)
        last = depth == len(net.layers) - 1
        x, error = (values if last else [max(v, Fraction(0)) for v in values]), bounds
    return x, error


def assert_within_bound(net, points, outputs, form):
    """Each output of the framework lies within the bound of the exact value at the same point; points are floats."""
    seen = 0
    for point, output in zip(points, outputs, strict=True):
        exact = [Fraction(float(value)) for value in point]
        values, bounds = value_and_bound(net, exact, form)
        assert len(output) == len(values)
        for value, bound, found in zip(values, bounds, output, strict=True):
            assert abs(Fraction(float(found)) - value) <= bound, (point, float(value), float(bound), float(found))
            seen += 1
    assert seen
