"""Random rational networks of every kind that theory §2 and §3 tell apart, for property tests.

Each strategy draws the signs that make the kind, then magnitudes, and keeps what `genericity` calls generic. Entries
are small integers, small fractions, or dyadic numbers as trained networks have them. What a kind asks for is built in
rather than hoped for, so that most draws are kept (tests/test_strategies.py).
"""

from fractions import Fraction
from itertools import product

from hypothesis import assume
from hypothesis import strategies as st
from reference import common_hidden_columns, extremes, fractions, hidden_columns, kinds, rank

from semialg_fibers import gallery
from semialg_fibers.errors import NotGenericError, UnsupportedError
from semialg_fibers.fibers.bottleneck import fiber
from semialg_fibers.fibers.genericity import genericity
from semialg_fibers.geometry.domain import Box, Orthant, Space
from semialg_fibers.networks.layer import Network
from semialg_fibers.verify.conservation import Wiring

POSITIVE = {
    "integers": st.integers(1, 6).map(Fraction),
    "fractions": st.builds(Fraction, st.integers(1, 9), st.integers(1, 4)),
    "dyadics": st.integers(1, 2**22).map(lambda n: Fraction(n, 2**20)),
}
styles = st.sampled_from(sorted(POSITIVE))
seeds = st.integers(0, 2**20)
factors = st.builds(Fraction, st.integers(1, 6), st.integers(1, 6))

# What the rows of [A2 | b2] are: Nonlinear, Linear, Dead, nonlinear and Hiding one common column; for n1 = 1 the two
# nonlinear kinds are Hiding ones and those that are Positive on the side where the first layer is off.
MIXES = {
    "visible": ["N", "NN", "NNN"],
    "linear rows": ["L", "LL", "NL", "NLL", "NNL", "LLL"],
    "dead rows": ["ND", "NND", "NDD"],
    "linear and dead rows": ["LD", "NLD", "LLD", "LDD"],
    "hidden, one alive row": ["H", "HD", "HDD"],
    "hidden, several alive rows": ["HH", "HHD", "HHH"],
    "hidden, common ratios": ["HH", "HHD", "HHH"],
    "all dead": ["D", "DD"],
}
LINES = {
    "line, visible": ["P", "L", "PL", "PH", "PP", "HL", "PHL", "PHH", "PD", "HLD", "LL", "PLL"],
    "line, hidden": ["H", "HD", "HH", "HHD", "HDD"],
    "line, constant on both sides": ["P", "PD", "PP", "HH", "HHD", "HL", "HHL", "PHL", "PHH"],
}
BOTTLENECKS = [*MIXES, *LINES]
DOMAINS = ["one hidden layer on R^p", "one hidden layer on the orthant", "one hidden layer on a box"]
KINDS = [*BOTTLENECKS, *DOMAINS]


def set_apart(rows, moved):
    """Move the biases of rows whose hyperplane an earlier row has, as (G3) forbids."""
    seen = set()
    for row in rows:
        while (place := tuple(value / next(filter(None, row)) for value in row)) in seen:
            row[-1] = moved(row[-1])
        seen.add(place)


@st.composite
def signed_row(draw, signs, positive):
    return [sign * draw(positive) for sign in signs]


@st.composite
def signs_of(draw, letter, size, column):
    """The signs of one row of [A2 | b2] with `size` weights."""
    if letter in "LD":
        return [1 if letter == "L" else -1] * (size + 1)
    if letter == "H":
        return [1 if k == column else -1 for k in range(size + 1)]
    if letter == "P":
        return [-1, 1]
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=size, max_size=size))
    return [*signs, draw(st.sampled_from([-1, 1])) if len(set(signs)) == 2 else -signs[0]]


@st.composite
def first_layer(draw, n1, d, positive):
    entries = st.builds(lambda sign, value: sign * value, st.sampled_from([-1, 1]), positive)
    rows = draw(st.lists(st.lists(entries | st.just(Fraction(0)), min_size=d, max_size=d), min_size=n1, max_size=n1))
    while rank(rows) < n1:  # det(A + c·1) is a polynomial in c of degree n1, so at most n1 steps
        for k, row in enumerate(rows):
            row[k] += 1
    return rows, draw(st.lists(entries | st.just(Fraction(0)), min_size=n1, max_size=n1))


