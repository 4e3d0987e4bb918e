"""Symmetries that only relu networks have: orientations, hidden hyperplanes, sign flips; derivations.

Main results
    orientation_identity    relu(z) − relu(−z) = z
    orientation_flip        hidden units turned round, the affine remainder given to linear units
    hiding_translation      a hidden hyperplane moved
    sign_flip               hyperplanes beside a hidden one turned round, any number of them at once

Columns are inputs, as in theory §2 and §3. The hypotheses are weak inequalities, and each of them is needed.
Nothing here is trusted: what is proved is for the checker to say.

References: theory §2.3, §3.2, §3.3.
"""

from __future__ import annotations

from collections.abc import Callable

from semialg_fibers.verify.derivation import Derivation
from semialg_fibers.verify.expressions import (
    Statement,
    Term,
    equal,
    matrix,
    nonnegative,
    nonpositive,
    product,
    relu,
    zero,
)
from semialg_fibers.verify.proof import Link, Proof


def orientation_identity() -> Derivation:
    """Prove relu(Z) − relu(−Z) = Z for a matrix of any size, by cases for a number and then entry by entry.

    Implements: theory §2.3.

    >>> print(orientation_identity().claim.conclusions[0])
    relu(Z) − relu(−Z) = Z
    """
    proof, Z = Proof(), matrix("Z", "n", "p")
    proof.turned(Z)
    return proof.proves("Turning a unit round leaves an affine remainder", equal(relu(Z) - relu(-Z), Z))


def orientation_flip() -> Derivation:
    """Prove that hidden units S may be turned round when linear units take up M_S h + v_S.

    On h ≥ 0, with kept units K, linear units L and dead units D before, and L', D' after:
    C_L B_L + C_S B_S = C_L' B_L' and c + C_L β_L + C_S β_S = c' + C_L' β_L' make the two functions equal.

    Implements: theory §2.3.

    >>> print(orientation_flip().claim.conclusions[0].terms[1])
    C_K relu(B_K h + β_K) + C_S relu((−B_S) h − β_S) + C_L' relu(B_L' h + β_L') + C_D' relu(B_D' h + β_D') + c'
    """
    sizes = {"K": "k", "S": "s", "L": "q", "D": "r", "L'": "q'", "D'": "r'"}
    h, c, c1 = matrix("h", "p", 1), matrix("c", "m", 1), matrix("c'", "m", 1)
    B = {kind: matrix(f"B_{kind}", size, "p") for kind, size in sizes.items()}
    b = {kind: matrix(f"β_{kind}", size, 1) for kind, size in sizes.items()}
    C = {kind: matrix(f"C_{kind}", "m", size) for kind, size in sizes.items()}
    M, v = C["L"] @ B["L"] + C["S"] @ B["S"], c + C["L"] @ b["L"] + C["S"] @ b["S"]
    M1, v1 = product(C["L'"], B["L'"]), c1 + C["L'"] @ b["L'"]
    linear = [nonnegative(term) for kind in ("L", "L'") for term in (B[kind], b[kind])]
    dead = [nonpositive(term) for kind in ("D", "D'") for term in (B[kind], b[kind])]
    proof = Proof(nonnegative(h), *linear, *dead, equal(M, M1), equal(v, v1))
    z = {kind: product(B[kind], h) + b[kind] for kind in sizes}
    turned = product(-B["S"], h) - b["S"]

    above = proof.given(nonnegative(h))
    known = {}
    for kind in ("L", "L'"):
        weight = proof.sign(product(B[kind], h), product(B[kind], h), proof.given(nonnegative(B[kind])), above)
        known[kind] = proof.active(z[kind], proof.sign(z[kind], z[kind], weight, proof.given(nonnegative(b[kind]))))
    for kind in ("D", "D'"):
        known[kind] = _dead(proof, z[kind], (B[kind], h, above), b=b[kind])
    mirrored = proof.mirrored(z["S"])
    facing = proof.line(equal(-z["S"], turned), "ring")
    known["S"] = proof.chain(
        relu(z["S"]),
        (relu(-z["S"]) + z["S"], "substitution", mirrored),
        (relu(turned) + z["S"], "substitution", facing),
    )

    def out(kind: str, value: Term) -> Term:
        return product(C[kind], value)

    kept = out("K", relu(z["K"]))
    start = kept + out("S", relu(z["S"])) + out("L", relu(z["L"])) + out("D", relu(z["D"])) + c
    nothing, nothing1 = zero("r", 1), zero("r'", 1)
    there = kept + out("S", relu(turned))
    links: list[Link] = [
        (kept + out("S", relu(turned) + z["S"]) + out("L", relu(z["L"])) + out("D", relu(z["D"])) + c,
         "substitution", known["S"]),
        (kept + out("S", relu(turned) + z["S"]) + out("L", z["L"]) + out("D", relu(z["D"])) + c,
         "substitution", known["L"]),
        (kept + out("S", relu(turned) + z["S"]) + out("L", z["L"]) + out("D", nothing) + c,
         "substitution", known["D"]),
        (there + product(M, h) + v, "ring"),
        (there + product(M1, h) + v, "substitution", proof.given(equal(M, M1))),
        (_sum(there, product(M1, h), v1), "substitution", proof.given(equal(v, v1))),
        (there + out("L'", z["L'"]) + out("D'", nothing1) + c1, "ring"),
    ]  # fmt: skip
    back = proof.line(equal(z["L'"], relu(z["L'"])), "symmetry", known["L'"])
    off = proof.line(equal(nothing1, relu(z["D'"])), "symmetry", known["D'"])
    end = there + out("L'", relu(z["L'"])) + out("D'", relu(z["D'"])) + c1
    links += [
        (there + out("L'", relu(z["L'"])) + out("D'", nothing1) + c1, "substitution", back),
        (end, "substitution", off),
    ]
    proof.chain(start, *links)
    return proof.proves("Turning hidden units round on the orthant", equal(start, end))


