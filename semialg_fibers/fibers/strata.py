"""The strata of the complete fiber of one hidden layer: which neurons do what.

Main definitions
    StratumIndex     how many neurons stand on each hyperplane and side, ghosts, linear ones with their rank, dead ones
    Frame            what all strata of one function share: its arrangement, width, domain
    Stratum          all members with one index: dimension, exact samples, membership

Main results
    Frame.index_of   reads the index off a network, None when it is not the same function

References: beyond §1.2, §1.4.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from flint import fmpq

from semialg_fibers.errors import InvalidNetworkError
from semialg_fibers.fibers.balance import Balance
from semialg_fibers.fibers.balance_solution import draw, random_bounded
from semialg_fibers.fibers.component import exact_layers
from semialg_fibers.geometry.domain import Domain, Form, negated
from semialg_fibers.geometry.linear import Matrix
from semialg_fibers.geometry.recession import Recession, recession
from semialg_fibers.geometry.scalar import ZERO, Vector, dot, quantity
from semialg_fibers.geometry.semialgebraic import random_positive, random_rational
from semialg_fibers.networks.arrangement import Arrangement, arrangement, oriented
from semialg_fibers.networks.layer import Network
from semialg_fibers.networks.neuron_kind import DEAD, LINEAR, classify

Sides = tuple[int, int]


@dataclass(frozen=True, order=True)
class StratumIndex:
    """Which neurons do what, up to relabelling.

    `essential[i]` = (P, N): so many neurons open to the positive side of the essential hyperplane i (as the arrangement
    orients it), so many to the other. `ghosts` has such a pair, the larger number first, for each group of neurons on a
    common further hyperplane, whose effects cancel; one alone has no outgoing weights. `linear` neurons never switch,
    and their outgoing columns have rank `rank`. `dead` neurons are never active.
    """

    essential: tuple[Sides, ...]
    ghosts: tuple[Sides, ...]
    linear: int
    rank: int
    dead: int

    @property
    def width(self) -> int:
        """The number of neurons."""
        return sum(map(sum, self.essential)) + sum(map(sum, self.ghosts)) + self.linear + self.dead

    @property
    def flipped(self) -> tuple[int, ...]:
        """The essential hyperplanes whose neurons all open to the negative side."""
        return tuple(i for i, (plus, _) in enumerate(self.essential) if not plus)

    @property
    def split(self) -> tuple[int, ...]:
        """The essential hyperplanes with neurons on both sides."""
        return tuple(i for i, (plus, minus) in enumerate(self.essential) if plus and minus)

    @property
    def split_ghosts(self) -> int:
        """The number of ghost groups with neurons on both sides."""
        return sum(1 for _, minus in self.ghosts if minus)

    def __str__(self) -> str:
        """Say it in words, counting hyperplanes from 1."""
        words = []
        for i, (plus, minus) in enumerate(self.essential, 1):
            side = "kept" if not minus else "flipped" if not plus else "split"
            count = "" if plus + minus == (2 if side == "split" else 1) else f" ({plus + minus} neurons)"
            words.append(f"hyperplane {i} {side}{count}")
        for plus, minus in self.ghosts:
            words.append(f"{'split ghost' if minus else 'ghost'} of {plus + minus}")
        if self.linear:
            words.append(f"{self.linear} linear of rank {self.rank}")
        if self.dead:
            words.append(f"{self.dead} dead")
        return ", ".join(words) or "no neuron"


@dataclass(frozen=True)
class Frame:
    """What all members of the fiber share: domain, width, and the arrangement that determines the function."""

    domain: Domain
    width: int
    data: Arrangement

    @cached_property
    def cone(self) -> Recession:
        """The recession cone of the domain."""
        return recession(self.domain)

    @property
    def m(self) -> int:
        """The number of outputs."""
        return len(self.data.constant)

    @property
    def p(self) -> int:
        """The number of inputs."""
        return self.domain.dimension

    @property
    def planes(self) -> tuple[tuple[int, ...], ...]:
        """The essential hyperplanes a_i = (w_i, γ_i), oriented."""
        return tuple(plane for plane, _ in self.data.hyperplanes)

    @property
    def jumps(self) -> tuple[Vector, ...]:
        """The jumps J_i across them."""
        return tuple(jump for _, jump in self.data.hyperplanes)

    def balance(self, flipped: Sequence[int], split: Sequence[int]) -> Balance:
        """Give the balance equation for these sides.

        Implements: beyond §1.2.
        """
        return _balance(self, tuple(flipped), tuple(split))

    def index_of(self, net: Network) -> StratumIndex | None:
        """Give the only index whose stratum contains the network, or None when it is no member of the fiber.

        Implements: beyond §1.2.
        """
        if net.domain != self.domain or net.widths != (self.p, self.width, self.m):
            return None
        if arrangement(net) != self.data:
            return None
        inner, outer = net.layers
        groups: dict[tuple[int, ...], list[int]] = {plane: [0, 0] for plane in self.planes}
        linear, dead = [], 0
        for j, form in enumerate(inner.forms):
            kind = classify(form, self.domain)
            if kind == DEAD:
                dead += 1
            elif kind == LINEAR:
                linear.append(j)
            else:
                plane, scale = oriented(form)
                groups.setdefault(plane, [0, 0])[scale < 0] += 1
        essential = tuple((groups[plane][0], groups[plane][1]) for plane in self.planes)
        others = [tuple(sorted(sides, reverse=True)) for plane, sides in groups.items() if plane not in self.planes]
        ghosts = tuple(sorted(((a, b) for a, b in others), reverse=True))
        rank = outer.matrix.select(columns=linear).rank()
        return StratumIndex(essential, ghosts, len(linear), rank, dead)


@lru_cache(maxsize=4096)
def _balance(frame: Frame, flipped: tuple[int, ...], split: tuple[int, ...]) -> Balance:
    matrix = frame.data.linear
    for i in flipped:
        column = Matrix.from_columns([frame.jumps[i]], frame.m)
        matrix = matrix + column @ Matrix.from_integers([frame.planes[i][:-1]], columns=frame.p)
    rows = Matrix.from_integers([frame.planes[i][:-1] for i in split], columns=frame.p)
    return Balance(matrix, rows, frame.cone)


@dataclass(frozen=True, repr=False)
class Stratum:
    """All members of the fiber with one index: Σ λ_j C_j = J_i on each essential hyperplane, 0 on each ghost, balance.

    Strata with different indices are disjoint.
    """

    frame: Frame
    index: StratumIndex

    def __repr__(self) -> str:
        """Name the index in words."""
        return f"<stratum: {self.index}>"

    @property
    def balance(self) -> Balance:
        """The balance equation of its sides."""
        return self.frame.balance(self.index.flipped, self.index.split)

    @property
    def is_feasible(self) -> bool:
        """Whether the stratum has a member."""
        return self._balance_dimension is not None

    @cached_property
    def _balance_dimension(self) -> int | None:
        piece = self.balance.largest(self.index.linear, self.index.rank, self.index.split_ghosts)
        return None if piece is None else piece.dimension

    @cached_property
    def dimension(self) -> int:
        """The dimension: scales and outgoing columns of each group, the balance equation, biases, dead neurons.

        Implements: beyond §1.4.
        """
        assert self._balance_dimension is not None  # only feasible strata are made
        return self._balance_dimension + offset_dimension(self.frame, self.index)

    def contains(self, net: Network) -> bool:
        """Say whether the network is a member, under any labelling of its neurons."""
        return self.frame.index_of(net) == self.index

    def sample(self, seed: int = 0) -> Network:
        """Give an exact member; the same seed gives the same one.

        Raises:
            BudgetExceededError: when random choices failed again and again.
        """
        return self.draw(random.Random(seed))

    def draw(self, rng: random.Random) -> Network:
        """Give a random exact member, from the part of the largest dimension, its neurons in random order."""
        index, frame = self.index, self.frame
        solution = draw(self.balance, index.linear, index.rank, index.split_ghosts, rng)
        neurons: list[tuple[Form, Vector]] = []
        constant = list(frame.data.constant)
        split = iter(solution.split.columns())
        planes = [tuple(map(fmpq, plane)) for plane in frame.planes]
        for plane, jump, sides in zip(planes, frame.jumps, index.essential, strict=True):
            turned = (ZERO,) * frame.m if not sides[1] else jump if not sides[0] else next(split)
            neurons += _group(plane, jump, turned, sides, rng)
            constant = [a + b * plane[-1] for a, b in zip(constant, turned, strict=True)]
        ghosts = list(zip(solution.ghost.columns(), solution.ghost_rows.rows(), strict=True))
        taken = set(frame.planes)
        for sides in index.ghosts:
            turned, weights = ghosts.pop() if sides[1] else ((ZERO,) * frame.m, ())
            plane = _fresh_plane(frame.domain, weights, taken, rng)
            neurons += _group(plane, (ZERO,) * frame.m, turned, sides, rng)
            constant = [a + b * plane[-1] for a, b in zip(constant, turned, strict=True)]
        for row, column in zip(solution.linear_rows.rows(), solution.outgoing.columns(), strict=True):
            lowest = frame.domain.infimum((*row, ZERO))
            assert lowest is not None  # the row is bounded below
            bias = random_positive(rng) - lowest
            neurons.append(((*row, bias), column))
            constant = [a - weight * bias for a, weight in zip(constant, column, strict=True)]
        neurons += [_dead(frame, rng) for _ in range(index.dead)]
        rng.shuffle(neurons)
        forms, outgoing = [form for form, _ in neurons], [column for _, column in neurons]
        return Network(exact_layers(forms, outgoing, tuple(constant)), frame.domain)


def offset_dimension(frame: Frame, index: StratumIndex) -> int:
    """Give the dimension of all that the balance equation does not see.

    t neurons on one hyperplane: t scales, t outgoing columns, less m for each of Σ λC = J and (split) Σ_N λC = x; the
    weights of a ghost count as p, of which those of a split one stand in the balance equation.

    Implements: beyond §1.4.
    """
    m, p = frame.m, frame.p
    total = sum((plus + minus) * (1 + m) - m * (1 + int(bool(plus and minus))) for plus, minus in index.essential)
    total += sum((plus + minus) * (1 + m) + (-2 * m if minus else p - m) for plus, minus in index.ghosts)
    return total + index.linear + index.dead * (1 + m + frame.cone.dimension)


def _group(plane: Form, jump: Vector, turned: Vector, sides: Sides, rng: random.Random) -> list[tuple[Form, Vector]]:
    """Give P + N neurons ± λ_j a on one hyperplane with Σ_P λ_j C_j = jump − turned and Σ_N λ_j C_j = turned."""
    neurons: list[tuple[Form, Vector]] = []
    rest = tuple(a - b for a, b in zip(jump, turned, strict=True))
    for sign, count, total in ((1, sides[0], rest), (-1, sides[1], turned)):
        left = list(total)
        for k in range(count):
            scale = random_positive(rng)
            part = left if k == count - 1 else [random_rational(rng) for _ in left]
            left = [a - b for a, b in zip(left, part, strict=True)]
            neurons.append((tuple(sign * scale * value for value in plane), tuple(value / scale for value in part)))
    return neurons


def _fresh_plane(domain: Domain, weights: Vector, taken: set[tuple[int, ...]], rng: random.Random) -> Form:
    """Give a hyperplane through the interior of the domain that is not taken yet, with these weights if given."""
    while True:
        normal = weights or tuple(random_rational(rng) for _ in range(domain.dimension))
        if not any(normal):
            continue
        inside = _interior_point(domain, rng)
        form = (*normal, -dot(normal, inside))
        plane, _ = oriented(form)
        if plane not in taken:
            taken.add(plane)
            return form if weights or rng.random() < 0.5 else negated(form)


def _interior_point(domain: Domain, rng: random.Random) -> Vector:
    """Give a random interior point: between the middle and one that is far in a random direction."""
    point = domain.interior_point()
    for _ in range(domain.dimension):
        form = tuple(random_rational(rng) for _ in range(domain.dimension + 1))
        far = domain.positive_point(form)
        if far is not None:
            share = fmpq(rng.randint(0, 7), 8)
            point = tuple(a + share * (b - a) for a, b in zip(point, far, strict=True))
    return point


def _dead(frame: Frame, rng: random.Random) -> tuple[Form, Vector]:
    """Give a neuron that is never active, with any outgoing column."""
    row = negated(random_bounded(frame.cone.bounded, 1, rng).row(0))
    highest = frame.domain.supremum((*row, ZERO))
    assert highest is not None  # minus the row is bounded below
    form = (*row, -highest - rng.choice([ZERO, random_positive(rng)]))
    return form, tuple(random_rational(rng) for _ in range(frame.m))


def checked_index(frame: Frame, index: StratumIndex) -> StratumIndex:
    """Refuse an index that does not fit the frame.

    Raises:
        InvalidNetworkError: when it has another number of hyperplanes or neurons, or no feasible sides.
    """
    if len(index.essential) != len(frame.planes) or index.width != frame.width:
        raise InvalidNetworkError(
            f"an index of this fiber has {quantity(len(frame.planes), 'essential hyperplane')} and "
            f"{quantity(frame.width, 'neuron')}, got "
            f"{len(index.essential)} and {index.width}"
        )
    return index