@st.composite
def columns(draw, count, m, positive):
    """Outgoing columns, none of them zero."""
    entry = st.builds(lambda sign, value: sign * value, st.sampled_from([-1, 1]), positive)
    column = st.lists(entry | st.just(Fraction(0)), min_size=m, max_size=m).filter(any)
    return draw(st.lists(column, min_size=count, max_size=count))


@st.composite
def bottlenecks(draw, kind, generic=True):
    """A three-layer network with n1 ≤ d of this kind."""
    line = kind in LINES
    positive = POSITIVE[draw(styles)]
    n1 = 1 if line else draw(st.integers(2, 3))
    d, m = n1 + draw(st.integers(0, 1)), draw(st.integers(1, 3))
    letters = draw(st.permutations(draw(st.sampled_from((LINES if line else MIXES)[kind]))))
    hiding = draw(st.integers(0, n1 - 1))
    rows = [draw(signed_row(draw(signs_of(letter, n1, hiding)), positive)) for letter in letters]
    if kind == "hidden, common ratios":
        shared = [k for k in range(n1) if k != hiding]
        for k in draw(st.lists(st.sampled_from(shared), min_size=1, unique=True)):
            ratio = -draw(positive)
            for letter, row in zip(letters, rows, strict=True):
                if letter == "H":
                    row[k] = ratio * row[hiding]
    if generic:
        set_apart([row for letter, row in zip(letters, rows, strict=True) if letter not in "LD"], lambda bias: 2 * bias)
    outgoing = draw(columns(len(rows), m, positive))
    if kind == "line, constant on both sides":
        _flatten(rows, outgoing)
    if kind in ("visible", "dead rows") and common_hidden_columns(rows, n1):
        row = rows[letters.index("N")]
        row[-1] = abs(row[-1])  # its one positive weight had hidden every kink
    weight, bias = draw(first_layer(n1, d, positive))
    last = [draw(st.integers(-3, 3)) for _ in range(m)]
    net = Network(
        [
            (weight, bias),
            ([row[:-1] for row in rows], [row[-1] for row in rows]),
            ([list(entries) for entries in zip(*outgoing, strict=True)], last),
        ]
    )
    if kind != "line, constant on both sides":
        alive = any(name != "dead" for name in kinds(net))
        assert (alive and bool(hidden_columns(net))) == ("hidden" in kind)
    if generic:
        assume(genericity(net).is_generic is True)
    return net


def _flatten(rows, outgoing):
    """Change one outgoing column so that f is constant towards +∞ too: Σ A3_j A2_j = 0 over rows with A2_j > 0."""
    rising = [j for j, row in enumerate(rows) if row[0] > 0]
    if rising:
        last = rising[-1]
        total = [sum((outgoing[j][a] * rows[j][0] for j in rising[:-1]), Fraction(0)) for a in range(len(outgoing[0]))]
        assume(any(total))
        outgoing[last] = [-value / rows[last][0] for value in total]


@st.composite
def one_hidden_layers(draw, kind, generic=True):
    """A network with one hidden layer on R^p, the orthant or a box, with neurons of all kinds."""
    positive = POSITIVE[draw(styles)]
    p, n, m = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    low = [draw(st.integers(-2, 0)) for _ in range(p)]
    domain = {
        DOMAINS[0]: Space(p),
        DOMAINS[1]: Orthant(p),
        DOMAINS[2]: Box(low, [value + draw(st.integers(1, 2)) for value in low]),
    }[kind]
    entry = st.builds(lambda sign, value: sign * value, st.sampled_from([-1, 0, 1, 1, -1]), positive)
    shares = [Fraction(1, 2)] * n  # of the box, where the hyperplane of a nonlinear neuron cuts it
    if generic:
        shares = draw(st.permutations([Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(1, 7)]))[:n]
    rows = []
    letters = draw(st.lists(st.sampled_from("NNLD"), min_size=n, max_size=n))
    for letter, share in zip(letters, shares, strict=True):
        row = draw(st.lists(entry, min_size=p, max_size=p))
        if generic and not any(row):
            row[0] += 1
        shift = draw(positive)
        if isinstance(domain, Space):
            row = row if letter == "N" else [Fraction(0)] * p
            row.append(draw(entry) if letter == "N" else shift if letter == "L" else -shift)
        elif isinstance(domain, Orthant):
            sign = {"L": 1, "D": -1}.get(letter)
            row = [*row, draw(entry)] if sign is None else [sign * abs(value) for value in [*row, shift]]
        else:
            below, above = extremes([*row, Fraction(0)], domain)
            between = -(below + share * (above - below))
            row.append({"L": shift - below, "D": -shift - above, "N": between}[letter])
        rows.append(row)
    if generic and not isinstance(domain, Box):  # in a box the shares differ, and no two of them have the sum 1
        set_apart([row for letter, row in zip(letters, rows, strict=True) if letter == "N"], lambda bias: bias + 1)
    outgoing = draw(columns(n, m, positive))
    last = [draw(st.integers(-3, 3)) for _ in range(m)]
    net = Network(
        [
            ([row[:-1] for row in rows], [row[-1] for row in rows]),
            ([list(entries) for entries in zip(*outgoing, strict=True)], last),
        ],
        domain,
    )
    if generic:
        assume(genericity(net).is_generic is True)
    return net


