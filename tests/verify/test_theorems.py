"""The theorems: verified, true in explicit matrices, true for z3, and not provable when anything is changed."""

import dataclasses
import itertools
import random
from importlib.util import find_spec

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import BudgetExceededError, InvalidNetworkError, UnsupportedError
from semialg_fibers.fibers.hiding import flip, translate
from semialg_fibers.networks.layer import Network
from semialg_fibers.testing import assert_proved
from semialg_fibers.verify.derivation import Claim, Derivation
from semialg_fibers.verify.explicit import by_hand_swap, holds_for_all_permutations
from semialg_fibers.verify.expressions import Statement, Term, identity, matrix, product, relu, zero
from semialg_fibers.verify.instances import Instance, counterexample, drawn, holds, value_of
from semialg_fibers.verify.notation import RELU
from semialg_fibers.verify.rules import RULES
from semialg_fibers.verify.theorems import THEOREMS, theorem
from semialg_fibers.verify.unit_theorems import layer_in_any_network, permutation_symmetry, positive_scaling

every_theorem = pytest.mark.parametrize("name", THEOREMS)


@every_theorem
def test_it_is_proved(name):
    assert_proved(theorem(name))


@pytest.mark.parametrize("convention", ["row", "column"])
@pytest.mark.parametrize("hidden", [1, 2, 5])
@pytest.mark.parametrize("batch", [False, True])
def test_every_form_of_the_permutation_theorem_is_proved(convention, hidden, batch):
    proof = permutation_symmetry(convention, hidden, batch)
    assert_proved(proof)
    kinds = [each.relation.split()[0] for each in proof.claim.hypotheses]
    assert kinds == ["permutation"] * hidden + ["equivariant"] * hidden  # and nothing else is assumed


def test_the_permutation_theorem_says_what_the_page_says():
    """Step 1 is the only use of φ, step 2 the only use of P, step 3 the substitution that factors P out."""
    proof = permutation_symmetry()
    x, W1, b1, W2, b2 = (matrix(*each) for each in (
        ("x", 1, "d"), ("W1", "d", "n"), ("b1", 1, "n"), ("W2", "n", "m"), ("b2", 1, "m")))  # fmt: skip
    P = matrix("P", "n", "n")

    def f(W1, b1, W2):
        hidden = Term("apply", (1, "n"), (product(x, W1) + b1,), "φ")
        return product(hidden, W2) + b2

    (shown,) = proof.claim.conclusions
    assert shown.terms == (f(product(W1, P), product(b1, P), product(P.transposed, W2)), f(W1, b1, W2))
    uses = {rule: [line for line in proof.lines if line.rule == rule] for rule in ("equivariance", "orthogonality")}
    assert [str(line.statement) for line in uses["equivariance"]] == ["φ(x W1 + b1) P = φ((x W1 + b1) P)"]
    assert [str(line.statement) for line in uses["orthogonality"]] == ["P Pᵀ = I"]


def test_other_forms_and_refusals():
    assert_proved(layer_in_any_network("column"))
    assert_proved(positive_scaling("φ"))
    assert len(positive_scaling().claim.hypotheses) == 1  # of relu nothing need be assumed
    with pytest.raises(InvalidNetworkError):
        permutation_symmetry("diagonal")
    for hidden in (0, 1.5, True, "a", None):
        with pytest.raises(InvalidNetworkError, match="hidden layers"):
            permutation_symmetry(hidden=hidden)
    for around in ("g", ("g",), ("g", 3), ("relu(", ""), None):
        with pytest.raises(InvalidNetworkError, match="two names"):
            permutation_symmetry(around=around)
    for count in (0, -1, 2.5, True, "a", None):
        for counts in ((count,), (2, count), (2, 1, count)):
            with pytest.raises(InvalidNetworkError, match="positive integers"):
                holds_for_all_permutations(*counts)
    with pytest.raises(UnsupportedError, match="sign_flip"):
        theorem(["sign_flip"])
    with pytest.raises(UnsupportedError, match="sign_flip"):
        theorem("collatz")


# Explicit matrices