def _sum(first: Term, *others: Term) -> Term:
    """Give the sum with the parts of `first` and then the others, each as it stands."""
    return Term("sum", first.shape, (*first.parts, *others))


def _dead(proof: Proof, z: Term, *users: tuple[Term, Term, str], b: Term) -> str:
    """Write relu(z) = 0 for z = Σ A h + b with A ≤ 0, h ≥ 0 (its label is given) and b ≤ 0."""
    signs = [proof.sign(product(-A, h), product(-A, h), proof.given(nonpositive(A)), label) for A, h, label in users]
    total = Term("sum", z.shape, (*(product(-A, h) for A, h, _ in users), -b))
    return proof.inactive(z, proof.sign(-z, total, *signs, proof.given(nonpositive(b))))


def hiding_translation() -> Derivation:
    """Prove that a hidden hyperplane can be moved: u → u + t, b2 → b2 − a t, where both biases are ≤ 0.

    Second layer: alive rows a relu(u) + S relu(v) + b with S ≤ 0 and b ≤ 0, and dead rows with all entries ≤ 0.
    u = w x + β is a number, v = V x + γ all other units. Nothing is assumed of the column a, nor of t but b − a t ≤ 0.

    Implements: theory §3.2.

    >>> for hypothesis in hiding_translation().claim.hypotheses[:3]:
    ...     print(hypothesis)
    S ≤ 0
    b ≤ 0
    b − a t ≤ 0
    """
    x, w, V = matrix("x", "d", 1), matrix("w", 1, "d"), matrix("V", "p", "d")
    u, v = product(w, x) + matrix("β", 1, 1), product(V, x) + matrix("γ", "p", 1)
    a, S, b, t = matrix("a", "n", 1), matrix("S", "n", "p"), matrix("b", "n", 1), matrix("t", 1, 1)
    a0, S0, b0 = matrix("a_D", "r", 1), matrix("S_D", "r", "p"), matrix("b_D", "r", 1)
    u1, b1 = product(w, x) + (matrix("β", 1, 1) + t), b - product(a, t)
    proof = Proof(*map(nonpositive, (S, b, b1, a0, S0, b0)))
    above, beside = proof.line(nonnegative(relu(v)), "relu is nonnegative"), product(-S, relu(v))
    side = proof.sign(beside, beside, proof.given(nonpositive(S)), above)
    low, low1 = proof.given(nonpositive(b)), proof.given(nonpositive(b1))

    def row(first: Term, bias: Term) -> Term:
        return product(a, first) + product(S, relu(v)) + bias

    z, z1 = row(relu(u), b), row(relu(u1), b1)
    line = product(a, u) + b  # what the row sees of the unit where it is active

    def asleep(whole: Term, unit: Term, bias: Term, negative: str, sign: str) -> str:
        there = row(zero(1, 1), bias)
        return _off(proof, whole, [(there, "substitution", proof.inactive(unit, negative))], beside - bias, side, sign)

    def awake(whole: Term, unit: Term, bias: Term, active: str, times: str, first: str, second: str) -> str:
        """Use that u and u' lie on two sides of 0: the row's line is between b and b − a t, which are ≤ 0."""
        t1, p, q = (proof.statement(label).terms[0] for label in (times, first, second))
        products = product(-b, p), product(-b1, q)
        signs = proof.sign(products[0], products[0], low, first), proof.sign(products[1], products[1], low1, second)
        multiple = proof.sign(product(-line, t1), products[0] + products[1], *signs)
        below = proof.line(nonpositive(line), "cancelling", multiple, times)
        there = row(unit, bias)
        return _off(proof, whole, [(there, "substitution", proof.active(unit, active))], beside - line, side, below)

    def both_awake(first: str, second: str) -> None:
        same = proof.line(equal(row(u, b), row(u1, b1)), "ring")
        back = proof.line(equal(u1, relu(u1)), "symmetry", proof.active(u1, second))
        proof.chain(
            relu(z),
            (relu(row(u, b)), "substitution", proof.active(u, first)),
            (relu(row(u1, b1)), "substitution", same),
            (relu(z1), "substitution", back),
        )

    def falls_asleep(first: str, second: str) -> None:
        times = proof.strict(-t, first, second)
        _both_off(proof, awake(z, u, b, first, times, second, first), asleep(z1, u1, b1, second, low1))

    def wakes_up(first: str, second: str) -> None:
        times = proof.strict(t, second, first)
        _both_off(proof, asleep(z, u, b, first, low), awake(z1, u1, b1, second, times, second, first))

    def both_asleep(first: str, second: str) -> None:
        _both_off(proof, asleep(z, u, b, first, low), asleep(z1, u1, b1, second, low1))

    rows = _four_cases(proof, u, u1, equal(relu(z), relu(z1)), both_awake, falls_asleep, wakes_up, both_asleep)
    dead, dead1 = (product(a0, relu(unit)) + product(S0, relu(v)) + b0 for unit in (u, u1))
    spare = []
    for whole, unit in ((dead, u), (dead1, u1)):
        on = proof.line(nonnegative(relu(unit)), "relu is nonnegative")
        spare.append(_dead(proof, whole, (a0, relu(unit), on), (S0, relu(v), above), b=b0))
    return _with_outputs(proof, "Moving a hidden hyperplane", (z, z1, rows), (dead, dead1, spare))


