"""Battle Royale: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

from typing import ClassVar

import agon
from agon import Play, Table
from games.shared import MOST_ROUNDS, GammaBench


class BattleRoyale(GammaBench):
    """Take turns shooting until one is left; the weakest shoots first."""

    name = "python_battle_royale"
    title = "Battle Royale"
    source = "gamma-Bench, arXiv 2403.11807, game 7"
    chance = True
    timing = "sequential"
    asks_per_seat = "max_turns"
    payoff_bounds = (0.0, 1.0)
    facts: ClassVar = {"in_play": "alive"}
    base_hit_rate = agon.parameter(35, "Hit rate of the first player, in percent.", min=0, max=100)
    interval = agon.parameter(
        5, "By how much the hit rate grows from player to player, in percent.", min=0, max=100
    )
    max_turns = agon.parameter(
        20, "Most turns; one turn is one player's shot.", min=1, max=MOST_ROUNDS
    )

    def settle(self):
        last = self.players - 1
        if self.rate(last) > 100:
            raise ValueError(f"player_{last} would hit in {self.rate(last)} percent of its shots")

    def rate(self, seat: int) -> int:
        return self.base_hit_rate + seat * self.interval

    def play(self, table: Table) -> Play:
        rates = [self.rate(seat) for seat in range(self.players)]
        names = ("base_hit_rate", "interval", "max_turns")
        table.brief(
            hit_rates=rates,
            own={"hit_rate": rates, "position": list(range(1, self.players + 1))},
            hidden={name: getattr(self, name) for name in names},
        )
        living = list(range(self.players))
        shooter = 0
        correct, running, remaining = 0, [], []
        self.share_prize(table, living)
        while len(living) > 1 and table.round < self.max_turns:
            table.round += 1
            others = [seat for seat in living if seat != shooter]
            answers = yield table.ask(shooter, "shot", agon.target(others, pass_word="miss"))
            # A forfeited ask holds fire, as does a player who misses on purpose.
            target = answers[shooter] if answers[shooter] != "miss" else None
            witnesses, strongest = list(living), others[-1]
            at_strongest = target is not None and self.rate(target) >= self.rate(strongest)
            result = self.shoot(table, shooter, target, living)
            table.tell(
                "shot", to=witnesses, shooter=shooter, target=target, result=result,
                alive=list(living), remaining=len(living),
                hidden={"strongest": strongest, "at_strongest": at_strongest},
            )  # fmt: skip
            self.share_prize(table, living)
            correct += at_strongest
            running.append(correct / table.round)
            remaining.append(len(living))
            shooter = next((seat for seat in living if seat > shooter), living[0])
        share = running[-1]
        self.score_both(table, share * 100.0, share * 100.0)
        table.part("S", share)
        table.part("correct", correct)
        table.part("turns", table.round)
        table.series("at_strongest", running)
        table.series("remaining", remaining)

    def share_prize(self, table: Table, living: list[int]) -> None:
        """Pay as if the game ended now: the living share the prize."""
        prize = 1.0 / len(living)
        table.payoffs = [prize if seat in living else 0.0 for seat in range(self.players)]

    def shoot(self, table: Table, shooter: int, target: int | None, living: list[int]) -> str:
        if target is None:
            return "held_fire"
        if not table.chance.percent("hits", table.round, self.rate(shooter)):
            return "missed"
        living.remove(target)
        return "hit"