@every_theorem
@settings(max_examples=10)
@given(seed=st.integers(0, 2**30))
def test_it_is_true_in_explicit_matrices(name, seed):
    """Every step, not only the claim, in random instances of the hypotheses; sizes 1 and 2."""
    proof = theorem(name)
    rng = random.Random(seed)
    statements = [each for line in proof.lines for each in (line.statement, *line.under)]
    found = (drawn(proof.claim.hypotheses, statements, rng, most) for most in itertools.cycle((1, 1, 2)))
    instance = next(each for each in itertools.islice(found, 5000) if each is not None)
    for line in proof.lines:
        if line.statement.terms and line.statement.terms[0].name != "ξ" and all(holds(u, instance) for u in line.under):
            assert holds(line.statement, instance), line


@every_theorem
def test_every_hypothesis_is_needed(name):
    """Dropped, the proof has a gap where it was used, and explicit matrices refute the claim."""
    proof = theorem(name)
    for i, dropped in enumerate(proof.claim.hypotheses):
        rest = proof.claim.hypotheses[:i] + proof.claim.hypotheses[i + 1 :]
        claim = dataclasses.replace(proof.claim, hypotheses=rest)
        gap = Derivation(claim, proof.lines).gap()
        assert gap is not None
        assert next(line for line in proof.lines if line.label == gap.label).statement == dropped
        instance = counterexample(claim)
        assert instance is not None, f"no counterexample without {dropped}"
        assert all(holds(each, instance) for each in rest if each.terms)
        assert not all(holds(each, instance) for each in claim.conclusions)
        if dropped.terms:
            assert not holds(dropped, instance)


@pytest.mark.parametrize("n", range(1, 6))
def test_all_permutations_with_symbolic_entries(n):
    assert holds_for_all_permutations(n, inputs=2 if n < 5 else 1)


def test_the_swap_by_hand():
    assert by_hand_swap().splitlines()[2] == "f'(x) = φ(x w2 + b2) v2 + φ(x w1 + b1) v1 + c"
    with pytest.raises(BudgetExceededError):
        holds_for_all_permutations(8)


def test_explicit_matrices_by_hand():
    """The evaluator itself, against numbers worked out by hand."""
    A, B = matrix("A", "n", "m"), matrix("B", "m", "n")
    values = {"A": ((1, -2), (0, 3)), "B": ((2, 0), (1, -1))}
    instance = Instance({"n": 2, "m": 2}, {k: tuple(tuple(map(fmpq, row)) for row in v) for k, v in values.items()})
    assert value_of(A @ B, instance) == ((0, 2), (3, -3))
    assert value_of(relu(A) - B.transposed, instance) == ((-1, -1), (0, 4))
    assert value_of(product(A, B).inverse, instance) == ((fmpq(1, 2), fmpq(1, 3)), (fmpq(1, 2), 0))
    assert value_of(product(zero("n", "n"), identity("n")).inverse, instance) == ((0, 0), (0, 0))
    assert not holds(Statement("permutation", (A @ B,)), instance)
    with pytest.raises(InvalidNetworkError):
        holds(Statement("equivariant right", (), "φ"), instance)


# The package's own actions are those that the theorems speak of


def column(values):
    return tuple((value,) for value in values)


def claim_values(name, sizes, matrices):
    left, right = theorem(name).claim.conclusions[0].terms
    made = {key: tuple(tuple(map(fmpq, row)) for row in rows) for key, rows in matrices.items()}
    instance = Instance(sizes, made, {"φ": lambda rows: tuple(tuple(max(v, fmpq(0)) for v in row) for row in rows)})
    assert all(holds(each, instance) for each in theorem(name).claim.hypotheses if each.terms)
    return value_of(left, instance), value_of(right, instance)


FIRST = [[1, 2, 0], [3, -1, 1], [1, 1, 1]], [1, -2, 3]
SECOND = [[2, -4, -1], [1, -2, -3], [-1, -1, -2]], [-5, -1, -1]
HIDDEN = Network([FIRST, SECOND, ([[1, -3, 7]], [2])])
POINTS = [tuple(map(fmpq, point)) for point in ((0, 0, 0), (3, -2, 1), (-4, 1, 9), (5, 5, -3), (-1, -6, 2), (9, 0, 4))]


@pytest.mark.parametrize("t", [-1, fmpq(-1, 2), 3])
def test_translate_is_the_theorem(t):
    """Hidden unit 1, alive rows 1 and 2, dead row 3 (theory §3.2)."""
    moved = translate(HIDDEN, 0, t)
    for point in POINTS:
        left, right = claim_values("hiding_translation", {"d": 3, "n": 2, "p": 2, "r": 1, "m": 1}, {
            "x": column(point), "w": FIRST[0][:1], "β": [[1]], "V": FIRST[0][1:], "γ": [[-2], [3]],
            "a": [[2], [1]], "S": [[-4, -1], [-2, -3]], "b": [[-5], [-1]], "t": [[t]],
            "a_D": [[-1]], "S_D": [[-1, -2]], "b_D": [[-1]], "C": [[1, -3]], "C_D": [[7]], "c": [[2]],
        })  # fmt: skip
        assert (left, right) == (column(HIDDEN.value(point)), column(moved.value(point)))
    assert moved.layers[0].offset[0] == 1 + t


