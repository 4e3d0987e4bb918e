"""What tools/campaign.py asks of networks with letters: with numbers put in, each answer is that about the numbers.

Some entries of a network of numbers stand behind letters of their sign or of any, alone, in products, in sums; equal
entries may share a letter, so that some things cancel for all values. Answers about the network of numbers, which the
campaign's other questions judge, are then compared with what the letters' answers say of these numbers; members are
judged by the oracle's cells.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from typing import Any

import reference
import sympy

import semialg_fibers as package
from semialg_fibers import Network
from semialg_fibers.errors import SemialgError
from semialg_fibers.fibers.hiding import hiding

Values = dict[str, Fraction]


def lettered(rng: random.Random, net: Network) -> tuple[Network, Values]:
    """Give the network with some entries behind letters, and the numbers by name."""
    values: Values = {}
    share, shared = rng.choice([0.2, 0.5, 1.0]), rng.random() < 0.5
    known: dict[Fraction, sympy.Expr] = {}

    def letter(value: Fraction) -> sympy.Symbol:
        name = f"s{len(values)}"
        values[name] = value
        if not value or rng.random() < 0.2:
            return sympy.Symbol(name, real=True)
        return sympy.Symbol(name, real=True, **{"positive" if value > 0 else "negative": True})

    def behind(number: Any) -> Any:
        value = Fraction(int(number.p), int(number.q))
        if rng.random() >= share:
            return sympy.Rational(value.numerator, value.denominator)
        if shared and value in known:
            return known[value]
        form = rng.choice(["letter", "letter", "letter", "product", "sum"])
        if form == "letter" or not value:
            known[value] = letter(value)
        elif form == "product":
            known[value] = letter(Fraction(rng.choice([-2, -1, 1, 3])) * value)
            values[f"s{len(values)}"] = factor = value / values[known[value].name]
            sign = {"positive" if factor > 0 else "negative": True}
            known[value] *= sympy.Symbol(f"s{len(values) - 1}", real=True, **sign)
        else:
            known[value] = letter(value / 2) + sympy.Rational(value.numerator, 2 * value.denominator)
        return known[value]

    layers = [
        ([list(map(behind, row)) for row in layer.matrix.rows()], list(map(behind, layer.offset)))
        for layer in net.layers
    ]
    return Network(layers, net.domain), values


class Letters:
    """The questions about one network with letters; the examination counts checks, refusals and faults."""

    def __init__(self, examination: Any) -> None:
        """Put letters into the examination's network."""
        self.examination, self.net, self.rng = examination, examination.net, examination.rng
        self.symbolic, self.values = lettered(self.rng, self.net)

    def ask(self) -> None:
        """Ask everything that is answered with letters. (G1) is taken for granted, so it must hold of the numbers."""
        net, three = self.net, len(self.net.layers) == 3
        self.expect("put in", self.symbolic.subs(self.values) == net)
        if not self.values:
            return
        first = [form[:-1] for form in reference.layer_rows(net.layers[0])]
        if len(net.layers) == 2 or (len(net.layers) > 2 and reference.rank(first) == len(first)):
            self.alike("types", package.neuron_types)
        if len(net.layers) > 1:
            self.alike("relabellings", package.relabelling_count)
        self.alike("identifiable", lambda each: package.identifiability(each).is_identifiable)
        self.alike("count", package.count_components)
        if three and not self.examination.is_bottleneck():
            return
        if three:
            self.alike("hidden", package.hidden_hyperplanes)
            self.moves()
        self.hypotheses()
        found = self.answer("fiber", lambda: package.fiber(self.symbolic))
        if found is not None:
            there = [part for part in islice(found.components, 64) if part.condition.holds(self.values)]
            self.members([found, *there[:3]])
            if package.genericity(net).is_generic is True and found.components[64:65] == []:
                self.components(found, there)

    def expect(self, name: str, holds: bool, *shown: Any) -> None:
        """Count a check, with the network in letters and their values where it fails."""
        self.examination.expect(f"letters: {name}", holds, self.symbolic, self.values, *shown)

    def answer(self, name: str, question: Callable[[], Any]) -> Any:
        """Give the answer, or None where it is refused."""
        try:
            return question()
        except SemialgError as error:
            self.examination.refused[f"letters, {name}: {type(error).__name__}"] += 1
            return None

    def alike(self, name: str, question: Callable[[Any], Any], ours: Any = None, theirs: Any = None) -> None:
        """Compare what is said for all values with what is true of these, where both are said."""
        said = self.answer(name, lambda: question(self.symbolic if ours is None else ours))
        with suppress(SemialgError):
            truth = question(self.net if theirs is None else theirs)
            if said is not None and truth is not None:
                self.expect(name, said == truth, said, truth)

    def moves(self) -> None:
        """Compare flips with the conditions that the values meet, and translations with their ranges."""
        found = self.answer("hiding", lambda: hiding(self.symbolic))
        if found is None:
            return
        numbers = {letter: sympy.Rational(str(self.values[letter.name])) for letter in self.symbolic.symbols}
        named = {letter.name: value for letter, value in numbers.items()}
        met = [k for k, told in found.conditions.items() if not any(sympy.sympify(str(e)).subs(named) for e in told)]
        self.expect("flippable", sorted({*found.flippable, *met}) == list(hiding(self.net).flippable), met)
        for i in found.users:
            span = self.answer("range", lambda i=i: package.translation_range(self.symbolic, i))
            if span is not None:
                self.expect("range", span.subs(numbers) == package.translation_range(self.net, i), i)
            moved = self.answer("translate", lambda i=i: package.translate(self.symbolic, i, 1))
            if moved is not None:
                self.expect("translate", moved.subs(self.values) == package.translate(self.net, i, 1), i)

    def hypotheses(self) -> None:
        """Compare the verdicts on each condition of genericity."""
        found = self.answer("genericity", lambda: package.genericity(self.symbolic))
        with suppress(SemialgError):
            truth = {condition.name: condition.verdict for condition in package.genericity(self.net).conditions}
            for condition in found.conditions if found else ():
                said = condition.verdict
                holds = None in (said, truth[condition.name]) or said == truth[condition.name]
                self.expect("genericity", holds, condition.name, said)

    def members(self, parts: list[Any]) -> None:
        """Judge samples of the fiber, and of its components that are there at these values."""
        for part in parts:
            member = self.answer("sample", lambda part=part: part.sample(self.rng.randrange(2**30)))
            if member is not None:
                known = {str(letter): self.values[str(letter)] for letter in member.symbols}
                self.expect("sample", self.examination.equals(member.subs(known)), member)

    def components(self, found: Any, there: list[Any]) -> None:
        """Compare the components at these values with those of the generic network of numbers."""
        truth = package.fiber(self.net)
        for name in ("dimension", "component_count", "labelled_count", "local_dimension"):
            self.alike(name, lambda each, name=name: getattr(each, name), found, truth)
        ours, theirs = (
            [(each.kind, each.flips, each.direction) for each in parts] for parts in (there, truth.components)
        )
        self.expect("components", ours == theirs, ours, theirs)
        if ours != theirs:
            return
        which = self.rng.randrange(len(there))
        for name in ("set", "parametrization", "dimension"):
            self.alike(
                f"component's {name}",
                lambda each, name=name: getattr(each, name),
                there[which].subs(self.values),
                truth.components[which],
            )
        self.alike("component's own dimension", lambda each: each.dimension, there[which], truth.components[which])
