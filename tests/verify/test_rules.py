"""Each rule by itself: what it accepts is true in random exact instances, and so is whatever it accepts of a mutation.

The instances are evaluated by `verify.instances`, which knows no rule; a rule that accepts something false fails here.
"""

import random
import re
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from semialg_fibers.errors import SemialgError
from semialg_fibers.verify.expressions import (
    Statement,
    Term,
    apply,
    equal,
    identity,
    matrix,
    nonnegative,
    nonpositive,
    positive,
    product,
    relu,
    zero,
)
from semialg_fibers.verify.free_ring import normal_form
from semialg_fibers.verify.instances import Instance, drawn, holds
from semialg_fibers.verify.rules import RULES, Judgement

SIZES = ["n", "m", 1]
seeds = st.integers(0, 2**30)
P, Q = matrix("P", "n", "n"), matrix("Q", "n", "n")
D, E = matrix("D", "n", "n"), matrix("E", "n", "n")
x = matrix("x", 1, 1)


@st.composite
def terms(draw, rows=None, columns=None, depth=2):
    """Any term of a shape; letters of one shape have one name, so that equal letters meet."""
    rows, columns = (draw(st.sampled_from(SIZES)) if size is None else size for size in (rows, columns))
    letter = matrix(f"A_{rows}{columns}" if draw(st.booleans()) else f"B_{rows}{columns}", rows, columns)
    if depth == 0:
        return letter

    def part(r, c):
        return draw(terms(r, c, depth - 1))

    heads = ["letter", "sum", "product", "negative", "transpose", "relu", "zero"]
    heads += ["identity", "inverse"] * (rows == columns)
    match draw(st.sampled_from(heads)):
        case "sum":
            return Term("sum", (rows, columns), tuple(part(rows, columns) for _ in range(draw(st.integers(2, 3)))))
        case "product":
            middle = draw(st.sampled_from(SIZES))
            return product(part(rows, middle), part(middle, columns))
        case "negative":
            return -part(rows, columns)
        case "transpose":
            return part(columns, rows).transposed
        case "relu":
            return relu(part(rows, columns))
        case "zero":
            return zero(rows, columns)
        case "identity":
            return identity(rows)
        case "inverse":
            return part(rows, rows).inverse
    return letter


@st.composite
def regrouped(draw, term):
    """The same matrix by the laws of sums and products, written otherwise."""
    parts = [draw(regrouped(part)) for part in term.parts]
    if term.head == "sum":
        parts = draw(st.permutations(parts))
    if term.head == "product" and draw(st.booleans()):
        for i, part in enumerate(parts):
            if part.head == "sum":
                split = [product(*parts[:i], each, *parts[i + 1 :]) for each in part.parts]
                return Term("sum", term.shape, tuple(split))
    term = Term(term.head, term.shape, tuple(parts), term.name)
    match draw(st.integers(0, 4)):
        case 0:
            return Term("negative", term.shape, (-term,))
        case 1:
            return term.transposed.transposed
        case 2:
            return term + zero(*term.shape)
        case 3:
            return product(term, identity(term.shape[1]))
    return term


def replaced(term, old, new, choose):
    if term == old and choose():
        return new
    return Term(term.head, term.shape, tuple(replaced(part, old, new, choose) for part in term.parts), term.name)


def permutation(term):
    return Statement("permutation", (term,))


def diagonal(term):
    return Statement("positive diagonal", (term,))


def signed(draw, strict=False):
    """A statement ≥ 0 (or > 0) about a letter, which can be drawn to hold."""
    term = matrix(draw(st.sampled_from(["U", "V"])) + ("s" if strict else ""), "n", "m")
    return (positive if strict else nonnegative)(draw(st.sampled_from([term, -term])))


def case_cases(draw):
    number = draw(terms(1, 1, 1))
    a = draw(terms("n", "m", 1))
    goal = equal(a, draw(regrouped(a)))
    other = nonnegative(matrix("U", "n", "m"))
    under = (other,) if draw(st.booleans()) else ()
    first, second = (*under, nonnegative(number)), (positive(-number), *under)
    return Judgement(goal, under), (Judgement(goal, first), Judgement(goal, second))


def case_ring(draw):
    term = draw(terms(depth=3))
    return equal(term, draw(regrouped(term))), ()


