"""Analysis of play: models of reasoning, strategies, empirical games, welfare and tournaments.

Functions take frames or arrays and return small results that print as tables, give a frame and
draw a figure. docs/game-theory.md says what each analysis assumes and what it is checked against.
"""
