"""A proof being written: steps that a checker will judge, numbered, none of them trusted.

Main definitions
    Proof    collects lines, chains of equalities, signs, and cases; `proves` gives the derivation

References: theory §8.
"""

from __future__ import annotations

from collections.abc import Callable

from semialg_fibers.verify.derivation import Claim, Derivation, Line
from semialg_fibers.verify.expressions import Statement, Term, equal, matrix, nonnegative, positive, relu, zero

Link = tuple[Term, str] | tuple[Term, str, str]  # the next term, the rule, the label of its premise


class Proof:
    """A derivation being written: hypotheses first, then lines, each with the next free number as its label."""

    def __init__(self, *hypotheses: Statement) -> None:
        """Begin with the hypotheses, each as a line."""
        self.hypotheses = hypotheses
        self.lines: list[Line] = []
        self.under: tuple[Statement, ...] = ()
        self.known: dict[tuple[Statement, tuple[Statement, ...]], str] = {}
        for each in hypotheses:
            self.line(each, "hypothesis")

    def line(self, statement: Statement, rule: str, *premises: str) -> str:
        """Write one step and give its label; the same step is not written twice."""
        if (statement, ()) in self.known:
            return self.known[statement, ()]
        key = statement, self.under
        if key not in self.known:
            self.known[key] = str(len(self.lines) + 1)
            self.lines.append(Line(self.known[key], statement, rule, premises, self.under))
        return self.known[key]

    def given(self, statement: Statement) -> str:
        """Give the label of a hypothesis or of an assumption of the case."""
        return self.known.get((statement, self.under)) or self.line(statement, "hypothesis")

    def chain(self, start: Term, *links: Link) -> str:
        """Write start = t1 = t2 = ..., each with its rule, and join them."""
        labels, before = [], start
        for after, rule, *premises in links:
            labels.append(self.line(equal(before, after), rule, *premises))
            before = after
        return self.line(equal(start, before), "chain", *labels) if len(labels) > 1 else labels[0]

    def sign(self, term: Term, total: Term, *parts: str) -> str:
        """Write term ≥ 0, where the term equals `total`, a product or a sum of parts known to be ≥ 0."""
        rule = "products of signs" if total.head == "product" else "sums of signs"
        known = self.line(nonnegative(total), rule, *parts)
        if total == term:
            return known
        return self.line(nonnegative(term), "transport", known, self.line(equal(total, term), "ring"))

    def strict(self, term: Term, *parts: str) -> str:
        """Write term > 0, where the term equals the sum of the parts, which are ≥ 0 and one of them > 0."""
        total = Term("sum", term.shape, tuple(self.statement(label).terms[0] for label in parts))
        known = self.line(positive(total), "sums of signs", *parts)
        return self.line(positive(term), "transport", known, self.line(equal(total, term), "ring"))

    def statement(self, label: str) -> Statement:
        """Give what the line with this label says."""
        return self.lines[int(label) - 1].statement

    def active(self, z: Term, label: str) -> str:
        """Write relu(z) = z."""
        return self.line(equal(relu(z), z), "active", label)

    def inactive(self, z: Term, label: str) -> str:
        """Write relu(z) = 0."""
        return self.line(equal(relu(z), zero(*z.shape)), "inactive", label)

    def cases(self, number: Term, shown: Statement, *proofs: Callable[[str], object]) -> str:
        """Show a statement where the number is ≥ 0 (first proof) and where it is < 0 (second proof), hence always.

        Each proof is given the label of its assumption, and ends with the statement.
        """
        labels = []
        for assumption, proof in zip((nonnegative(number), positive(-number)), proofs, strict=True):
            before, self.under = self.under, (*self.under, assumption)
            proof(self.given(assumption))
            labels.append(self.known[shown, self.under])
            self.under = before
        return self.line(shown, "cases", *labels)

    def turned(self, z: Term) -> str:
        """Write relu(z) − relu(−z) = z, for a matrix of any shape, by way of a number."""
        x = matrix("ξ", 1, 1)

        def positive_side(label: str) -> None:
            minus = -x
            twice = self.line(nonnegative(-minus), "transport", label, self.line(equal(x, -minus), "ring"))
            self.chain(
                relu(x) - relu(-x),
                (x - relu(-x), "substitution", self.active(x, label)),
                (x - zero(1, 1), "substitution", self.inactive(-x, twice)),
                (x, "ring"),
            )

        def negative_side(label: str) -> None:
            self.chain(
                relu(x) - relu(-x),
                (zero(1, 1) - relu(-x), "substitution", self.inactive(x, label)),
                (zero(1, 1) - (-x), "substitution", self.active(-x, label)),
                (x, "ring"),
            )

        number = self.cases(x, equal(relu(x) - relu(-x), x), positive_side, negative_side)
        return self.line(equal(relu(z) - relu(-z), z), "entry by entry", number)

    def mirrored(self, z: Term) -> str:
        """Write relu(z) = relu(−z) + z."""
        turned = self.turned(z)
        return self.chain(
            relu(z),
            (relu(-z) + (relu(z) - relu(-z)), "ring"),
            (relu(-z) + z, "substitution", turned),
        )

    def proves(self, title: str, *conclusions: Statement) -> Derivation:
        """End the proof."""
        return Derivation(Claim(title, self.hypotheses, conclusions), tuple(self.lines))