def case_substitution(draw):
    old = draw(terms(depth=1))
    new = draw(regrouped(old))
    holder = product(old.transposed, old) + draw(terms(old.shape[1], old.shape[1], 1))
    choices = [draw(st.booleans()) for _ in range(8)]
    return equal(holder, replaced(holder, old, new, lambda: choices.pop() if choices else False)), (equal(old, new),)


def case_transport(draw):
    held = draw(st.sampled_from([nonnegative(matrix("U", "n", "m")), permutation(P), diagonal(D)]))
    other = draw(regrouped(held.terms[0]))
    return Statement(held.relation, (other,)), (held, equal(held.terms[0], other))


def case_chain(draw):
    a = draw(terms(depth=2))
    b = draw(regrouped(a))
    c = draw(regrouped(b))
    return equal(a, c), (equal(a, b), equal(b, c))


def case_symmetry(draw):
    a = draw(terms(depth=2))
    b = draw(regrouped(a))
    return equal(b, a), (equal(a, b),)


def case_orthogonality(draw):
    R = draw(st.sampled_from([P, Q.transposed, product(P, Q)]))
    pair = draw(st.sampled_from([(R, R.transposed), (R.transposed, R)]))
    return equal(product(*pair), identity("n")), (permutation(R),)


def case_permutations(draw):
    premises = draw(st.sampled_from([(), (P,), (P, Q), (Q, P, Q)]))
    goal = identity("n") if not premises else premises[0].transposed if len(premises) == 1 else product(*premises)
    return permutation(goal), tuple(map(permutation, premises))


def case_diagonals(draw):
    premises = draw(st.sampled_from([(), (D,), (D, E), (E, D, E)]))
    goal = identity("n") if not premises else premises[0].inverse if len(premises) == 1 else product(*premises)
    return diagonal(goal), tuple(map(diagonal, premises))


def case_inverse(draw):
    pair = draw(st.sampled_from([(D, D.inverse), (D.inverse, D)]))
    return equal(product(*pair), identity("n")), (diagonal(D),)


def commuting(draw, law, kind, M):
    name, side = draw(st.sampled_from(["φ", "relu"])), draw(st.sampled_from(["left", "right"]))
    shape = ("n", "m") if side == "left" else ("m", "n")
    z = matrix("Z", *shape)
    left = (M, apply(name, z)) if side == "left" else (apply(name, z), M)
    right = (M, z) if side == "left" else (z, M)
    return equal(product(*left), apply(name, product(*right))), (Statement(f"{law} {side}", (), name), kind(M))


def case_lifting(draw):
    minus = -x
    a, b = relu(x) - relu(minus), draw(st.sampled_from([x, -minus, x + zero(1, 1)]))
    Z = draw(terms(depth=1))
    lift = {x: Z, zero(1, 1): zero(*Z.shape)}

    def lifted(term):
        if term in lift:
            return lift[term]
        return Term(term.head, Z.shape, tuple(map(lifted, term.parts)), term.name)

    return equal(lifted(a), lifted(b)), (equal(a, b),)


def case_cancelling(draw):
    z, c = matrix("Z", "n", 1), matrix("c", 1, 1)
    return nonnegative(z), (nonnegative(product(z, c)), positive(c))


def case_sums(draw):
    parts = tuple(signed(draw, draw(st.booleans())) for _ in range(draw(st.integers(2, 3))))
    strict = any(each.relation == "positive" for each in parts) and draw(st.booleans())
    total = Term("sum", ("n", "m"), tuple(each.terms[0] for each in parts))
    return (positive if strict else nonnegative)(total), parts


def case_products(draw):
    parts = nonnegative(matrix("U", "n", "m")), signed(draw)
    turned = Statement("nonnegative", (matrix("W", "m", "n"),))
    return nonnegative(product(parts[0].terms[0], turned.terms[0], parts[1].terms[0])), (parts[0], turned, parts[1])


def case_relu(draw, active):
    z = signed(draw, draw(st.booleans()))
    if active:
        return equal(relu(z.terms[0]), z.terms[0]), (z,)
    negative = Statement(z.relation, (Term("negative", ("n", "m"), (matrix("U", "n", "m"),)),))
    return equal(relu(matrix("U", "n", "m")), zero("n", "m")), (negative,)


