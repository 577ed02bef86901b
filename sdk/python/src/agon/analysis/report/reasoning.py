"""Analyses of choices: level-k, cognitive hierarchy, quantal response and strategies.

`catalogue` lists them; numbers come from the other modules of `agon.analysis`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from agon.analysis import symmetric
from agon.analysis.guessing import GuessingGame, choices_of, fit_hierarchy, fit_levels
from agon.analysis.quantal import Counts, fit_quantal, trace_branch
from agon.analysis.repeated import LIBRARY
from agon.analysis.report.figures import _grouped_figure, _quantal_figure, _sized
from agon.analysis.report.groups import Group
from agon.analysis.report.sections import Found, LeftOut
from agon.analysis.report.text import _first, _listed
from agon.analysis.results import FloatArray, estimates_figure
from agon.analysis.strategies import Play, fit_strategies, plays_of, prescribed

_FEWEST_CHOICES = 5
"""Level-k has four free parameters: with fewer choices than these it says nothing."""

_FEW_CHOICES = 30
"""Below this number a section says that its data are few (docs/statistics.md has coverage)."""

_MOST_NUMBERS = 21
_MOST_GUESSES = 40
"""Numbers of public goods, and numbers times players of guessing games, in quantal response."""

_LEVELS = 3
"""Levels of reasoning above 0 that are told apart."""

_SAME_TARGET = 1e-6
"""Targets that are closer than this share of the range are the same."""

_FEWEST_POINTS = 10
"""With fewer points the branch of equilibria was left before it was followed."""

_SHOWN_SHARE = 0.01
"""Share of a strategy from which on a figure shows it."""


def _guesses(group: Group) -> tuple[GuessingGame, dict[str, FloatArray], list[str]]:
    """The guessing game of a group, first numbers by player, and what must be said of them."""
    params, caveats = group.params, ["Only first rounds, whose numbers are independent."]
    actions = _of_first_sessions(group, caveats)
    if group.game != "beauty_contest":
        game = GuessingGame.of(params)
        found = {name: choices_of(actions, name) for name in group.players}
        if group.game == "guess_to_survive":
            caveats.append("What a lost round costs in later ones is not in these models.")
        return game, _enough(found), caveats
    bounds = {
        one["session"]: float(event["facts"]["bound"])
        for one in group.data
        for event in one["events"]
        if event["event"] == "briefing"
    }
    largest = max(bounds.values())
    if len(set(bounds.values())) > 1:
        # The game is the same in any unit, since its smallest number is 0.
        factors = actions["session"].map(lambda session: largest / bounds[session])
        actions = actions.assign(number=actions["number"] * factors)
        caveats.append(f"Bounds differ by session: numbers are scaled to a bound of {largest:g}.")
    game = GuessingGame(params["ratio"], 0.0, largest, None, int(params["players"]))
    return game, _enough({name: choices_of(actions, name) for name in group.players}), caveats


def _enough(found: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    enough = {name: own for name, own in found.items() if own.size >= _FEWEST_CHOICES}
    if not enough:
        most = max((own.size for own in found.values()), default=0)
        raise LeftOut(
            f"no player has {_FEWEST_CHOICES} first-round choices (the most is {most}): "
            "play more sessions"
        )
    return enough


def _few_choices(found: Mapping[str, FloatArray], players: Sequence[str]) -> list[str]:
    caveats = []
    few = [f"{name} {own.size}" for name, own in found.items() if own.size < _FEW_CHOICES]
    if few:
        caveats.append(f"Few choices, so intervals are rough: {', '.join(few)}.")
    missing = [name for name in players if name not in found]
    if missing:
        caveats.append(f"Left out with fewer than {_FEWEST_CHOICES} choices: {', '.join(missing)}.")
    return caveats


def _of_first_sessions(group: Group, caveats: list[str]) -> pd.DataFrame:
    """What was answered in sessions that come after no other, on which later ones depend."""
    first = {one["session"] for one in group.data if one["spec"]["luck"].get("place", 0) == 0}
    if len(first) < len(group.data):
        caveats.append("Of series only the first sessions.")
    actions: pd.DataFrame = group.frames["actions"]
    found: pd.DataFrame = actions[actions["session"].isin(first)]
    return found


def _alike(game: GuessingGame) -> list[str]:
    """What must be said of levels that cannot be told apart."""
    targets = game.level_targets(_LEVELS)
    alike = [
        f"{level} and {level + 1}"
        for level in range(1, _LEVELS)
        if abs(targets[level] - targets[level + 1]) < _SAME_TARGET * (game.high - game.low)
    ]
    if not alike:
        return []
    return [f"Only the sum is known of levels {', '.join(alike)}, whose targets are the same."]


def _level_k(group: Group) -> Found:
    game, found, caveats = _guesses(group)
    caveats += _alike(game)
    fits = {name: fit_levels(own, game) for name, own in found.items()}
    rows = pd.concat(
        [fit.frame().assign(player=name, choices=fit.observations) for name, fit in fits.items()]
    )
    shares = {name: fit.shares for name, fit in fits.items()}
    return Found(
        _first(rows, "player", "choices"),
        lambda: _grouped_figure(shares, "Levels of reasoning", "share of first choices"),
        (*caveats, *_few_choices(found, group.players)),
        results=fits,
    )


def _hierarchy(group: Group) -> Found:
    game, found, caveats = _guesses(group)
    fits = {name: fit_hierarchy(own, game) for name, own in found.items()}
    rows = pd.concat(
        [fit.frame().assign(player=name, choices=fit.observations) for name, fit in fits.items()]
    )
    if any(fit.tau.value > 9.99 for fit in fits.values()):
        caveats.append("Tau is searched from 0 to 10: 10 stands for 10 or more.")
    taus = [replace(fit.tau, name=name) for name, fit in fits.items()]
    return Found(
        _first(rows, "player", "choices"),
        lambda: _sized(estimates_figure(taus, "Poisson cognitive hierarchy", "mean level tau")),
        (*caveats, *_few_choices(found, group.players)),
        results=fits,
    )


def _round_game(group: Group) -> tuple[symmetric.SymmetricGame, str]:
    """One round of a game with few actions, and what that leaves out."""
    params, size = group.params, len(group.data[0]["spec"]["seats"])
    if group.game == "diners_dilemma":
        cheap = params["cheap_utility"], params["costly_utility"]
        costs = params["cheap_cost"], params["costly_cost"]
        dishes = [(float(c), float(u)) for c, u in zip(costs, cheap, strict=True)]
        return symmetric.diners_dilemma(size, *dishes), ""
    if group.game == "el_farol":
        pays = (float(params[name]) for name in ("max", "min", "home"))
        return symmetric.el_farol(size, params["ratio"], *pays), ""
    if group.game == "public_goods":
        numbers = _few(0, params["tokens"], _MOST_NUMBERS)
        every = len(numbers) == params["tokens"] + 1
        game = symmetric.public_goods(numbers, size, params["tokens"], params["ratio"])
    elif group.game == "divide_dollar":
        numbers = sorted({*_few(0, params["golds"], 11), params["golds"] // size})
        every = len(numbers) == params["golds"] + 1
        game = symmetric.divide_dollar(numbers, size, params["golds"])
    else:
        numbers, every = list(range(params["min"], params["max"] + 1)), True
        if params["tie"] != "all":
            raise LeftOut('the model has the tie rule "all" only')
        if len(numbers) * size > _MOST_GUESSES:
            raise LeftOut(
                f"{len(numbers)} numbers and {size} players take too long, and fewer numbers have "
                "other equilibria (symmetric.guess makes games of few numbers)"
            )
        game = symmetric.guess(numbers, size, params["ratio"])
    return game, "" if every else f"Each number counts as the nearest of {_listed(numbers)}."


def _few(low: int, high: int, count: int) -> list[int]:
    """Whole numbers spread evenly from low to high."""
    return sorted({round(float(number)) for number in np.linspace(low, high, count)})


def _quantal(group: Group) -> Found:
    game, note = _round_game(group)
    caveats = ["Only first rounds. Each player is fitted as if all seats played like it."]
    actions = _of_first_sessions(group, caveats)
    first = actions[(actions["turn"] == 1) & ~actions["forfeited"].astype(bool)]
    counts = {}
    for name in group.players:
        own = first[first["player"] == name]
        if group.game in ("diners_dilemma", "el_farol"):
            said = [json.loads(text) for text in own["action"].dropna()]
            if len(said) >= _FEWEST_CHOICES:
                # Where other words are taken, they count as the second of the two.
                one = said.count(game.names[0])
                counts[name] = Counts.of(game, [one, len(said) - one])
        elif len(own) >= _FEWEST_CHOICES:
            counts[name] = Counts.of_numbers(game, own["number"].to_numpy(dtype=np.float64))
    if not counts:
        raise LeftOut(f"no player has {_FEWEST_CHOICES} first-round choices: play more sessions")
    ends = [game.utilities(np.eye(game.size)[place]) for place in range(game.size)]
    # As fit_quantal does without a branch, which would trace it again for every player.
    branch = trace_branch(game, 200.0 / (float(np.ptp(np.concatenate(ends))) or 1.0))
    if branch.precisions.size < _FEWEST_POINTS:
        raise LeftOut("all choices pay nearly the same against players who choose at random")
    fits = {name: fit_quantal(own, branches=[branch]) for name, own in counts.items()}
    rows = pd.DataFrame(
        [
            {
                "player": name,
                "choices": fit.observations,
                "lambda": fit.precision.value,
                "low": fit.precision.low,
                "high": fit.precision.high,
                "log_likelihood": fit.log_likelihood,
                "of chance": -fit.observations * math.log(game.size),
            }
            for name, fit in fits.items()
        ]
    )
    caveats += [note] if note else []
    top = float(branch.precisions.max())
    if any(fit.precision.high >= top * (1.0 - 1e-6) for fit in fits.values()):
        caveats.append(f"Lambda is searched up to {top:.4g}: intervals that end there have no end.")
    few = {name: np.empty(int(sum(own.counts[0]))) for name, own in counts.items()}
    return Found(
        rows,
        lambda: _quantal_figure({name: fit.frame() for name, fit in fits.items()}),
        (*caveats, *_few_choices(few, group.players)),
        results=fits,
    )


def _strategies(group: Group) -> Found:
    if group.params["rounds"] < 2:
        raise LeftOut("one round shows no strategy of a repeated game")
    fits = {
        name: fit_strategies(plays_of(group.data, name), draws=group.draws, seed=group.seed)
        for name in group.players
    }
    rows = pd.concat(
        [
            fit.frame().assign(player=name, plays=fit.players, units=fit.clusters)
            for name, fit in fits.items()
        ]
    )
    caveats = ["A share of a strategy that is not in the table goes to the next best."]
    for name, fit in fits.items():
        shares = {one.name: one.value for one in fit.shares}
        alike = [
            _listed(same)
            for same in _same_strategies(plays_of(group.data, name))
            if sum(shares[one] for one in same) >= _SHOWN_SHARE
        ]
        if alike:
            caveats.append(f"{name}: only the sum is known of {'; '.join(alike)}, which fit alike.")
    if any(fit.clusters < 2 for fit in fits.values()):
        caveats.append("One session of a player gives no interval.")
    if group.game == "el_farol" and group.params.get("mode") == "implicit":
        caveats.append(
            "Players who stayed home were not told how many went, and the strategies know it."
        )
    shown = {
        name: [one for one in fit.shares if one.value >= _SHOWN_SHARE] for name, fit in fits.items()
    }
    return Found(
        _first(rows, "player", "plays", "units"),
        lambda: _grouped_figure(shown, "Strategy frequencies (1 % and more)", "share of plays"),
        tuple(caveats),
        results=fits,
    )


def _same_strategies(plays: Sequence[Play]) -> list[list[str]]:
    """Strategies that prescribe as much of what each player did: data cannot tell them apart."""
    matches, _ = prescribed(plays, LIBRARY)
    alike: dict[bytes, list[str]] = {}
    for name, column in zip(LIBRARY, matches.T, strict=True):
        alike.setdefault(column.tobytes(), []).append(name)
    return [names for names in alike.values() if len(names) > 1]
