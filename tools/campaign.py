"""A long run over random networks of every kind: each public answer against a judge that shares no code with it.

    python tools/campaign.py RECORD [--networks 1000] [--seconds 3600] [--base 1] [--smt 50]
    python tools/campaign.py RECORD --only SEED          one network again, with its faults in full

RECORD is a file of JSON lines, one for each network: its seed, kind, checks, refusals, faults. A run continues where
the record ends; a line that a kill cut short is dropped, and its network drawn again. Exit 1 when there is a fault.

Networks are generic ones of every kind of theory §2 and §3, and broken ones: zeros, copies, parallel and coinciding
hyperplanes, equal ratios, cancelling products, lost ranks, entries of 10^±30, and cones with margins of 10^-30.
The judges are the oracle of semialg_fibers/verify, tests/reference.py, tests/lie_oracle.py, and SMT solvers. In every
other network some entries are hidden behind letters too (campaign_letters.py).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE)]

import lie_oracle  # noqa: E402
import reference  # noqa: E402
from campaign_letters import Letters  # noqa: E402
from patience import OutOfTime, within  # noqa: E402

import semialg_fibers as package  # noqa: E402
from semialg_fibers import Box, Network, Orthant, Polyhedron  # noqa: E402
from semialg_fibers.errors import SemialgError, UnsupportedError  # noqa: E402
from semialg_fibers.exchange.certificates import certificate_to_json  # noqa: E402
from semialg_fibers.exchange.exporters import WRITERS  # noqa: E402
from semialg_fibers.exchange.json_text import network_from_json, network_to_json  # noqa: E402
from semialg_fibers.exchange.traversal import document_of  # noqa: E402
from semialg_fibers.verify.oracle import JacobianRank, jacobian_rank, oracle_cells, same_on_cells, visit  # noqa: E402
from semialg_fibers.verify.smt import same_by_smt  # noqa: E402

PATIENCE = 60  # seconds of computing for one network; it is recorded when they end
EPSILON = Fraction(1, 10**30)


# drawing


def entry(rng: random.Random) -> Fraction:
    """Give a nonzero rational."""
    return Fraction(rng.choice([-1, 1]) * rng.randint(1, 40), rng.choice([1, 1, 2, 3, 7]))


def small(rng: random.Random) -> Fraction:
    """Give a small integer, often zero."""
    return Fraction(rng.choice([0, 0, 1, 1, -1, -1, 2, -2]))


def row(rng: random.Random, letter: str, size: int, place: int = 0) -> list[Fraction]:
    """Give a row [W | b]: Nonlinear, Linear, Dead, or positive in one place only (Hiding)."""
    signs = [rng.choice([-1, 1]) for _ in range(size + 1)]
    if letter in "LD":
        signs = [1 if letter == "L" else -1] * (size + 1)
    elif letter == "H":
        signs = [1 if k == place else -1 for k in range(size + 1)]
    return [sign * abs(entry(rng)) for sign in signs]


Rows = list[list[list[Fraction]]]  # [W | b], layer after layer


def rows_of(rng: random.Random, widths: tuple[int, ...], draw: Callable[[random.Random], Fraction]) -> Rows:
    """Give layers of these widths."""
    return [[[draw(rng) for _ in range(i + 1)] for _ in range(o)] for i, o in pairwise(widths)]


def domain_of(rng: random.Random, d: int) -> Any:
    """Give R^d, the orthant, a box, or a polyhedron."""
    low = [rng.randint(-2, 0) for _ in range(d)]
    return rng.choice(
        [
            None,
            Orthant(d),
            Box(low, [value + rng.randint(1, 3) for value in low]),
            Polyhedron([[1] * d, *([-int(i == j) for j in range(d)] for i in range(d))], [2] + [1] * d),
        ]
    )


MIXES = ["N", "NN", "NNN", "L", "LL", "NL", "NLL", "ND", "NND", "NDD", "LD", "NLD", "LLD", "H", "HD", "HH", "HHD", "D"]


def drawn(rng: random.Random) -> tuple[str, Rows, Any]:
    """Give the kind, the layers and the domain of a network before it is broken."""
    kind = rng.choice(["bottleneck", "bottleneck", "line", "one layer", "one layer", "wide", "deep", "small integers"])
    m = rng.randint(1, 2)
    if kind == "one layer":
        d, n = rng.randint(1, 3), rng.randint(1, 3)
        layers = rows_of(rng, (d, n, m), entry)
        layers[0] = [row(rng, rng.choice("NNLD"), d) for _ in range(n)]
        return kind, layers, domain_of(rng, d)
    if kind == "small integers":
        widths = (rng.randint(1, 2), *(rng.randint(1, 3) for _ in range(rng.randint(1, 3))), m)
        layers = rows_of(rng, widths, small)
        return kind, layers, domain_of(rng, widths[0]) if rng.random() < 0.4 else None
    if kind == "deep":
        return kind, rows_of(rng, (rng.randint(1, 2), *(rng.randint(1, 2) for _ in range(3)), m), entry), None
    if kind == "wide":
        return kind, rows_of(rng, (rng.randint(1, 2), 3, rng.randint(1, 2), m), entry), None
    n1 = 1 if kind == "line" else 2 + (rng.random() < 0.3)
    letters = rng.choice(MIXES)
    layers = rows_of(rng, (n1 + (rng.random() < 0.3), n1, len(letters), m), entry)
    place = rng.randrange(n1)
    layers[1] = [row(rng, letter, n1, place) for letter in letters]
    return f"{kind} {letters}", layers, None


def broken(rng: random.Random, layers: Rows) -> str:
    """Break the layers in place; give the name of what was done."""
    how = rng.choice(
        ["zero", "copied row", "opposite row", "parallel", "scaled row", "equal ratio", "cancelling", "rank", "scales",
         "thin cone", "nearly"]
    )  # fmt: skip
    layer = rng.randrange(len(layers))
    rows = layers[layer]
    one, two = (rng.randrange(len(rows)) for _ in range(2))
    factor = Fraction(rng.choice([1, 2, 3, 10**15]), rng.choice([1, 2, 10**15]))
    if how == "zero":
        for _ in range(rng.randint(1, 3)):
            target = rng.choice(rng.choice(layers))
            target[rng.randrange(len(target))] = Fraction(0)
    elif how == "copied row":
        rows[one] = list(rows[two])
    elif how == "opposite row":
        rows[one] = [-factor * value for value in rows[two]]
    elif how == "scaled row":
        rows[one] = [factor * value for value in rows[two]]
    elif how == "parallel":
        rows[one] = [factor * value for value in rows[two][:-1]] + [entry(rng)]
    elif how == "equal ratio" and len(layers) > 1:
        place = rng.randrange(len(layers[-2][0]) - 1)
        for each in layers[-2]:
            each[-1] = -2 * each[place]
    elif how == "cancelling" and len(layers) > 1 and len(layers[-2]) > 1:
        inner, place = layers[-2], rng.randrange(len(layers[-2][0]))
        if inner[1][place]:
            for outer in layers[-1]:
                outer[1] = -outer[0] * inner[0][place] / inner[1][place]
    elif how == "rank":
        layers[0][-1] = [sum(values) for values in zip(*layers[0], strict=True)]
    elif how == "scales":
        for each in layers:
            for target in each:
                power = Fraction(10) ** rng.choice([0, 0, 30, -30])
                target[:] = [power * value for value in target]
        target = rng.choice(rows)
        target[rng.randrange(len(target))] *= Fraction(10) ** rng.choice([30, -30])
    elif how == "thin cone" and len(layers) > 1 and len(layers[-2]) > 1:
        # The linear rows' product has columns that are opposite, or up to 10^-30: a cone that is barely pointed.
        inner, sign = layers[-2], rng.choice([-1, 0, 1])
        inner[0], inner[1] = ([abs(value) or Fraction(1) for value in each] for each in inner[:2])
        if len(inner[0]) > 2:
            inner[1][:2] = inner[0][1::-1]
        for outer in layers[-1]:
            outer[1] = -outer[0] * (1 + sign * EPSILON)
    elif how == "nearly":
        rows[one] = [factor * value for value in rows[two]]
        rows[one][rng.randrange(len(rows[one]))] += EPSILON * rng.choice([-1, 1])
    return how


def network(rng: random.Random) -> tuple[str, Network]:
    """Give a network and its kind."""
    kind, layers, domain = drawn(rng)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        kind += f", {broken(rng, layers)}"
    return kind, made(layers, domain)


def made(layers: Rows, domain: Any) -> Network:
    """Give the network of layers [W | b]."""
    return Network([([r[:-1] for r in rows], [r[-1] for r in rows]) for rows in layers], domain)


def layers_of(net: Network) -> Rows:
    """Give [W | b] of each layer."""
    return [[list(each) for each in reference.layer_rows(layer)] for layer in net.layers]


def changed(rng: random.Random, net: Network) -> Network:
    """Change one parameter, by much or by 10^-30."""
    layers = layers_of(net)
    target = rng.choice(rng.choice(layers))
    target[rng.randrange(len(target))] += rng.choice([Fraction(1), -EPSILON, EPSILON])
    return made(layers, net.domain)


def relabelled(rng: random.Random, net: Network) -> Network:
    """Permute and rescale the hidden units."""
    for layer in range(1, len(net.layers)):
        size = net.widths[layer]
        net = net.permuted(layer, rng.sample(range(size), size))
        net = net.rescaled(layer, [abs(entry(rng)) * rng.choice([1, 1, EPSILON]) for _ in range(size)])
    return net


# checking


class Examination:
    """One network under all questions; `faults` is what must be empty."""

    def __init__(self, net: Network, rng: random.Random, with_smt: bool) -> None:
        """Start with nothing asked."""
        self.net, self.rng, self.with_smt = net, rng, with_smt
        self.checks: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.faults: list[dict[str, str]] = []
        self.members: list[Network] = []
        self._pieces: list[Any] = []
        self._equal: dict[Network, bool] = {}
        self._ranks: dict[Network, JacobianRank] = {}

    def equals(self, other: Network) -> bool:
        """Say by the judge's cells whether the other network has this function; each is asked once."""
        if other not in self._equal:
            self._pieces = self._pieces or list(visit(self.net))
            self._equal[other] = same_on_cells(self.net, other, visited=self._pieces) is None
        return self._equal[other]

    def rank(self, net: Network) -> JacobianRank:
        """Give the judge's rank of the Jacobian; each is asked once."""
        if net not in self._ranks:
            self._ranks[net] = jacobian_rank(net)
        return self._ranks[net]

    def expect(self, name: str, holds: bool, *shown: Any) -> None:
        """Count a check; record a fault where it fails."""
        self.checks[name] += 1
        if not holds:
            self.faults.append({"check": name, "shown": repr(shown)[:4000]})

    def run(self) -> None:
        """Ask everything; a refusal is counted, any other exception is a fault."""
        for name in (
            "types",
            "genericity",
            "fibers",
            "complete",
            "dimensions",
            "sound",
            "equality",
            "laws",
            "files",
            "letters",
        ):
            try:
                getattr(self, name)()
            except SemialgError as error:
                self.refused[f"{name}: {type(error).__name__}"] += 1
            except OutOfTime:
                self.refused[f"{name}: time"] += 1
                return
            except Exception:
                self.faults.append({"check": name, "shown": traceback.format_exc()[-4000:]})

    def is_bottleneck(self) -> bool:
        """Say whether the three-layer theorem is about it, (G1) included."""
        net = self.net
        weights = [form[:-1] for form in reference.layer_rows(net.layers[0])]
        return (
            len(net.layers) == 3 and isinstance(net.domain, package.Space) and reference.rank(weights) == len(weights)
        )

    def types(self) -> None:
        """Neuron types and hidden hyperplanes."""
        net = self.net
        if len(net.layers) == 1:
            return
        last = min(2, len(net.layers) - 1)
        front = Network([*net.layers[:last], ([[1] * net.widths[last]], [0])], net.domain)
        above, below = set(), set()
        for cell in oracle_cells(front):
            x = cell.point
            for number, layer in enumerate(front.layers[:-1]):
                x = layer.apply([max(value, 0 * value) for value in x] if number else x)
            above |= {j for j, value in enumerate(x) if value > 0}
            below |= {j for j, value in enumerate(x) if value < 0}
        names = ["dead" if j not in above else "nonlinear" if j in below else "linear" for j in range(net.widths[last])]
        self.expect("types", list(package.neuron_types(net)) == names, names)
        if self.is_bottleneck():
            hidden = reference.hidden_columns(net)
            self.expect("hidden", list(package.hidden_hyperplanes(net)) == hidden, hidden)

    def genericity(self) -> None:
        """Each hypothesis of the theorem by its definition."""
        net = self.net
        if len(net.layers) == 1 or (len(net.layers) == 2 and isinstance(net.domain, Polyhedron)):
            return
        found = {condition.name: condition.verdict for condition in package.genericity(net).conditions}
        if len(net.layers) == 3 and isinstance(net.domain, package.Space) and net.widths[1] <= net.widths[0]:
            self.expect("G1", found["G1"] == self.is_bottleneck())
            if self.is_bottleneck():
                for name, truth in hypotheses(net).items():
                    if name != "G5" or net.widths[1] > 1:
                        self.expect(name, found[name] in (truth, None), name, truth)

    def fibers(self) -> None:
        """Components by brute force, members, dimensions, membership of what is no member."""
        net, rng = self.net, self.rng
        found = package.fiber(net)
        kernel = net.parameter_count - self.rank(net).rank
        skipped = self.rank(net).skipped
        local = found.local_dimension
        if local is None:  # zero weights of linear rows that no member near it can raise
            self.refused["local dimension: open"] += 1
        else:
            self.expect("local dimension", bool(skipped) or local <= kernel, local, kernel)
        self.expect("own component", found.components[0].contains(net) and found.contains(relabelled(rng, net)))
        if found.components[0].kind in ("visible", "one hidden layer") and net.widths[1] > (len(net.layers) == 3):
            truth = brute_count(net)
            self.expect("components", found.component_count == truth, found.component_count)
            self.expect("count", package.count_components(net) == truth, truth)
        count = min(found.component_count, 24)
        chosen = [found.components[i] for i in sorted({0, rng.randrange(count)})]
        for component in chosen:
            member = relabelled(rng, component.sample(rng.randrange(2**30)))
            self.members.append(member)
            self.expect("members are equal", self.equals(member), member)
            owners = [other.contains(member) for other in chosen]
            self.expect("one component", owners == [other is component for other in chosen], member)
            self.expect("membership", found.contains(member), member)
            if component is chosen[-1] and component.kind in ("visible", "one hidden layer"):
                rank = self.rank(member)
                least = reference.stratum_dimension(
                    member, member.domain if len(net.layers) == 2 else Orthant(net.widths[1])
                )
                least += net.widths[1] if len(net.layers) == 3 else 0
                self.expect("tangents", bool(rank.skipped) or net.parameter_count - rank.rank >= least, member)
            layer = rng.randrange(1, len(net.layers))
            others = [
                changed(rng, member),
                reference.with_opposite_unit(member, layer, rng.randrange(net.widths[layer])),
            ]
            for other in others:
                inside, equal = found.contains(other), self.equals(other)
                self.expect("soundness", equal or not inside, other)
                if equal and not inside:  # completeness is promised for generic members
                    self.expect("completeness", package.genericity(other).is_generic is not True, other)
        if found.complete:
            verdict = package.identifiability(net).is_identifiable
            single = found.component_count == 1 and found.dimension == sum(net.widths[1:-1])
            self.expect("identifiable", verdict == single, verdict, found.component_count, found.dimension)

    def complete(self) -> None:
        """All parameters of one hidden layer: membership is equality."""
        net, rng = self.net, self.rng
        if len(net.layers) != 2:
            return
        found = package.complete_fiber(net)
        self.expect("complete: own", found.locate(net) is not None)
        strata = [found.locate(net), *(found.strata[rng.randrange(min(found.stratum_count, 40))] for _ in range(2))]
        for stratum in strata:
            member = stratum.sample(rng.randrange(2**30))
            self.members.append(member)
            self.expect("strata: members are equal", self.equals(member), str(stratum.index), member)
            self.expect("strata: located", found.locate(member) == stratum, str(stratum.index), member)
            if stratum is strata[-1]:
                rank = self.rank(member)
                kernel = net.parameter_count - rank.rank
                self.expect(
                    "strata: tangents", bool(rank.skipped) or stratum.dimension <= kernel, str(stratum.index), member
                )
            self.expect("strata: dimension", stratum.dimension <= found.dimension)
        for other in [*self.members, changed(rng, rng.choice(self.members)), changed(rng, net)]:
            inside, equal = found.contains(other), self.equals(other)
            self.expect("complete: membership", inside == equal, other)

    def dimensions(self) -> None:
        """The rank of the Jacobian, and what explains its kernel."""
        net = self.net
        truth = self.rank(net)
        try:
            functional = package.functional_dimension(net)
        except UnsupportedError:
            self.expect("nowhere differentiable", truth.rank == 0 and truth.skipped > 0, truth)
            return
        self.expect("functional dimension", functional == truth.rank, functional, truth)
        explained = package.explain_dimension(net)
        self.expect("kernel", explained.kernel == net.parameter_count - truth.rank, explained.kernel)
        self.expect(
            "explained",
            explained.explained <= explained.kernel and sum(explained.by_symmetry.values()) == explained.kernel,
        )
        self.expect("skipped cells", (explained.skipped > 0) == (truth.skipped > 0), explained.skipped, truth.skipped)

    def sound(self) -> None:
        """What known symmetries generate; for every other network, as this takes longest."""
        if self.rng.random() < 0.5:
            return
        found = package.sound_fiber(self.net)
        member = found.sample(self.rng.randrange(2**30))
        self.members.append(member)
        self.expect("sound: equal", self.equals(member), member)
        if self.rng.random() < 0.5:  # a search
            self.expect("sound: membership", found.contains(member) is not False, member)
        other = changed(self.rng, member)
        inside, equal = found.contains(other), self.equals(other)
        self.expect(
            "sound: soundness", inside is None or (equal if inside else not equal or len(self.net.layers) > 2), other
        )

    def equality(self) -> None:
        """same_function against the oracle's cells, its certificate by two checkers, and solvers on a sample."""
        net, rng = self.net, self.rng
        moved = relabelled(rng, net)
        matched = package.match_units(net, moved)
        self.expect("matching", matched is not None, moved)
        partners = [moved, changed(rng, rng.choice([net, moved])), *rng.sample(self.members, min(1, len(self.members)))]
        proved_again = rng.choice(partners), rng.choice(["auto", "canonical"])
        for other in partners:
            truth = self.equals(other)
            for method in ("auto", "canonical"):
                answer = package.same_function(net, other, method)
                if answer.same is None:
                    self.refused[f"same_function {method}: undecided"] += 1
                    continue
                self.expect(f"same_function {method}", answer.same is truth, other)
                self.expect("certificate", answer.check(), other)
                if (other, method) == proved_again and not isinstance(net.domain, Polyhedron):
                    code, _ = small_checker(certificate_to_json(net, other, answer.certificate))
                    self.expect("small checker", code in (0, 3), code, other)
                    self.refused["small checker: not re-proved"] += code == 3
        if self.with_smt:
            for other in partners[:3]:
                point = same_by_smt(net, other, self.rng.choice(["z3", "cvc5"]), 20)
                self.expect("SMT", (point is None) == self.equals(other), other)

    def laws(self) -> None:
        """The number of conservation laws by all brackets, for the smallest networks."""
        net = self.net
        if net.parameter_count > 7 or isinstance(net.domain, Polyhedron) or self.rng.random() < 0.8:
            return  # the brackets of the judge grow fast
        patterns = lie_oracle.full_patterns(net)
        if not patterns:
            return
        found = package.conservation_laws(net)
        self.expect("laws: check", found.check())
        oracle = lie_oracle.Polynomials(net.widths, (True,) * len(net.layers), patterns)
        if len(oracle.fields) <= 8:
            total = len(oracle.names) - oracle.lie_ranks()[-1]
            self.expect("laws", found.total == total and found.independent <= total, found.total, total)

    def files(self) -> None:
        """Files come back as they were."""
        net = self.net
        if not isinstance(net.domain, Polyhedron):
            self.expect("network file", network_from_json(network_to_json(net), "written") == net)
        component = package.fiber(net).components[0]
        if self.with_smt:
            self.solvers(component)
        if self.rng.random() < 0.5:
            return
        read = package.from_json(package.to_json(component))
        self.expect("set file", read == document_of(component))
        for name in WRITERS if self.rng.random() < 0.2 else ["text"]:
            self.expect("writers", WRITERS[name](read) == WRITERS[name](component), name)

    def letters(self) -> None:
        """Letters in the place of numbers, for every other network: what is said of them is true of the numbers."""
        if self.rng.random() < 0.5:
            Letters(self).ask()

    def solvers(self, component: Any) -> None:
        """What is written for solvers holds at a member, and not beside it."""
        import z3

        point = component.sample(self.rng.randrange(2**30)).parameters
        name = self.rng.choice(sorted(point))
        for values in (point, {**point, name: point[name] + 1}):
            solver = z3.Solver()
            solver.from_string(WRITERS["smtlib"](component.set))
            for key, value in values.items():
                solver.add(z3.Real(str(key)) == z3.Q(int(value.p), int(value.q)))
            wanted = z3.sat if component.set.contains(values) else z3.unsat
            self.expect("SMT-LIB", solver.check() == wanted, name)


