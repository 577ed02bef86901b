"""The list of all analyses, each with its title, its source and the groups that have it.

`making` goes through it; a new analysis is entered here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agon.analysis import payoffs
from agon.analysis.repeated import COOPERATION
from agon.analysis.report.groups import Group
from agon.analysis.report.payoff_tables import (
    _anarchy,
    _dominance,
    _equilibria,
    _graph,
    _mixed,
    _payoffs,
)
from agon.analysis.report.populations import _alpha_rank, _moran, _replicator
from agon.analysis.report.reasoning import _hierarchy, _level_k, _quantal, _strategies
from agon.analysis.report.sections import Found
from agon.analysis.report.welfare import _regret, _welfare


@dataclass(frozen=True)
class Analysis:
    """A kind of section: which groups have it, and the function that finds it."""

    title: str
    says: str
    source: str
    find: Callable[[Group], Found]
    fits: Callable[[Group], bool] = lambda group: True
    pools: bool = False
    """Whether sessions of different seats are taken together."""


def _in(*games: str) -> Callable[[Group], bool]:
    return lambda group: group.game in games


_GUESSING = ("guess_two_thirds", "beauty_contest", "guess_to_survive")

ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "Level-k",
        "Shares of players who best-reply to the level below; level 0 says any number, and numbers "
        "are normal around the target with deviation sigma.",
        "Nagel 1995",
        _level_k,
        _in(*_GUESSING),
        pools=True,
    ),
    Analysis(
        "Cognitive hierarchy",
        "The mean level tau if every level best-replies to a Poisson mixture of those below it.",
        "Camerer, Ho, Chong 2004",
        _hierarchy,
        _in(*_GUESSING),
        pools=True,
    ),
    Analysis(
        "Quantal response",
        "How precisely choices follow payoffs in equilibrium: lambda 0 is chance, and larger is "
        "closer to best replies (per unit of payoff).",
        "McKelvey, Palfrey 1995",
        _quantal,
        _in("public_goods", "diners_dilemma", "el_farol", "divide_dollar", "guess_two_thirds"),
        pools=True,
    ),
    Analysis(
        "Strategies",
        "Shares of plays that follow each strategy of repeated games; beta is how often a player "
        "does what its strategy prescribes.",
        "Dal Bo, Frechette 2011",
        _strategies,
        _in(*COOPERATION),
        pools=True,
    ),
    Analysis(
        "Payoff table",
        "What each player earned in a session against each group of others.",
        "Wellman 2006",
        _payoffs,
    ),
    Analysis(
        "Pure equilibria",
        "Profiles from which no seat gains by another player.",
        "Nash 1951",
        _equilibria,
    ),
    Analysis(
        "Mixed equilibria",
        "Nash equilibria of the measured table, mixtures among them.",
        "Nash 1951; by Gambit, Savani and Turocy",
        _mixed,
    ),
    Analysis(
        "Dominance",
        "Players that survive iterated elimination of strictly dominated ones.",
        "Osborne, Rubinstein 1994",
        _dominance,
    ),
    Analysis(
        "Price of anarchy",
        "The highest sum of payoffs, divided by that of the worst equilibrium (anarchy) and of the "
        "best (stability).",
        "Koutsoupias, Papadimitriou 1999; Anshelevich et al. 2008",
        _anarchy,
    ),
    Analysis(
        "Best-response graph",
        "Where best replies lead from every profile.",
        "Goemans, Mirrokni, Vetta 2005",
        _graph,
    ),
    Analysis(
        "Alpha-rank",
        "How often evolution visits each player or profile.",
        "Omidshafiei et al. 2019",
        _alpha_rank,
    ),
    Analysis(
        "Replicator dynamics",
        "Where shares of players move if those who earn more than average grow.",
        "Taylor, Jonker 1978",
        _replicator,
    ),
    Analysis(
        "Moran process",
        "How long a population stays with each player when mutations are rare.",
        "Fudenberg, Imhof 2006; Traulsen, Hauert 2009",
        _moran,
    ),
    Analysis(
        "Regret",
        "What a player could have gained in a round by its best option, others held fixed.",
        "Lanctot et al. 2017",
        _regret,
        _in(*payoffs.GAMES),
        pools=True,
    ),
    Analysis(
        "Welfare and equality",
        "Sum of payoffs of a session, and how unequal they are.",
        "Gini 1912",
        _welfare,
    ),
)