def test_flip_is_the_theorem():
    """Column 2 is in the ratio −2 to the hidden column 1 in both alive rows (theory §3.3)."""
    turned = flip(HIDDEN, [1])
    for point in POINTS:
        left, right = claim_values("sign_flip", {"d": 3, "n": 2, "p": 1, "l": 1, "k": 1, "m": 1}, {
            "x": column(point), "w": FIRST[0][:1], "β": [[1]], "V": FIRST[0][2:], "γ": [[3]],
            "Y": FIRST[0][1:2], "η": [[-2]], "a": [[2], [1]], "r": [[-2]], "s": [[-4], [-2]],
            "S": [[-1], [-3]], "b": [[-5], [-1]], "a_D": [[-1]], "s_D": [[-1]], "S_D": [[-2]], "b_D": [[-1]],
            "C": [[1, -3]], "C_D": [[7]], "c": [[2]],
        })  # fmt: skip
        assert (left, right) == (column(HIDDEN.value(point)), column(turned.value(point)))
    assert turned.layers[0].forms[:2] == ((-5, 4, -2, 5), (-3, 1, -1, 2))  # row 1 − 2 row 2, and −row 2


def test_permuted_is_the_theorem():
    net = Network([([[1, 2], [3, -1], [1, 1]], [1, -2, 3]), ([[2, -4, -1]], [5])])
    order = [2, 0, 1]
    other = net.permuted(1, order)
    P = [[int(order[i] == j) for j in range(3)] for i in range(3)]  # (P z)_i = z_order[i]
    for point in ((0, 0), (3, -2), (-4, 1), (5, 5), (-1, -6)):
        left, right = claim_values("permutation_symmetry_columns", {"d": 2, "n": 3, "m": 1}, {
            "x": column(point), "W1": [[1, 2], [3, -1], [1, 1]], "b1": column((1, -2, 3)), "W2": [[2, -4, -1]],
            "b2": [[5]], "P": P,
        })  # fmt: skip
        assert left == right == column(other.value(tuple(map(fmpq, point))))


# Mutations: whatever is changed, the checker names a step, or what is left is a proof


def signs_changed(term):
    """The term with a sign put before one of its parts, in every place."""
    yield -term
    for i, part in enumerate(term.parts):
        for new in signs_changed(part):
            yield Term(term.head, term.shape, (*term.parts[:i], new, *term.parts[i + 1 :]), term.name)


def mutants(proof, rng):
    """(what was done, claim, lines, whether it can be seen to be a proof still)."""
    claim, lines = proof.claim, proof.lines
    for i, line in enumerate(lines):
        yield f"dropped step {line.label}", claim, lines[:i] + lines[i + 1 :], False
        other = rng.choice(sorted(set(RULES) - {line.rule}))
        yield f"rule of step {line.label} is {other}", claim, replaced(lines, i, rule=other), False
        if i + 1 < len(lines):
            following = lines[i + 1]
            swapped = (*lines[:i], following, line, *lines[i + 2 :])
            yield (
                f"swapped steps {line.label} and {following.label}",
                claim,
                swapped,
                line.label not in following.premises,
            )
        if line.statement.terms:
            k = rng.randrange(len(line.statement.terms))
            term = rng.choice(list(signs_changed(line.statement.terms[k])))
            terms = tuple(term if j == k else each for j, each in enumerate(line.statement.terms))
            changed = Statement(line.statement.relation, terms)
            yield f"a sign in step {line.label}", claim, replaced(lines, i, statement=changed), False
        if line.premises:
            yield f"a premise of step {line.label} lost", claim, replaced(lines, i, premises=line.premises[1:]), False
        if line.under:
            yield f"an assumption of step {line.label} lost", claim, replaced(lines, i, under=line.under[1:]), False
    for i, each in enumerate(claim.hypotheses):
        rest = claim.hypotheses[:i] + claim.hypotheses[i + 1 :]
        yield f"without {each}", dataclasses.replace(claim, hypotheses=rest), lines, False
        if each.relation == "nonnegative":  # weaker: h ≥ 0 makes h + relu(h) ≥ 0
            weaker = Statement("nonnegative", (each.terms[0] + relu(each.terms[0]),))
            hypotheses = (*claim.hypotheses[:i], weaker, *claim.hypotheses[i + 1 :])
            yield f"{each} weakened", dataclasses.replace(claim, hypotheses=hypotheses), lines, False