def hypotheses(net: Network) -> dict[str, bool]:
    """Give the truth of (G2)-(G5) of a bottleneck network, from the definitions."""
    rows, outgoing = reference.layer_rows(net.layers[1]), reference.columns_of(net.layers[2])
    size = net.widths[1]
    no_zeros = all(value for each in rows for value in each) and all(any(column) for column in outgoing)
    different = True
    for k in range(size):
        ratios = [each[-1] / each[k] for each in rows if each[k] * each[-1] < 0]
        different &= len(ratios) == len(set(ratios))
    masks = True
    axes = [[Fraction(i == j) for j in range(size)] for i in range(size)]
    for k in range(size):
        rest = [i for i in range(size) if i != k]
        for chosen in reference.subsets(len(rows))[1:]:
            if any(sum(outgoing[j][a] * rows[j][k] for j in chosen) for a in range(net.widths[3])):
                continue
            forms = [[(1 if j in chosen else -1) * value for value in (*(each[i] for i in rest), each[-1])]
                     for j, each in enumerate(rows)]  # fmt: skip
            walls = [[*(axes[i][j] for j in rest), Fraction(0)] for i in rest]
            if reference.is_strictly_feasible([*forms, *walls], size - 1):
                masks = False
    linear = reference.kinds(net).count("linear")
    full = reference.rank(reference.linear_product(net)) == min(net.widths[3], size, linear) if linear else True
    return {"G2": no_zeros, "G3": different, "G4": masks, "G5": full}