def networks_of(kind):
    """Generic networks of one of `KINDS`."""
    return one_hidden_layers(kind) if kind in DOMAINS else bottlenecks(kind)


@st.composite
def relabelled(draw, net):
    """The same network with its hidden units permuted and rescaled."""
    for layer in range(1, len(net.layers)):
        net = net.permuted(layer, draw(st.permutations(range(net.widths[layer]))))
        net = net.rescaled(layer, [draw(factors) for _ in range(net.widths[layer])])
    return net


@st.composite
def points(draw, domain):
    """A rational point of the domain."""
    coordinate = st.builds(Fraction, st.integers(-60, 60), st.integers(1, 6))
    share = st.builds(Fraction, st.integers(0, 12), st.just(12))
    if isinstance(domain, Box):
        return [a + draw(share) * (b - a) for a, b in zip(fractions(domain.low), fractions(domain.high), strict=True)]
    point = [draw(coordinate) for _ in range(domain.dimension)]
    return [abs(value) for value in point] if isinstance(domain, Orthant) else point


def some_components(data, found, most=3):
    """The first component and others at random, a few in all."""
    count = found.component_count
    chosen = {0, *data.draw(st.lists(st.integers(0, count - 1), max_size=most - 1))}
    return [found.components[i] for i in sorted(chosen)]


SMALL = st.sampled_from([0, 0, 1, -1, 2, -2])


@st.composite
def same_first_layer_pairs(draw):
    """Two three-layer networks with one first layer up to turning a row round: the zero test applies often."""
    d, n1, n2, m = (draw(st.integers(1, 3)) for _ in range(4))
    block = st.lists(SMALL, min_size=d, max_size=d)
    weight, bias = draw(st.lists(block, min_size=n1, max_size=n1)), draw(st.lists(SMALL, min_size=n1, max_size=n1))

    def rest():
        rows = st.lists(st.lists(SMALL, min_size=n1, max_size=n1), min_size=n2, max_size=n2)
        outer = st.lists(st.lists(SMALL, min_size=n2, max_size=n2), min_size=m, max_size=m)
        return [
            (draw(rows), draw(st.lists(SMALL, min_size=n2, max_size=n2))),
            (draw(outer), draw(st.lists(SMALL, min_size=m, max_size=m))),
        ]

    turned = draw(st.booleans())
    other = [[-value for value in weight[0]], *weight[1:]] if turned else weight
    shift = [-bias[0], *bias[1:]] if turned else bias
    own = rest()
    change = draw(st.sampled_from(["nothing", "weight", "all"]))
    new = rest() if change == "all" else [([list(row) for row in w], list(b)) for w, b in own]
    if change == "weight":
        new[0][0][0][0] += 1
    return Network([(weight, bias), *own]), Network([(other, shift), *new])


@st.composite
def wirings(draw):
    """The pattern of a small architecture: widths, biases, and which units act together on some cells."""
    widths = draw(st.sampled_from([(1, 1, 1), (1, 2, 1), (1, 1, 2), (1, 1, 1, 1), (2, 1, 1)]))
    masks = [list(product((0, 1), repeat=width)) for width in widths[1:-1]]
    patterns = draw(st.lists(st.sampled_from(list(product(*masks))), min_size=1, max_size=3, unique=True))
    return Wiring(widths, (draw(st.booleans()),) * (len(widths) - 1), tuple(patterns))


def gallery_fibers():
    """The fibers of the networks of the gallery that have one, with their names."""
    for name in gallery.names():
        try:
            yield name, fiber(gallery.network(name))
        except (NotGenericError, UnsupportedError):
            continue