INSTANCES = {
    "hypothesis": lambda draw: (nonnegative(draw(terms(depth=1))), ()),
    "cases": case_cases,
    "chain": case_chain,
    "symmetry": case_symmetry,
    "ring": case_ring,
    "substitution": case_substitution,
    "transport": case_transport,
    "orthogonality": case_orthogonality,
    "permutations": case_permutations,
    "diagonals": case_diagonals,
    "conjugation": lambda draw: (
        diagonal(Term("product", P.shape, (P.transposed, D, P))),
        (permutation(P), diagonal(D)),
    ),
    "inverse": case_inverse,
    "equivariance": lambda draw: commuting(draw, "equivariant", permutation, P),
    "homogeneity": lambda draw: commuting(draw, "homogeneous", diagonal, D),
    "elementwise": lambda draw: (
        Statement(draw(st.sampled_from(["equivariant left", "homogeneous right", "equivariant right"])), (), "relu"),
        (),
    ),
    "relu is nonnegative": lambda draw: (nonnegative(relu(draw(terms()))), ()),
    "active": lambda draw: case_relu(draw, True),
    "inactive": lambda draw: case_relu(draw, False),
    "sums of signs": case_sums,
    "products of signs": case_products,
    "cancelling": case_cancelling,
    "entry by entry": case_lifting,
}


def judgement(each):
    return each if isinstance(each, Judgement) else Judgement(each)


@st.composite
def steps(draw, rule):
    goal, premises = INSTANCES[rule](draw)
    hypotheses = (goal,) if rule == "hypothesis" else ()
    return judgement(goal), tuple(map(judgement, premises)), hypotheses


def accepts(rule, step):
    try:
        return RULES[rule].matches(*step)
    except SemialgError:
        return False


def true_in_instances(step, seed, rule, count=12):
    """Whether, in random instances where hypotheses and premises hold, the conclusion does; and how often they held."""
    goal, premises, hypotheses = step
    rng, met = random.Random(seed), 0
    assumed = (*hypotheses, *(each.statement for each in premises if not each.under))
    if rule == "entry by entry":  # the premise speaks of every number, and is decided by ±1: sums and relu of x
        assumed = ()
        signs = [Instance({}, dict.fromkeys("xU", ((fmpq(sign),),))) for sign in (1, -1)]
        if not all(holds(each.statement, instance) for each in premises for instance in signs):
            return True, 0
    speak = [goal.statement, *goal.under, *(s for each in premises for s in (each.statement, *each.under))]
    for _ in range(count):
        instance = drawn([each for each in assumed if each is not None], speak, rng)
        if instance is None:
            continue

        def valid(each, instance=instance):
            return not all(holds(one, instance) for one in each.under) or holds(each.statement, instance)

        named = [each for each in premises if each.statement.terms]
        if rule != "entry by entry" and not all(map(valid, named)):
            continue
        met += 1
        if goal.statement.terms and not valid(goal):
            return False, met
    return True, met


def test_the_page_lists_the_rules_as_they_are():
    page = (Path(__file__).parents[2] / "docs" / "proofs.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z ]+)` \| ([^|]+) \|$", page, re.M))
    assert listed == {name: rule.words for name, rule in RULES.items()}


def test_every_rule_has_its_instances():
    assert set(INSTANCES) == set(RULES)
    assert all(rule.name == name and rule.words for name, rule in RULES.items())


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(data=st.data(), seed=seeds)
def test_an_instance_of_the_rule_is_accepted_and_true(rule, data, seed):
    step = data.draw(steps(rule))
    assert accepts(rule, step)
    true, _ = true_in_instances(step, seed, rule)
    assert true, step[0].statement


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"elementwise"}))
def test_the_premises_hold_often_enough(rule):
    """The property above is not empty: instances in which all premises hold are met."""
    met = []

    @settings(max_examples=8, database=None, derandomize=True)
    @given(data=st.data(), seed=seeds)
    def count(data, seed):
        met.append(true_in_instances(data.draw(steps(rule)), seed, rule)[1])

    count()
    assert sum(met) > 3


def mutated_term(draw, term):
    """A term of the same shape with one change: a sign, a letter, two factors exchanged, a relu, a transpose."""
    if term.parts and draw(st.booleans()):
        i = draw(st.integers(0, len(term.parts) - 1))
        parts = (*term.parts[:i], mutated_term(draw, term.parts[i]), *term.parts[i + 1 :])
        return Term(term.head, term.shape, parts, term.name)
    rows, columns = term.shape
    options = [-term, relu(term), term + term, zero(rows, columns), matrix("U", rows, columns)]
    if term.head == "negative":
        options.append(term.parts[0])
    if rows == columns:
        options += [term.transposed, identity(rows), product(term, term), term.inverse]
    if term.head == "product" and len({each.shape for each in term.parts}) == 1 and term.parts[0].shape[0] == rows:
        options.append(Term("product", term.shape, term.parts[::-1]))
    if term.head == "apply" and term.parts[0].shape == term.shape:
        options.append(term.parts[0])
    return draw(st.sampled_from(options))