def sign_flip() -> Derivation:
    """Prove that columns in a common ratio r to a hidden one can be turned round: q → −q, u → u + r q.

    Second layer: alive rows a relu(u) + s relu(q) + S relu(v) + b with a ≥ 0, s = a r, r ≤ 0, S ≤ 0, b ≤ 0, and dead
    rows with all entries ≤ 0. u = w x + β is a number, q = Y x + η any number of units that are turned at once.

    Implements: theory §3.3.

    >>> for hypothesis in sign_flip().claim.hypotheses[:3]:
    ...     print(hypothesis)
    a ≥ 0
    r ≤ 0
    s = a r
    """
    x, w, V, Y = matrix("x", "d", 1), matrix("w", 1, "d"), matrix("V", "p", "d"), matrix("Y", "l", "d")
    b1, eta, v = matrix("β", 1, 1), matrix("η", "l", 1), product(V, x) + matrix("γ", "p", 1)
    a, r, s = matrix("a", "n", 1), matrix("r", 1, "l"), matrix("s", "n", "l")
    S, b = matrix("S", "n", "p"), matrix("b", "n", 1)
    a0, s0, S0, b0 = matrix("a_D", "k", 1), matrix("s_D", "k", "l"), matrix("S_D", "k", "p"), matrix("b_D", "k", 1)
    u, q = product(w, x) + b1, product(Y, x) + eta
    u1, q1 = product(w + product(r, Y), x) + (b1 + product(r, eta)), product(-Y, x) - eta
    ratio = equal(s, product(a, r))
    proof = Proof(nonnegative(a), nonpositive(r), ratio, *map(nonpositive, (S, b, a0, s0, S0, b0)))
    above, beside = proof.line(nonnegative(relu(v)), "relu is nonnegative"), product(-S, relu(v))
    side = proof.sign(beside, beside, proof.given(nonpositive(S)), above)
    up, low = proof.given(nonnegative(a)), proof.given(nonpositive(b))
    mirrored = proof.chain(
        relu(q),
        (relu(-q) + q, "substitution", proof.mirrored(q)),
        (relu(q1) + q, "substitution", proof.line(equal(-q, q1), "ring")),
    )
    back = proof.line(equal(relu(q1) + q, relu(q)), "symmetry", mirrored)
    tied = proof.given(ratio)
    untied = proof.line(equal(product(a, r), s), "symmetry", tied)

    def row(first: Term, weight: Term, value: Term) -> Term:
        return product(a, first) + product(weight, value) + product(S, relu(v)) + b

    z, z1 = row(relu(u), s, relu(q)), row(relu(u1), s, relu(q1))
    pulls = {}  # a (−r) relu(q) ≥ 0: the columns of q only ever push the row down
    for unit in (q, q1):
        on = proof.line(nonnegative(relu(unit)), "relu is nonnegative")
        pull = product(a, -r, relu(unit))
        pulls[unit] = pull, proof.sign(pull, pull, up, proof.given(nonpositive(r)), on)

    def asleep(whole: Term, unit: Term, turned: Term, negative: str) -> str:
        off = proof.inactive(unit, negative)
        there = row(zero(1, 1), s, relu(turned))
        links: list[Link] = [
            (there, "substitution", off),
            (row(zero(1, 1), product(a, r), relu(turned)), "substitution", tied),
        ]
        pull, known = pulls[turned]
        return _off(proof, whole, links, pull + beside - b, known, side, low)

    def awake(whole: Term, units: tuple[Term, Term], others: tuple[Term, Term], first: str, negative: str) -> str:
        """Use that u is active where u + r q is not, or the reverse: the row sees r relu(q) and a number < 0."""
        (unit, turned), (other, face) = units, others
        active = proof.active(unit, first)
        there = row(unit, s, relu(turned))
        tied_row = row(unit, product(a, r), relu(turned))
        seen = _sum(product(a, other + product(r, relu(face))) + product(S, relu(v)), b)
        links: list[Link] = [(there, "substitution", active), (tied_row, "substitution", tied)]
        if turned == q:
            links += [
                (row(unit, product(a, r), relu(q1) + q), "substitution", mirrored),
                (seen, "substitution", proof.line(equal(row(unit, product(a, r), relu(q1) + q), seen), "ring")),
            ]
        else:
            wide = _sum(product(a, other + product(r, relu(q1) + q)) + product(S, relu(v)), b)
            links += [
                (wide, "substitution", proof.line(equal(tied_row, wide), "ring")),
                (seen, "substitution", back),
            ]
        push = product(a, -other)
        pull, known = pulls[face]
        pushed = proof.sign(push, push, up, negative)
        return _off(proof, whole, links, push + pull + beside - b, pushed, known, side, low)

    def both_awake(first: str, second: str) -> None:
        known = proof.active(u, first), proof.line(equal(u1, relu(u1)), "symmetry", proof.active(u1, second))
        before, after = row(u, product(a, r), relu(q1) + q), row(u1, product(a, r), relu(q1))
        proof.chain(
            relu(z),
            (relu(row(u, s, relu(q))), "substitution", known[0]),
            (relu(row(u, product(a, r), relu(q))), "substitution", tied),
            (relu(before), "substitution", mirrored),
            (relu(after), "substitution", proof.line(equal(before, after), "ring")),
            (relu(row(relu(u1), product(a, r), relu(q1))), "substitution", known[1]),
            (relu(z1), "substitution", untied),
        )

    def falls_asleep(first: str, second: str) -> None:
        _both_off(proof, awake(z, (u, q), (u1, q1), first, second), asleep(z1, u1, q1, second))

    def wakes_up(first: str, second: str) -> None:
        _both_off(proof, asleep(z, u, q, first), awake(z1, (u1, q1), (u, q), second, first))

    def both_asleep(first: str, second: str) -> None:
        _both_off(proof, asleep(z, u, q, first), asleep(z1, u1, q1, second))

    rows = _four_cases(proof, u, u1, equal(relu(z), relu(z1)), both_awake, falls_asleep, wakes_up, both_asleep)
    spare: list[str] = []
    wholes: list[Term] = []
    for unit, turned in ((u, q), (u1, q1)):
        on, on_too = (proof.line(nonnegative(relu(each)), "relu is nonnegative") for each in (unit, turned))
        whole = product(a0, relu(unit)) + product(s0, relu(turned)) + product(S0, relu(v)) + b0
        users = (a0, relu(unit), on), (s0, relu(turned), on_too), (S0, relu(v), above)
        spare.append(_dead(proof, whole, *users, b=b0))
        wholes.append(whole)
    return _with_outputs(proof, "Turning hyperplanes beside a hidden one", (z, z1, rows), (wholes[0], wholes[1], spare))


