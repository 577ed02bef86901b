"""Tournaments that play until strengths are known well enough, or a budget is used up.

`tournament` asks a function for sessions, rates the players, and looks whether every interval is
narrow enough. Looks are planned in advance, with sessions growing by a constant factor, and
intervals are repeated confidence intervals over all planned looks (`sequential`): stopping early
costs nothing of their level. Seats are rotated, so that nobody profits from sitting first.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from agon.analysis.ratings import Match, Model, Ratings, rate
from agon.analysis.results import LEVEL, Result
from agon.analysis.sequential import repeated_level

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Pairing = tuple[str, ...]
"""Who sits where in a session."""

Play = Callable[[Pairing, int], Sequence[Match]]
"""Plays a pairing some times and returns a match for each session."""

Kind = Literal["round_robin", "swiss"]


@dataclass(frozen=True)
class Look:
    """What was known after a batch of sessions: the half width of the widest interval."""

    sessions: int
    dollars: float | None
    widest: float


@dataclass(frozen=True)
class Standing(Result):
    """How a tournament ended."""

    ratings: Ratings
    matches: tuple[Match, ...]
    looks: tuple[Look, ...]
    planned_looks: int
    level: float
    level_per_look: float
    stopped: str

    def frame(self) -> pd.DataFrame:
        """A row per player, the strongest first: strength, interval, ranks, sessions, points.

        `points` is the mean share of other seats that the player's payoff exceeded, ties half.
        """
        frame = self.ratings.frame()
        played, points = _points(self.matches)
        frame["sessions"] = [played[name] for name in frame["name"]]
        frame["points"] = [
            points[name] / played[name] if played[name] else np.nan for name in frame["name"]
        ]
        return frame

    def heading(self) -> str:
        """Why it stopped, what was spent, and how looks are accounted for."""
        last = self.looks[-1]
        cost = "" if not last.dollars else f", {last.dollars:.2f} dollars"
        return (
            f"{last.sessions} sessions{cost}, stopped after look {len(self.looks)} of at most "
            f"{self.planned_looks}: {self.stopped}\n{100 * self.level:g} % intervals over all "
            f"planned looks ({100 * self.level_per_look:.2f} % at each); Elo points"
        )

    def figure(self) -> Figure:
        """Strengths with intervals."""
        return self.ratings.figure()


def tournament(
    players: Sequence[str],
    play: Play,
    goal: float,
    most_sessions: int,
    kind: Kind = "round_robin",
    seats: int = 2,
    first: int = 2,
    growth: float = 1.6,
    most_dollars: float | None = None,
    model: Model = "bradley_terry",
    level: float = LEVEL,
    seed: int = 1,
) -> Standing:
    """Play until every strength is known within `goal` Elo points, or the budget is used up.

    `goal`: half width of an interval. `most_sessions`, `most_dollars`: the budget; a batch that
    would exceed it by the mean cost so far is not begun, and one session is played first to learn
    what one costs. `kind`: `round_robin` begins with all pairings of `seats` players
    and then plays most where intervals are widest; `swiss` pairs players of like points (two
    seats). `first`: times that each pairing is played before the first look (for `swiss`, rounds
    for each player). `growth`: how many times as many sessions there are at each next look.
    """
    roster = list(players)
    if len(set(roster)) != len(roster) or len(roster) < 2:
        raise ValueError("a roster needs at least two players of different names")
    if kind == "swiss" and seats != 2:
        raise ValueError("a Swiss tournament has two seats")
    if not 2 <= seats <= len(roster):
        raise ValueError(f"{seats} seats cannot be filled from {len(roster)} players")
    if growth <= 1.0:
        raise ValueError("growth must be above 1")
    plan = looks_planned(_first_batch(roster, kind, seats, first), most_sessions, growth)
    each = repeated_level([float(sessions) for sessions in plan], level)
    generator = np.random.default_rng(seed)
    matches: list[Match] = []
    met: Counter[Pairing] = Counter()
    looks: list[Look] = []
    ratings: Ratings | None = None
    stopped = "the planned sessions are played"
    if most_dollars is not None:
        # What a session costs is known once one is played.
        matches += _played(_widest_first(roster, seats, 1, met, None), play, met)
    for target in plan:
        count = target - len(matches)
        expected = _expected_dollars(matches, count, most_dollars)
        if most_dollars is not None and expected > most_dollars:
            stopped = "the next batch would exceed the budget"
            break
        if kind == "round_robin":
            schedule = _widest_first(roster, seats, count, met, ratings)
        else:
            schedule = _swiss(roster, count, matches, met, generator)
        matches += _played(schedule, play, met)
        ratings = rate(matches, roster, model, each)
        widest = max(strength.width / 2.0 for strength in ratings.strengths)
        looks.append(Look(len(matches), _spent(matches), widest))
        if widest <= goal:
            stopped = f"every strength is known within {goal:g} points"
            break
    if ratings is None:
        raise ValueError("the budget does not allow a first batch")
    return Standing(ratings, tuple(matches), tuple(looks), len(plan), level, each, stopped)


def looks_planned(first: int, most: int, growth: float) -> list[int]:
    """Total sessions at each look: `first`, then growing by the factor; at most `most`."""
    if first > most:
        raise ValueError(f"the first batch takes {first} sessions, the budget allows {most}")
    plan = [first]
    while math.ceil(plan[-1] * growth) <= most:
        plan.append(math.ceil(plan[-1] * growth))
    return plan


def swiss_pairs(order: Sequence[str], met: Mapping[frozenset[str], int]) -> list[tuple[str, str]]:
    """Pairs neighbours in an order of points; those who met least often first.

    With an odd number one player sits out who has played most; of these the last in the order.
    Rematches are avoided while there is a pairing without them.
    """
    for allowed in range(max(met.values(), default=0) + 1):
        pairs = _paired(list(order), met, allowed)
        if pairs is not None:
            return pairs
    raise AssertionError("any pairing is allowed in the end")


def _paired(
    order: list[str], met: Mapping[frozenset[str], int], allowed: int
) -> list[tuple[str, str]] | None:
    if len(order) % 2 == 1:
        played: Counter[str] = Counter()
        for pair, times in met.items():
            for name in pair:
                played[name] += times
        spared = sorted(range(len(order)), key=lambda place: (-played[order[place]], -place))
        for place in spared:
            pairs = _paired(order[:place] + order[place + 1 :], met, allowed)
            if pairs is not None:
                return pairs
        return None
    if not order:
        return []
    for place in range(1, len(order)):
        if met.get(frozenset((order[0], order[place])), 0) > allowed:
            continue
        rest = _paired(order[1:place] + order[place + 1 :], met, allowed)
        if rest is not None:
            return [(order[0], order[place]), *rest]
    return None


def _first_batch(roster: Sequence[str], kind: Kind, seats: int, first: int) -> int:
    if kind == "round_robin":
        return math.comb(len(roster), seats) * first
    return (len(roster) // 2) * first


def _widest_first(
    roster: Sequence[str],
    seats: int,
    count: int,
    met: Mapping[Pairing, int],
    ratings: Ratings | None,
) -> list[Pairing]:
    """Pairings of the next batch: evenly at first, then where they narrow the widest interval.

    A pairing's priority is the sum of its players' variances, divided by how often it was played
    (as if each session added the same information).
    """
    groups = list(itertools.combinations(roster, seats))
    times = {group: met.get(group, 0) for group in groups}
    variance = dict.fromkeys(roster, 1.0)
    if ratings is not None:
        variance = dict(zip(roster, np.diag(ratings.covariance), strict=True))
    schedule = []
    for _ in range(count):
        least = min(times.values())
        if ratings is None:
            group = min(groups, key=lambda one: times[one])
        else:
            # No pairing falls behind by more than half, so that all stay comparable.
            behind = [one for one in groups if times[one] <= 2 * least]
            group = max(
                behind, key=lambda one: sum(variance[name] for name in one) / (1 + times[one])
            )
        times[group] += 1
        schedule.append(group)
    return schedule


def _swiss(
    roster: Sequence[str],
    count: int,
    matches: Sequence[Match],
    met: Mapping[Pairing, int],
    generator: np.random.Generator,
) -> list[Pairing]:
    """Pairings of Swiss rounds; points are those known before the batch."""
    played, points = _points(matches)
    mean = {name: points[name] / played[name] if played[name] else 0.5 for name in roster}
    times: Counter[frozenset[str]] = Counter()
    for pair, number in met.items():
        times[frozenset(pair)] += number
    schedule: list[Pairing] = []
    while len(schedule) < count:
        shuffled = [roster[place] for place in generator.permutation(len(roster))]
        order = sorted(shuffled, key=lambda name: -mean[name])
        pairs = swiss_pairs(order, times)[: count - len(schedule)]
        for pair in pairs:
            times[frozenset(pair)] += 1
        ordered = {name: place for place, name in enumerate(roster)}
        schedule += [tuple(sorted(pair, key=lambda name: ordered[name])) for pair in pairs]
    return schedule


def _played(schedule: Sequence[Pairing], play: Play, met: Counter[Pairing]) -> list[Match]:
    """Plays a batch: each pairing in turn with all its rotations of seats."""
    seated: Counter[Pairing] = Counter()
    for group in schedule:
        turn = met[group] % len(group)
        seated[group[turn:] + group[:turn]] += 1
        met[group] += 1
    matches: list[Match] = []
    for pairing, repeats in seated.items():
        results = list(play(pairing, repeats))
        if len(results) != repeats or any(set(one.seats) != set(pairing) for one in results):
            raise ValueError(f"play must return {repeats} matches of {pairing}")
        matches += results
    return matches


def _points(matches: Sequence[Match]) -> tuple[Counter[str], dict[str, float]]:
    played: Counter[str] = Counter()
    points: defaultdict[str, float] = defaultdict(float)
    for match in matches:
        for seat, name in enumerate(match.seats):
            others = [paid for place, paid in enumerate(match.payoffs) if place != seat]
            own = match.payoffs[seat]
            beaten = sum(1.0 if own > paid else 0.5 if own == paid else 0.0 for paid in others)
            points[name] += beaten / len(others)
            played[name] += 1
    return played, points


def _spent(matches: Sequence[Match]) -> float | None:
    costs = [match.dollars for match in matches]
    return None if None in costs else float(sum(cost for cost in costs if cost is not None))


def _expected_dollars(matches: Sequence[Match], count: int, most: float | None) -> float:
    """What will have been spent after `count` more sessions at their mean cost so far."""
    if most is None or not matches:
        return 0.0
    spent = _spent(matches)
    if spent is None:
        raise ValueError("sessions of unknown cost cannot be kept within a budget of dollars")
    return spent * (1.0 + count / len(matches))