def brute_count(net: Network) -> int:
    """Give the number of sets S of nonlinear neurons that the spare ones can make up for, from the definition."""
    domain = net.domain if len(net.layers) == 2 else Orthant(net.widths[1])
    forms, outgoing = reference.layer_rows(net.layers[-2]), reference.columns_of(net.layers[-1])
    names = reference.kinds(net)
    nonlinear = [j for j, name in enumerate(names) if name == "nonlinear"]
    count = 0
    for chosen in reference.subsets(len(nonlinear)):
        sides = [nonlinear[j] for j in chosen]
        matrix = reference.plus_products(reference.linear_product(net), forms, outgoing, sides)
        if isinstance(domain, package.Space):
            count += not reference.rank(matrix)
        else:
            needed = reference.rank if isinstance(domain, Box) else reference.nonnegative_column_rank
            count += needed(matrix) <= len(names) - len(nonlinear)
    return count


_script = importlib.util.spec_from_file_location("check_certificate", HERE / "check_certificate.py")
assert _script is not None
_checker = importlib.util.module_from_spec(_script)
assert _script.loader is not None
_script.loader.exec_module(_checker)


def small_checker(text: str) -> tuple[int, str]:
    """Give what tools/check_certificate.py says of the text."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        code, sentence = _checker.main(file.name, 200_000)
        return code, sentence


# the run


def examine(base: int, seed: int, with_smt: bool) -> dict[str, Any]:
    """Give the record of one network."""
    rng = random.Random(f"{base} {seed}")
    kind, net = network(rng)
    examination = Examination(net, rng, with_smt)
    try:
        within(PATIENCE, examination.run)
    except OutOfTime:  # it ended between two questions
        examination.refused["time"] += 1
    if examination.faults:
        examination.faults[0]["network"] = repr(net)
    return {
        "seed": seed,
        "kind": kind,
        "checks": dict(examination.checks),
        "refused": {name: count for name, count in examination.refused.items() if count},
        "faults": examination.faults,
    }


def lines_of(path: Path, base: int) -> list[dict[str, Any]]:
    """Give what is recorded, after dropping a line that was cut short; begin a new file with its base."""
    head = json.dumps({"campaign": 1, "base": base})
    if not path.exists() or b"\n" not in path.read_bytes():
        path.write_text(head + "\n")
    whole = path.read_bytes()
    kept = whole[: whole.rfind(b"\n") + 1]
    if kept != whole:
        os.truncate(path, len(kept))
    first, *lines = kept.decode().splitlines()
    if first != head:
        sys.exit(f"{path} is a record of another campaign: {first[:80]}")
    return [json.loads(line) for line in lines]


def told(records: list[dict[str, Any]]) -> Iterator[str]:
    """Summarise the records."""
    checks: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for record in records:
        checks.update(record["checks"])
        refused.update(record["refused"])
        kinds["broken" if "," in record["kind"] else "as drawn"] += 1
        kinds[record["kind"].split(",")[0].split(" ")[0]] += 1
    faults = [record["seed"] for record in records if record["faults"]]
    yield f"{len(records)} networks: {dict(sorted(kinds.items()))}"
    yield f"{sum(checks.values())} checks: {dict(sorted(checks.items()))}"
    yield f"refused, undecided or out of time: {dict(sorted(refused.items()))}"
    yield f"{len(faults)} networks with faults: {faults[:50]}"


def main() -> int:
    """Run, record, summarise."""
    parser = argparse.ArgumentParser(description="A long run over random networks, recorded and resumed.")
    parser.add_argument("record", type=Path)
    parser.add_argument("--networks", type=int, default=1000, help="seeds 0 to this, minus one")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--base", type=int, default=1, help="another base gives other networks")
    parser.add_argument("--smt", type=int, default=50, help="every so many networks solvers are asked too; 0 for never")
    parser.add_argument("--only", type=int, help="examine this seed alone; nothing is recorded")
    given = parser.parse_args()
    if given.only is not None:
        record = examine(given.base, given.only, bool(given.smt) and given.only % given.smt == 0)
        print(json.dumps(record, indent=1))
        for fault in record["faults"]:
            print(fault["shown"])
        return bool(record["faults"])
    records, start = lines_of(given.record, given.base), time.monotonic()
    done = {record["seed"] for record in records}
    with given.record.open("a") as file:
        for seed in range(given.networks):
            if seed in done:
                continue
            if time.monotonic() - start > given.seconds:
                break
            records.append(examine(given.base, seed, bool(given.smt) and seed % given.smt == 0))
            file.write(json.dumps(records[-1]) + "\n")
            file.flush()
    print("\n".join(told(records)))
    return any(record["faults"] for record in records)


if __name__ == "__main__":
    sys.exit(main())