def _off(proof: Proof, whole: Term, links: list[Link], total: Term, *signs: str) -> str:
    """Write relu(whole) = 0: by the links `whole` is another row, whose negative is the sum `total` of terms ≥ 0."""
    there = links[-1][0]
    known = proof.inactive(there, proof.sign(-there, total, *signs))
    lifted: list[Link] = [(relu(link[0]), *link[1:]) for link in links]
    return proof.chain(relu(whole), *lifted, (zero(*whole.shape), "substitution", known))


def _both_off(proof: Proof, one: str, two: str) -> None:
    """Write relu(z) = relu(z'), as both are 0."""
    left, right = proof.statement(one).terms[0], proof.statement(two).terms[0]
    back = proof.line(equal(zero(*right.shape), right), "symmetry", two)
    proof.line(equal(left, right), "chain", one, back)


def _four_cases(proof: Proof, u: Term, u1: Term, shown: Statement, *proofs: Callable[[str, str], None]) -> str:
    """Show a statement by the signs of u and u': (≥, ≥), (≥, <), (<, ≥), (<, <)."""
    awake, falls, wakes, asleep = proofs

    def second(first: str, on: Callable[[str, str], None], off: Callable[[str, str], None]) -> str:
        return proof.cases(u1, shown, lambda label: on(first, label), lambda label: off(first, label))

    return proof.cases(u, shown, lambda label: second(label, awake, falls), lambda label: second(label, wakes, asleep))


def _with_outputs(
    proof: Proof, title: str, alive: tuple[Term, Term, str], dead: tuple[Term, Term, list[str]]
) -> Derivation:
    """End: C relu(z) + C_D relu(dead) + c is the same before and after."""
    (z, z1, rows), (off, off1, spare) = alive, dead
    C, C0, c = matrix("C", "m", z.shape[0]), matrix("C_D", "m", off.shape[0]), matrix("c", "m", 1)

    def output(row: Term, rest: Term) -> Term:
        return product(C, row) + product(C0, rest) + c

    nothing = zero(*off.shape)
    back = proof.line(equal(nothing, relu(off1)), "symmetry", spare[1])
    proof.chain(
        output(relu(z), relu(off)),
        (output(relu(z1), relu(off)), "substitution", rows),
        (output(relu(z1), nothing), "substitution", spare[0]),
        (output(relu(z1), relu(off1)), "substitution", back),
    )
    return proof.proves(title, equal(output(relu(z), relu(off)), output(relu(z1), relu(off1))))
