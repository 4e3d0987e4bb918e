"""Slow reference computations for tests, on Fractions, from the definitions; no code of the package decides anything.

Rank by elimination, pointedness and strict feasibility by Fourier–Motzkin, kinds of neurons and hidden columns by the
row rules, the dimensions of theory §2.5 as the maxima that they are.
"""

from fractions import Fraction
from itertools import combinations

from semialg_fibers.geometry.domain import Box, Space
from semialg_fibers.networks.layer import Network


def fractions(values):
    return [Fraction(int(value.p), int(value.q)) for value in values]


def layer_rows(layer):
    """The rows of [W | b] as Fractions."""
    return [fractions(form) for form in layer.forms]


def columns_of(layer):
    return [fractions(column) for column in layer.matrix.columns()]


def rank(rows):
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            factor = Fraction(rows[i][column]) / rows[found][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def is_strictly_feasible(forms, dimension):
    """Whether {w·x + γ > 0 for all (w, γ)} is not empty, by Fourier–Motzkin elimination."""
    if dimension == 0:
        return all(form[-1] > 0 for form in forms)
    last = dimension - 1
    left = [form for form in forms if form[last] == 0]
    ups, downs = ([form for form in forms if form[last] * sign > 0] for sign in (1, -1))
    for up in ups:
        left += [[a * up[last] - b * down[last] for a, b in zip(down, up, strict=True)] for down in downs]
    unique = {tuple([*form[:last], form[-1]]) for form in left}
    return is_strictly_feasible(list(unique), last)


def is_pointed(columns):
    """Whether some y has y·c > 0 for every nonzero column c."""
    nonzero = [[*column, Fraction(0)] for column in columns if any(column)]
    return not nonzero or is_strictly_feasible(nonzero, len(nonzero[0]) - 1)


def extremes(form, domain):
    """Infimum and supremum of a form on the domain, None where infinite."""
    *weights, constant = form
    if isinstance(domain, Box):
        ends = list(zip(weights, fractions(domain.low), fractions(domain.high), strict=True))
        return (
            sum((min(w * a, w * b) for w, a, b in ends), constant),
            sum((max(w * a, w * b) for w, a, b in ends), constant),
        )
    if isinstance(domain, Space):
        return (None, None) if any(weights) else (constant, constant)
    return (
        None if any(w < 0 for w in weights) else constant,
        None if any(w > 0 for w in weights) else constant,
    )


def kind(form, domain):
    low, high = extremes(form, domain)
    if high is not None and high <= 0:
        return "dead"
    return "linear" if low is not None and low >= 0 else "nonlinear"


def kinds(net):
    """The kinds of the neurons of the last hidden layer, behind a first layer that maps onto the orthant or alone."""
    part = net if len(net.layers) == 2 else net.part(2, 3)
    return [kind(form, part.domain) for form in layer_rows(part.layers[0])]


def common_hidden_columns(rows, n1):
    """The columns that the rows of [A2 | b2] hide, by the rule of theory §3.1."""
    alive = [row for row in rows if any(value > 0 for value in row)]
    return [
        i for i in range(n1) if all(not row[i] or all(v <= 0 for k, v in enumerate(row) if k != i) for row in alive)
    ]


def hidden_columns(net):
    """The hidden columns of a bottleneck network by the rule of theory §3.1."""
    return common_hidden_columns(layer_rows(net.layers[1]), net.widths[1])


def linear_product(net):
    """M = Σ C_j B_j over the linear neurons of the last hidden layer, m × p."""
    inner, outer = net.layers[-2:]
    forms, columns = layer_rows(inner), columns_of(outer)
    chosen = [j for j, name in enumerate(kinds(net)) if name == "linear"]
    return [
        [sum((columns[j][a] * forms[j][i] for j in chosen), Fraction(0)) for i in range(inner.inputs)]
        for a in range(outer.outputs)
    ]


def plus_products(matrix, forms, outgoing, sides):
    """M + Σ_(j∈S) C_j B_j."""
    return [
        [value + sum((outgoing[j][a] * forms[j][i] for j in sides), Fraction(0)) for i, value in enumerate(row)]
        for a, row in enumerate(matrix)
    ]


def nonnegative_column_rank(matrix):
    """Theory §2.4."""
    columns = list(zip(*matrix, strict=True))
    return rank(matrix) + (0 if is_pointed(columns) else 1)


def part_dimensions(matrix, k, r, domain):
    """The dimension of the part with q linear neurons, for each possible q: theory §2.5, §2.7, as a maximum over s."""
    m, p = len(matrix), len(matrix[0])
    if isinstance(domain, Space):
        return {q: k + r * (1 + m) for q in range(r + 1)}
    rho = rank(matrix)
    free = isinstance(domain, Box) or is_pointed(list(zip(*matrix, strict=True)))
    found = {}
    for q in range(r + 1):
        sizes = [s for s in range(rho, min(m, q) + 1) if s < q or free]
        if sizes:
            pairs = max((s - rho) * (m - s) + s * q + p * (q - s) for s in sizes)
            found[q] = k + pairs + q + (r - q) * (p + 1 + m)
    return found


def stratum_dimension(net, domain):
    """The dimension at a member of the manifold of members with the same q and the same rank s of its linear columns.

    k + D(s, q) + q + (r − q) N of theory §2.5: the tangents of this manifold lie in every Jacobian's kernel, whatever
    the ranks are. On R^p the pairs are the constants.
    """
    matrix, names = linear_product(net), kinds(net)
    m, p, q = len(matrix), len(matrix[0]), names.count("linear")
    k, dead = names.count("nonlinear"), names.count("dead")
    if isinstance(domain, Space):
        return k + (q + dead) * (1 + m)
    columns = [column for column, name in zip(columns_of(net.layers[-1]), names, strict=True) if name == "linear"]
    s, rho = rank(columns), rank(matrix)
    return k + (s - rho) * (m - s) + s * q + p * (q - s) + q + dead * (p + 1 + m)


def subsets(size):
    """All subsets of range(size), by size, then lexicographically."""
    return [chosen for length in range(size + 1) for chosen in combinations(range(size), length)]


def network_at(values, like):
    """The network with the parameters `values` (by name or symbol), shaped like another one."""
    named = {str(key): value for key, value in values.items()}
    layers = []
    for number, layer in enumerate(like.layers, 1):
        weight = [[named[f"W{number}_{i}_{j}"] for j in range(layer.inputs)] for i in range(layer.outputs)]
        layers.append((weight, [named[f"b{number}_{i}"] for i in range(layer.outputs)]))
    return Network(layers, like.domain)


def with_opposite_unit(net, layer, unit):
    """Multiply a hidden unit's incoming and outgoing weights by −1: the products along paths stay, relu does not."""
    signs = [-1 if i == unit else 1 for i in range(net.widths[layer])]
    layers = list(net.layers)
    inner, outer = layers[layer - 1 : layer + 1]
    rows = [[sign * value for value in form] for sign, form in zip(signs, inner.forms, strict=True)]
    columns = [[value * sign for value, sign in zip(row, signs, strict=True)] for row in outer.matrix.rows()]
    layers[layer - 1 : layer + 1] = [([row[:-1] for row in rows], [row[-1] for row in rows]), (columns, outer.offset)]
    return net.with_layers(layers)