def replaced(lines, i, **change):
    return (*lines[:i], dataclasses.replace(lines[i], **change), *lines[i + 1 :])


def judged_true(claim, lines, rng):
    """Every judgement and the claim hold in random instances of the hypotheses."""
    statements = [each for line in lines for each in (line.statement, *line.under)] + list(claim.conclusions)
    met = 0
    for number in range(1000):
        instance = drawn(claim.hypotheses, statements, rng, 1 + number % 2)
        if instance is None:
            continue
        met += 1
        judgements = [(line.statement, line.under) for line in lines] + [(each, ()) for each in claim.conclusions]
        for statement, under in judgements:
            if statement.terms and all(holds(each, instance) for each in under) and not holds(statement, instance):
                return False
        if met == 5:
            return True
    return met > 0


def test_mutants_are_rejected_with_the_step_named_or_are_proofs():
    rng, counted = random.Random(5), {"rejected": 0, "independent steps swapped": 0, "another proof": 0}
    for name in THEOREMS:
        proof = theorem(name)
        labels = {line.label for line in proof.lines} | {"end"}
        made = list(mutants(proof, rng))
        for what, claim, lines, is_proof in rng.sample(made, min(len(made), 40)):
            gap = Derivation(claim, lines).gap()
            if is_proof:
                assert gap is None, (name, what)
                counted["independent steps swapped"] += 1
            elif gap is not None:
                assert gap.label in labels, (name, what)
                assert gap.reason
                counted["rejected"] += 1
            else:  # accepted: then it must be a proof of the same claim, all of whose steps are true
                assert claim == proof.claim, (name, what)
                assert judged_true(claim, lines, rng), (name, what)
                counted["another proof"] += 1
    assert counted["rejected"] >= 200
    assert counted["independent steps swapped"] >= 50
    assert counted["another proof"] < counted["rejected"] / 20, counted
    print(counted)


# Confirmed by an SMT solver that knows no rule

needs_z3 = pytest.mark.skipif(find_spec("z3") is None, reason="z3 is missing: pip install 'semialg-fibers[smt]'")


