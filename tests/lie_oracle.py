"""A slow oracle for conservation laws: SymPy polynomials from the definitions, ranks over Q by elimination.

It shares no code with what it judges: cells come from the oracle of the package, networks are multiplied out letter by
letter, all brackets of a length are formed, and all quadratic laws are solved for at once, without any grading.
"""

import random
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

from reference import rank
from sympy import QQ, ring

from semialg_fibers.verify.oracle import oracle_cells


def full_patterns(net):
    """The patterns of the cells on which no preactivation vanishes: at an inner point it would be zero there."""
    found = []
    for cell in oracle_cells(net):
        x, values = cell.point, []
        for layer in net.layers[:-1]:
            z = layer.apply(x)
            values += z
            x = [max(value, 0 * value) for value in z]
        if all(values):
            found.append(cell.pattern)
    return found


class Polynomials:
    """The coefficients of f_o in x for given widths, biases and patterns, as polynomials in the parameters."""

    def __init__(self, widths, biased, patterns):
        """Multiply the networks out."""
        names = []
        for number, (inputs, outputs) in enumerate(pairwise(widths), 1):
            names += [f"W{number}_{i}_{j}" for i in range(outputs) for j in range(inputs)]
            names += [f"b{number}_{i}" for i in range(outputs)] if biased[number - 1] else []
        self.names = names
        self.ring, *letters = ring(names, QQ)
        self.letters = letters
        by_name = dict(zip(names, letters, strict=True))
        found = []
        self.forms = []  # for each pattern the rows of coefficients of (x, 1)
        for pattern in patterns:
            # rows of coefficients of (x, 1)
            forms = [[self.ring(int(i == j)) for j in range(widths[0] + 1)] for i in range(widths[0])]
            for number, (inputs, outputs) in enumerate(pairwise(widths), 1):
                made = []
                for i in range(outputs):
                    row = [
                        sum((by_name[f"W{number}_{i}_{j}"] * forms[j][k] for j in range(inputs)), self.ring(0))
                        for k in range(widths[0] + 1)
                    ]
                    if biased[number - 1]:
                        row[-1] += by_name[f"b{number}_{i}"]
                    on = number == len(widths) - 1 or pattern[number - 1][i]
                    made.append(row if on else [self.ring(0)] * len(row))
                forms = made
            self.forms.append(forms)
            found += [entry for row in forms for entry in row if entry]
        self.potentials = list(dict.fromkeys(found))
        self.fields = [[phi.diff(letter) for letter in letters] for phi in self.potentials]

    def bracket(self, x, y):
        """DY·X − DX·Y."""
        return [
            sum((b.diff(t) * u - a.diff(t) * v for t, u, v in zip(self.letters, x, y, strict=True)), self.ring(0))
            for a, b in zip(x, y, strict=True)
        ]

    def at(self, field, point):
        return [Fraction(str(entry.evaluate(list(zip(self.letters, point, strict=True))))) for entry in field]

    def point(self, seed=0):
        rng = random.Random(seed)
        return [QQ(rng.choice([-1, 1]) * rng.randint(1, 99), rng.randint(1, 5)) for _ in self.letters]

    def lie_ranks(self):
        """The ranks of all brackets up to length 1, 2, ... at a rational point, until one length adds nothing."""
        point = self.point()
        level, kept, ranks = self.fields, [self.at(field, point) for field in self.fields], []
        while len(ranks) < 2 or ranks[-1] > ranks[-2]:
            ranks.append(rank(kept))
            level = [z for x in self.fields for y in level if any(z := self.bracket(x, y))]
            kept += [self.at(field, point) for field in level]
        return ranks[:-1]

    def quadratic_laws(self):
        """The rank, at a random point, of the gradients of all laws of degree at most two."""
        monomials = [
            product
            for size in (1, 2)
            for chosen in combinations_with_replacement(self.letters, size)
            for product in [chosen[0] if size == 1 else chosen[0] * chosen[1]]
        ]
        equations = {}
        for column, monomial in enumerate(monomials):
            slopes = [monomial.diff(letter) for letter in self.letters]
            for number, field in enumerate(self.fields):
                total = sum((a * b for a, b in zip(slopes, field, strict=True) if a and b), self.ring(0))
                for exponents, value in total.terms():
                    row = equations.setdefault((number, exponents), [Fraction(0)] * len(monomials))
                    row[column] = Fraction(str(value))
        point = self.point(1)
        gradients = [self.at([m.diff(t) for t in self.letters], point) for m in monomials]
        laws = kernel(list(equations.values()), len(monomials))
        columns = list(zip(*gradients, strict=True))
        combined = [[sum(c * g for c, g in zip(law, one, strict=True)) for one in columns] for law in laws]
        return rank(combined) if combined else 0


def kernel(rows, columns):
    """A basis of {x : row · x = 0 for all rows}, by Gauss–Jordan elimination."""
    rows, pivots = [list(row) for row in rows], []
    for column in range(columns):
        at = next((i for i in range(len(pivots), len(rows)) if rows[i][column]), None)
        if at is None:
            continue
        here = len(pivots)
        rows[here], rows[at] = rows[at], rows[here]
        rows[here] = [value / rows[here][column] for value in rows[here]]
        for i, row in enumerate(rows):
            if i != here and row[column]:
                factor = row[column]
                rows[i] = [a - factor * b for a, b in zip(row, rows[here], strict=True)]
        pivots.append(column)
    basis = []
    for free in (column for column in range(columns) if column not in pivots):
        vector = [Fraction(0)] * columns
        vector[free] = Fraction(1)
        for i, pivot in enumerate(pivots):
            vector[pivot] = -rows[i][free]
        basis.append(vector)
    return basis