def mutated(draw, step):
    """One change in the conclusion or in a premise, or a premise lost, doubled or moved."""
    goal, premises, hypotheses = step
    kind = draw(st.integers(0, 3))
    if kind == 0 or not premises:
        if not goal.statement.terms:
            return Judgement(Statement(goal.statement.relation, (), "φ")), premises, hypotheses
        return Judgement(changed(draw, goal.statement), goal.under), premises, hypotheses
    i = draw(st.integers(0, len(premises) - 1))
    if kind == 1:
        return goal, premises[:i] + premises[i + 1 :], hypotheses
    if kind == 2:
        return goal, premises[::-1], hypotheses
    each = premises[i]
    under = each.under[:-1] if each.under and draw(st.booleans()) else each.under
    return goal, (*premises[:i], Judgement(changed(draw, each.statement), under), *premises[i + 1 :]), hypotheses


def changed(draw, statement):
    if not statement.terms:
        side = statement.relation.split()[-1]
        return Statement(draw(st.sampled_from([f"equivariant {side}", f"homogeneous {side}"])), (), statement.name)
    i = draw(st.integers(0, len(statement.terms) - 1))
    others = [each for each in ("nonnegative", "positive") if len(statement.terms) == 1]
    relation = draw(st.sampled_from([statement.relation, statement.relation, *others]))
    new = tuple(mutated_term(draw, t) if k == i else t for k, t in enumerate(statement.terms))
    return Statement(relation, new)


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=60)
@given(data=st.data(), seed=seeds)
def test_what_a_rule_accepts_of_a_mutated_step_is_true(rule, data, seed):
    step = mutated(data.draw, data.draw(steps(rule)))
    if not accepts(rule, step):
        return
    if not step[0].statement.terms:
        assert step[0].statement.name == "relu"
        return
    if rule == "hypothesis":
        assert step[0].statement in step[2]
        return
    true, _ = true_in_instances(step, seed, rule, count=30)
    assert true, (step[0].statement, [str(each.statement) for each in step[1]])


# Normal forms by hand


def test_nothing_is_exchanged_but_numbers():
    A, B = matrix("A", "n", "n"), matrix("B", "n", "n")
    a, b, c = matrix("a", 1, 1), matrix("b", 1, 1), matrix("c", "n", 1)
    row, column = matrix("r", 1, "n"), matrix("s", "n", 1)
    assert normal_form(product(A, B)) != normal_form(product(B, A))
    assert normal_form(product(c, a, b)) == normal_form(product(c, b, a))
    assert normal_form(product(c, row, column, a)) == normal_form(product(c, a, row, column))
    other, below = matrix("q", 1, "n"), matrix("t", "n", 1)
    assert normal_form(product(row, column, other, below)) == normal_form(product(other, below, row, column))
    assert normal_form(product(row, column, other, below)) != normal_form(product(other, column, row, below))
    one, two = matrix("p", "k", "k"), matrix("q", "k", "k")  # k may be 1, but need not
    assert normal_form(product(one, two)) != normal_form(product(two, one))


def test_functions_are_not_linear():
    A, B = matrix("A", "n", "m"), matrix("B", "n", "m")
    assert normal_form(relu(A + B)) != normal_form(relu(A) + relu(B))
    assert normal_form(relu(-A)) != normal_form(-relu(A))
    assert normal_form(apply("φ", A + B)) == normal_form(apply("φ", B + A))
    assert normal_form(apply("φ", A)) != normal_form(apply("ψ", A))
    assert normal_form((A.transposed @ B).inverse) == normal_form(product(A.transposed, B).inverse)


def test_transposes_turn_products_round():
    A, B = matrix("A", "n", "m"), matrix("B", "m", "n")
    assert normal_form((A @ B).transposed) == normal_form(B.transposed @ A.transposed)
    assert normal_form((A @ B).transposed) != normal_form(A.transposed.transposed @ B)
    assert normal_form(nonpositive(A).terms[0]) == normal_form(zero("n", "m") - A)
