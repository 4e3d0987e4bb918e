"""Relabelling and rescaling hidden units leaves the function alone: derivations.

Main results
    permutation_symmetry     relabelling hidden units: row or column convention, batches, every hidden layer at once
    layer_in_any_network     ... of one hidden layer anywhere in a network
    positive_scaling         rescaling hidden units of a positively homogeneous activation
    monomial_symmetry        both together
    monomial_inverse, monomial_composition    the group law

Nothing here is trusted: what is proved is for the checker to say.

References: theory §8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.geometry.arguments import whole_number
from semialg_fibers.verify.derivation import Derivation
from semialg_fibers.verify.expressions import Size, Statement, Term, apply, equal, identity, is_name, matrix, product
from semialg_fibers.verify.notation import RELU
from semialg_fibers.verify.proof import Link, Proof

# Permutations


def permutation_symmetry(
    convention: str = "row", hidden: int = 1, batch: bool = False, around: tuple[str, str] = ("", "")
) -> Derivation:
    """Prove that (W1 P, b1 P, Pᵀ W2) gives the function of (W1, b1, W2): f(x) = φ(x W1 + b1) W2 + b2.

    Of φ only φ(z) P = φ(z P) is used, of P only P Pᵀ = I. `convention` "column" is W2 φ(W1 x + b1) + b2; `hidden`
    layers are all relabelled at once, each by a permutation of its own; with `batch`, x has N rows (or columns) and
    biases are repeated by e b for an arbitrary column (or row) e. `around` names functions before and after.

    Implements: theory §8.

    Raises:
        InvalidNetworkError: for another convention, no hidden layer, or names that are none.

    >>> print(permutation_symmetry().claim)
    Relabelling hidden units
    Letters
      P: n × n, φ: 1 × n → 1 × n, x: 1 × d, W1: d × n, b1: 1 × n, W2: n × m, b2: 1 × m; n, m, d: positive integers
    Let
      (1) P is a permutation matrix
      (2) φ(Z Π) = φ(Z) Π for every Z and every permutation matrix Π
    Then
      φ(x (W1 P) + b1 P) (Pᵀ W2) + b2 = φ(x W1 + b1) W2 + b2
    <BLANKLINE>
    """
    if convention not in ("row", "column"):
        raise InvalidNetworkError(f"the convention is 'row' or 'column', got {convention!r}", value=convention)
    layers = whole_number(hidden)
    if layers is None or layers < 1:
        raise InvalidNetworkError(f"the number of hidden layers is a positive integer, got {hidden!r}", value=hidden)
    hidden = layers
    if type(around) is not tuple or len(around) != 2 or not all(name == "" or is_name(name) for name in around):
        raise InvalidNetworkError(f"the functions around are two names, each '' for none, got {around!r}", value=around)
    title = "Relabelling hidden units" + " of all layers" * (hidden > 1) + " for a batch" * batch
    title += ", column convention" * (convention == "column") + " inside any network" * any(around)
    marks = [str(i) if hidden > 1 else "" for i in range(1, hidden + 1)]
    sizes: list[Size] = ["d", *(f"n{mark}" for mark in marks), "m"]
    movers = [matrix(f"P{mark}", f"n{mark}", f"n{mark}") for mark in marks]
    column = convention == "column"
    laws = [Statement(f"equivariant {'left' if column else 'right'}", (), f"φ{mark}") for mark in marks]
    kinds = [Statement("permutation", (P,)) for P in movers]
    proof = Proof(*kinds, *laws)

    def moved(P: Term, kind: Statement, law: Statement) -> _Mover:
        turned, unit = (P.transposed, P) if column else (P, P.transposed), identity(P.shape[0])
        return _Mover(
            P,
            P.transposed,
            lambda before, after: proof.line(equal(before, after), "equivariance", proof.given(law), proof.given(kind)),
            lambda: proof.line(equal(product(*turned), unit), "orthogonality", proof.given(kind)),
        )

    relabelling = [moved(*each) for each in zip(movers, kinds, laws, strict=True)]
    return _relabelled(
        proof, title, sizes, [law.name for law in laws], relabelling, column, "N" if batch else 1, around
    )


class _Mover(NamedTuple):
    """What a hidden layer is moved by: z ↦ z M, undone by `inverse`."""

    matrix: Term
    inverse: Term
    commute: Callable[[Term, Term], str]  # writes φ(z) M = φ(z M), given both sides
    cancel: Callable[[], str]  # writes M M⁻¹ = I


def _relabelled(
    proof: Proof,
    title: str,
    sizes: Sequence[Size],
    functions: Sequence[str],
    movers: Sequence[_Mover],
    column: bool = False,
    batch: Size = 1,
    around: tuple[str, str] = ("", ""),
) -> Derivation:
    """Prove that weights M⁻¹ W N and biases b N give the same function, M and N the movers of the layers around W.

    `around` names the functions before the first layer and after the last, if there are any.
    """

    def times(*factors: Term) -> Term:  # the column convention is the row convention in a mirror
        return product(*(factors[::-1] if column else factors))

    def named(name: str, rows: Size, columns: Size) -> Term:
        return matrix(name, columns, rows) if column else matrix(name, rows, columns)

    first, last = around
    old = new = (
        apply(first, named("x", batch, "d0"), *named("x", batch, sizes[0]).shape)
        if first
        else named("x", batch, sizes[0])
    )
    carried = None  # the label of: new = old M, for the units below
    for layer, (below, above) in enumerate(pairwise(sizes), 1):
        W, b = named(f"W{layer}", below, above), named(f"b{layer}", 1, above)
        mover = movers[layer - 1] if layer <= len(movers) else None
        under = movers[layer - 2] if layer > 1 else None
        factors = ([under.inverse] if under else []) + [W] + ([mover.matrix] if mover else [])
        weight = times(*factors) if len(factors) > 1 else W
        bias = times(b, mover.matrix) if mover else b
        repeated = (lambda row: row) if batch == 1 else (lambda row: times(named("e", batch, 1), row))

        def onward(core: Term, mover: _Mover | None = mover) -> Term:
            return times(core, mover.matrix) if mover else core

        z, moved = times(old, W) + repeated(b), times(new, weight) + repeated(bias)
        links: list[Link] = []
        if under:
            middle, unit = times(under.matrix, under.inverse), identity(below)
            links += [
                (times(times(old, under.matrix), weight) + repeated(bias), "substitution", carried or ""),
                (onward(times(old, middle, W) + repeated(b)), "ring"),
                (onward(times(old, unit, W) + repeated(b)), "substitution", under.cancel()),
            ]
        links.append((onward(z), "ring"))
        found = proof.chain(moved, *links)
        if mover is None:
            if not last:
                return proof.proves(title, equal(moved, z))
            whole = equal(
                apply(last, moved, *named("y", batch, "k").shape), apply(last, z, *named("y", batch, "k").shape)
            )
            proof.line(whole, "substitution", found)
            return proof.proves(title, whole)
        phi = functions[layer - 1]
        law = mover.commute(times(apply(phi, z), mover.matrix), apply(phi, onward(z)))
        back = proof.line(equal(apply(phi, onward(z)), times(apply(phi, z), mover.matrix)), "symmetry", law)
        carried = proof.chain(
            apply(phi, moved),
            (apply(phi, onward(z)), "substitution", found),
            (times(apply(phi, z), mover.matrix), "substitution", back),
        )
        old, new = apply(phi, z), apply(phi, moved)
    raise AssertionError("the last layer has no mover")


def layer_in_any_network(convention: str = "row") -> Derivation:
    """Prove that one hidden layer of a network of any depth may be relabelled: g before and ψ after it are arbitrary.

    Implements: theory §8.

    >>> print(layer_in_any_network().claim.conclusions[0])
    ψ(φ(g(x) (W1 P) + b1 P) (Pᵀ W2) + b2) = ψ(φ(g(x) W1 + b1) W2 + b2)
    """
    return permutation_symmetry(convention, around=("g", "ψ"))


# Scalings, and both together


def positive_scaling(activation: str = RELU) -> Derivation:
    """Prove that (W1 D, b1 D, D⁻¹ W2) gives the function of (W1, b1, W2), D diagonal with positive entries.

    Another activation than relu is assumed to commute with such D.

    Implements: theory §8.

    >>> print(positive_scaling().claim.conclusions[0])
    relu(x (W1 D) + b1 D) (D⁻¹ W2) + b2 = relu(x W1 + b1) W2 + b2
    """
    D = matrix("D", "n", "n")
    kind, law = Statement("positive diagonal", (D,)), Statement("homogeneous right", (), activation)
    proof = Proof(kind) if activation == RELU else Proof(kind, law)
    mover = _Mover(
        D,
        D.inverse,
        lambda before, after: proof.line(equal(before, after), "homogeneity", _known(proof, law), proof.given(kind)),
        lambda: proof.line(equal(product(D, D.inverse), identity("n")), "inverse", proof.given(kind)),
    )
    return _relabelled(proof, "Rescaling hidden units", ["d", "n", "m"], [activation], [mover])


def _known(proof: Proof, law: Statement) -> str:
    return proof.line(law, "elementwise" if law.name == RELU else "hypothesis")


def monomial_symmetry() -> Derivation:
    """Prove that (W1 P D, b1 P D, D⁻¹ Pᵀ W2) gives the function of (W1, b1, W2) with relu.

    Implements: theory §8.

    >>> print(monomial_symmetry().claim.conclusions[0])
    relu(x (W1 (P D)) + b1 (P D)) ((D⁻¹ Pᵀ) W2) + b2 = relu(x W1 + b1) W2 + b2
    """
    P, D = matrix("P", "n", "n"), matrix("D", "n", "n")
    permutation, diagonal = Statement("permutation", (P,)), Statement("positive diagonal", (D,))
    proof = Proof(permutation, diagonal)

    def commute(before: Term, after: Term) -> str:
        z = before.parts[0].parts[0]
        equivariant, homogeneous = (
            _known(proof, Statement(f"{law} right", (), RELU)) for law in ("equivariant", "homogeneous")
        )
        inner, outer = product(z, P), product(product(z, P), D)
        one = proof.line(
            equal(product(apply(RELU, z), P), apply(RELU, inner)), "equivariance", equivariant, proof.given(permutation)
        )
        two = proof.line(
            equal(product(apply(RELU, inner), D), apply(RELU, outer)), "homogeneity", homogeneous, proof.given(diagonal)
        )
        return proof.chain(
            before,
            (product(product(apply(RELU, z), P), D), "ring"),
            (product(apply(RELU, inner), D), "substitution", one),
            (apply(RELU, outer), "substitution", two),
            (after, "substitution", proof.line(equal(outer, product(z, product(P, D))), "ring")),
        )

    mover = _Mover(product(P, D), product(D.inverse, P.transposed), commute, lambda: _cancelled(proof, P, D))
    return _relabelled(proof, "Relabelling and rescaling hidden units", ["d", "n", "m"], [RELU], [mover])


def _cancelled(proof: Proof, P: Term, D: Term) -> str:
    """Write (P D) (D⁻¹ Pᵀ) = I."""
    inverse = proof.line(
        equal(product(D, D.inverse), identity("n")), "inverse", proof.given(Statement("positive diagonal", (D,)))
    )
    orthogonal = proof.line(
        equal(product(P, P.transposed), identity("n")), "orthogonality", proof.given(Statement("permutation", (P,)))
    )
    return proof.chain(
        product(product(P, D), product(D.inverse, P.transposed)),
        (product(P, product(D, D.inverse), P.transposed), "ring"),
        (product(P, identity("n"), P.transposed), "substitution", inverse),
        (product(P, P.transposed), "ring"),
        (identity("n"), "substitution", orthogonal),
    )


def monomial_inverse() -> Derivation:
    """Prove that D⁻¹ Pᵀ undoes P D on both sides and is monomial again, Pᵀ (P D⁻¹ Pᵀ).

    Implements: theory §8.
    """
    P, D = matrix("P", "n", "n"), matrix("D", "n", "n")
    permutation, diagonal = Statement("permutation", (P,)), Statement("positive diagonal", (D,))
    proof = Proof(permutation, diagonal)
    _cancelled(proof, P, D)
    one = identity("n")
    orthogonal = proof.line(equal(product(P.transposed, P), one), "orthogonality", proof.given(permutation))
    inverse = proof.line(equal(product(D.inverse, D), one), "inverse", proof.given(diagonal))
    proof.chain(
        product(product(D.inverse, P.transposed), product(P, D)),
        (product(D.inverse, product(P.transposed, P), D), "ring"),
        (product(D.inverse, one, D), "substitution", orthogonal),
        (product(D.inverse, D), "ring"),
        (one, "substitution", inverse),
    )
    turned = proof.line(Statement("permutation", (P.transposed,)), "permutations", proof.given(permutation))
    inverted = proof.line(Statement("positive diagonal", (D.inverse,)), "diagonals", proof.given(diagonal))
    twice = product(P.transposed.transposed, D.inverse, P.transposed)
    middle = product(P, D.inverse, P.transposed)
    conjugate = proof.line(Statement("positive diagonal", (twice,)), "conjugation", turned, inverted)
    again = Statement("positive diagonal", (middle,))
    proof.line(again, "transport", conjugate, proof.line(equal(twice, middle), "ring"))
    proof.chain(
        product(P.transposed, middle),
        (product(product(P.transposed, P), product(D.inverse, P.transposed)), "ring"),
        (product(one, product(D.inverse, P.transposed)), "substitution", orthogonal),
        (product(D.inverse, P.transposed), "ring"),
    )
    undone = [
        equal(product(a, b), one) for a, b in pairwise((product(P, D), product(D.inverse, P.transposed), product(P, D)))
    ]
    monomial = equal(product(P.transposed, middle), product(D.inverse, P.transposed))
    return proof.proves(
        "The inverse of a monomial matrix", *undone, Statement("permutation", (P.transposed,)), again, monomial
    )


def monomial_composition() -> Derivation:
    """Prove that acting with P D and then with Q E is acting with the monomial matrix (P Q) (Qᵀ D Q E).

    Implements: theory §8.

    >>> for conclusion in monomial_composition().claim.conclusions:
    ...     print(conclusion)
    P Q is a permutation matrix
    (Qᵀ D Q) E is diagonal with positive entries
    (W1 (P D)) (Q E) = W1 ((P Q) ((Qᵀ D Q) E))
    (E⁻¹ Qᵀ) ((D⁻¹ Pᵀ) W2) = (((Qᵀ D Q) E)⁻¹ (P Q)ᵀ) W2
    """
    P, D, Q, E = (matrix(name, "n", "n") for name in "PDQE")
    W1, W2, one = matrix("W1", "d", "n"), matrix("W2", "n", "m"), identity("n")
    permutations = [Statement("permutation", (each,)) for each in (P, Q)]
    diagonals = [Statement("positive diagonal", (each,)) for each in (D, E)]
    proof = Proof(*permutations, *diagonals)
    (p, q), (d, e) = map(proof.given, permutations), map(proof.given, diagonals)
    R, F = product(P, Q), product(product(Q.transposed, D, Q), E)
    both = Statement("permutation", (R,)), Statement("positive diagonal", (F,))
    proof.line(both[0], "permutations", p, q)
    conjugate = proof.line(Statement("positive diagonal", (product(Q.transposed, D, Q),)), "conjugation", q, d)
    f = proof.line(both[1], "diagonals", conjugate, e)

    def unit(left: Term, right: Term, rule: str, label: str) -> str:
        return proof.line(equal(product(left, right), one), rule, label)

    here = proof.chain(
        product(product(W1, product(P, D)), product(Q, E)),
        (product(W1, P, one, D, Q, E), "ring"),
        (product(W1, P, product(Q, Q.transposed), D, Q, E), "substitution",
         proof.line(equal(one, product(Q, Q.transposed)), "symmetry", unit(Q, Q.transposed, "orthogonality", q))),
        (product(W1, product(R, F)), "ring"),
    )  # fmt: skip
    # G = E⁻¹ Qᵀ D⁻¹ Q is the inverse of F, because F G = I and F⁻¹ F = I
    G = product(E.inverse, Q.transposed, D.inverse, Q)
    cancelled = proof.chain(
        product(F, G),
        (product(Q.transposed, D, Q, product(E, E.inverse), Q.transposed, D.inverse, Q), "ring"),
        (
            product(Q.transposed, D, Q, one, Q.transposed, D.inverse, Q),
            "substitution",
            unit(E, E.inverse, "inverse", e),
        ),
        (product(Q.transposed, D, product(Q, Q.transposed), D.inverse, Q), "ring"),
        (product(Q.transposed, D, one, D.inverse, Q), "substitution", unit(Q, Q.transposed, "orthogonality", q)),
        (product(Q.transposed, product(D, D.inverse), Q), "ring"),
        (product(Q.transposed, one, Q), "substitution", unit(D, D.inverse, "inverse", d)),
        (product(Q.transposed, Q), "ring"),
        (one, "substitution", unit(Q.transposed, Q, "orthogonality", q)),
    )
    inverse = proof.chain(
        G,
        (product(one, G), "ring"),
        (product(product(F.inverse, F), G), "substitution",
         proof.line(equal(one, product(F.inverse, F)), "symmetry", unit(F.inverse, F, "inverse", f))),
        (product(F.inverse, product(F, G)), "ring"),
        (product(F.inverse, one), "substitution", cancelled),
        (F.inverse, "ring"),
    )  # fmt: skip
    there = proof.chain(
        product(product(E.inverse, Q.transposed), product(product(D.inverse, P.transposed), W2)),
        (product(E.inverse, Q.transposed, D.inverse, one, P.transposed, W2), "ring"),
        (product(E.inverse, Q.transposed, D.inverse, product(Q, Q.transposed), P.transposed, W2), "substitution",
         proof.line(equal(one, product(Q, Q.transposed)), "symmetry", unit(Q, Q.transposed, "orthogonality", q))),
        (product(product(G, R.transposed), W2), "ring"),
        (product(product(F.inverse, R.transposed), W2), "substitution", inverse),
    )  # fmt: skip
    shown = [line.statement for line in proof.lines if line.label in (here, there)]
    return proof.proves("Monomial matrices act as a group", *both, *shown)
