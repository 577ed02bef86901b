"""Pirate game: section 3.1 of Huang et al., arXiv 2403.11807."""

from __future__ import annotations

from typing import ClassVar

import agon
from agon import Play, Table
from games.shared import LARGEST_AMOUNT, GammaBench, mean


class Pirate(GammaBench):
    """Propose how to divide gold; a proposer without a majority goes overboard."""

    name = "python_pirate"
    title = "Pirate Game"
    source = "gamma-Bench, arXiv 2403.11807, game 8"
    hidden_information = True
    seats = (2, 100)
    timing = "sequential"
    asks_per_seat = "players"
    facts: ClassVar = {"in_play": "order"}
    players = agon.parameter(
        10, "Number of players; taken from the seats of the experiment.", min=2, max=100
    )
    gold = agon.parameter(100, "Gold to divide.", min=1, max=LARGEST_AMOUNT)

    SCALED_GOLD = 100

    def play(self, table: Table) -> Play:
        table.brief(gold=self.gold)
        voted = []
        for proposer in range(self.players - 1):
            table.round = proposer + 1
            alive = list(range(proposer, self.players))
            form = agon.division(len(alive), self.gold)
            plan = (yield table.ask(proposer, "proposal", form))[proposer]
            if plan is None:
                self.reject_silence(table, alive)
                continue
            shares = [None] * proposer + plan
            table.tell(
                "proposal", to=alive, proposer=proposer, order=alive, plan=plan,
                own={"share": shares},
            )  # fmt: skip
            form = agon.choice("accept", "reject", role="vote")
            answers = yield table.ask(alive[1:], "vote", form)
            own = [None] * proposer + ["accept", *answers.values()]
            votes = [vote or "reject" for vote in own[proposer:]]
            voted.append((plan, votes))
            accepts = votes.count("accept")
            accepted = accepts * 2 >= len(votes)
            table.tell(
                "vote_result", to=alive, proposer=proposer, accepts=accepts, voters=len(votes),
                accepted=accepted, own={"vote": own}, hidden={"votes": votes, "plan": plan},
            )  # fmt: skip
            if accepted:
                table.pay(dict(zip(alive, plan, strict=True)))
                break
        else:
            table.pay({self.players - 1: self.gold})
        if voted:
            self.measure(table, voted)

    def reject_silence(self, table: Table, alive: list[int]) -> None:
        """Without a plan there is nothing to vote on."""
        table.tell(
            "vote_result", to=alive, proposer=alive[0], accepts=0, voters=len(alive),
            accepted=False, own={"vote": [None] * self.players},
        )  # fmt: skip

    def measure(self, table: Table, voted: list[tuple[list[int], list[str]]]) -> None:
        scaled, golds, accuracy, support = [], [], [], []
        right_votes = all_votes = 0
        for plan, votes in voted:
            scaled.append(self.distance(plan, self.SCALED_GOLD))
            golds.append(self.distance(plan, self.gold))
            voters = range(1, len(plan))
            right = [self.is_right(offset, plan[offset], votes[offset]) for offset in voters]
            accuracy.append(right.count(True) / len(voters))
            support.append(votes.count("accept") / len(votes))
            right_votes += right.count(True)
            all_votes += len(voters)
        votes = right_votes / all_votes
        self.score_both(
            table,
            self.score(mean(scaled), votes, self.SCALED_GOLD),
            self.score(mean(golds), votes, self.gold),
        )
        table.part("S_P", mean(scaled))
        table.part("S_P_golds", mean(golds))
        table.part("S_V", votes)
        table.series("distance", scaled)
        table.series("vote_accuracy", accuracy)
        table.series("accepts", support)

    def distance(self, plan: list[int], gold: int) -> float:
        """How far a plan, scaled to so much gold, is from the paper's.

        That gives 1 to every second voter and the rest to the proposer.
        """
        right = [1 if offset % 2 == 0 else 0 for offset in range(len(plan))]
        right[0] = gold - sum(right[1:])
        distance = 0.0
        for share, right_share in zip(plan, right, strict=True):
            distance += abs(gold * share / self.gold - right_share)
        return distance

    @staticmethod
    def is_right(offset: int, share: int, vote: str) -> bool:
        """Whether the paper counts a vote as right; a share of 1 at an odd offset never is."""
        if share == 0:
            return vote == "reject"
        return vote == "accept" and (share > 1 or offset % 2 == 0)

    @staticmethod
    def score(distance: float, votes: float, gold: int) -> float:
        return (2 * gold - distance) / (2 * gold) * 50.0 + votes * 50.0