class Smt:
    """A claim for small sizes in z3: letters are real matrices, functions uninterpreted, laws instantiated."""

    def __init__(self, claim, sizes, fixed=()):
        """Take sizes other than 1 by name, and orders of the permutation matrices."""
        import z3

        self.z3, self.sizes, self.claim = z3, sizes, claim
        self.letters = {name: self.ordered(order) for name, order in dict(fixed).items()}
        self.side, self.applied = [], {}

    def size(self, size):
        return size if isinstance(size, int) else self.sizes.get(size, 1)

    def fresh(self, name, shape):
        rows, columns = map(self.size, shape)
        return [[self.z3.Real(f"{name}_{i}_{j}") for j in range(columns)] for i in range(rows)]

    def times(self, a, b):
        return [
            [self.z3.Sum([p * q for p, q in zip(row, col, strict=True)]) for col in zip(*b, strict=True)] for row in a
        ]

    def value(self, term):
        z3, parts = self.z3, [self.value(part) for part in term.parts]
        rows, columns = map(self.size, term.shape)
        match term.head:
            case "symbol":
                return self.letters.setdefault(term.name, self.fresh(term.name, term.shape))
            case "identity":
                return [[z3.RealVal(int(i == j)) for j in range(rows)] for i in range(rows)]
            case "zero":
                return [[z3.RealVal(0)] * columns] * rows
            case "sum":
                return [[z3.Sum(list(each)) for each in zip(*row, strict=True)] for row in zip(*parts, strict=True)]
            case "product":
                result = parts[0]
                for part in parts[1:]:
                    result = self.times(result, part)
                return result
            case "negative":
                return [[-v for v in row] for row in parts[0]]
            case "transpose":
                return [list(each) for each in zip(*parts[0], strict=True)]
            case "inverse":
                found = self.fresh(f"inverse{len(self.side)}", term.shape)
                self.side += self.equal(self.times(parts[0], found), self.value(identity(term.shape[0])))
                return found
        if term.name == RELU:
            return [[z3.If(v > 0, v, 0) for v in row] for row in parts[0]]
        return self.function(term.name, parts[0], rows, columns)

    def function(self, name, argument, rows, columns):
        flat = [v for row in argument for v in row]
        sorts = [self.z3.RealSort()] * (len(flat) + 1)
        value = [[self.z3.Function(f"{name}_{i}_{j}", *sorts)(*flat) for j in range(columns)] for i in range(rows)]
        self.applied.setdefault(name, []).append((argument, value))
        return value

    def equal(self, a, b):
        return [p == q for one, two in zip(a, b, strict=True) for p, q in zip(one, two, strict=True)]

    def holds(self, statement):
        z3 = self.z3
        if not statement.terms:
            return True
        rows = self.value(statement.terms[0])
        entries = [v for row in rows for v in row]
        match statement.relation:
            case "equal":
                return z3.And(self.equal(rows, self.value(statement.terms[1])))
            case "nonnegative":
                return z3.And([v >= 0 for v in entries])
            case "positive":
                return z3.And([v > 0 for v in entries])
            case "permutation":
                return z3.Or([z3.And(self.equal(rows, Q)) for Q in self.permutations(len(rows))])
        off = [v == 0 for i, row in enumerate(rows) for j, v in enumerate(row) if i != j]
        return z3.And([rows[i][i] > 0 for i in range(len(rows))] + off)

    def ordered(self, order):
        return [[self.z3.RealVal(int(order[i] == j)) for j in range(len(order))] for i in range(len(order))]

    def permutations(self, n):
        return map(self.ordered, itertools.permutations(range(n)))

    def laws(self):
        """φ(Z Q) = φ(Z) Q for every Z that φ is applied to in the claim, and every permutation matrix Q."""
        for each in self.claim.hypotheses:
            for argument, value in list(self.applied.get(each.name, ())):
                for Q in self.permutations(len(argument[0]) if each.relation == "equivariant right" else len(argument)):
                    left, right = (
                        self.times(a, Q) if "right" in each.relation else self.times(Q, a) for a in (argument, value)
                    )
                    yield from self.equal(self.function(each.name, left, len(value), len(value[0])), right)

    def negation(self):
        """sat, unsat or unknown, of: all hypotheses and not all conclusions."""
        given = [self.holds(each) for each in self.claim.hypotheses]
        shown = self.z3.And([self.holds(each) for each in self.claim.conclusions])
        solver = self.z3.Solver()
        solver.set("timeout", 60_000)
        solver.add(*given, self.z3.Not(shown), *self.laws(), *self.side)
        return str(solver.check())


SMALL = {  # sizes that are not 1
    "permutation_symmetry": {"n": 2},
    "permutation_symmetry_columns": {"n": 2},
    "permutation_symmetry_batch": {"n": 2},
    "permutation_symmetry_three_layers": {"n1": 2, "n3": 2},
    "layer_in_any_network": {"n": 2},
    "positive_scaling": {"n": 2},
    "monomial_symmetry": {"n": 2},
    "monomial_inverse": {"n": 2},
    "monomial_composition": {"n": 2},
    "orientation_identity": {"n": 2, "p": 2},
    "orientation_flip": {},
    "hiding_translation": {},
    "sign_flip": {},
}


@needs_z3
@every_theorem
def test_an_smt_solver_confirms_it(name):
    """The negation is unsatisfiable, for each choice of the permutation matrices and all real values of the rest."""
    claim, sizes = theorem(name).claim, SMALL[name]
    letters = [each.terms[0] for each in claim.hypotheses if each.relation == "permutation"]
    orders = [list(itertools.permutations(range(sizes.get(P.shape[0], 1)))) for P in letters]
    for choice in itertools.product(*orders):
        fixed = {P.name: order for P, order in zip(letters, choice, strict=True)}
        assert Smt(claim, sizes, fixed).negation() == "unsat", fixed


@needs_z3
@pytest.mark.parametrize("name", ["hiding_translation", "sign_flip"])
def test_an_smt_solver_refutes_it_without_a_hypothesis(name):
    claim = theorem(name).claim
    for i in range(len(claim.hypotheses)):
        rest = claim.hypotheses[:i] + claim.hypotheses[i + 1 :]
        assert Smt(Claim(claim.title, rest, claim.conclusions), {}).negation() == "sat"
