"""Serves a game that is written in Python: `python -m agon my_game.py:MyGame`."""

from agon.hosting import main

main()
