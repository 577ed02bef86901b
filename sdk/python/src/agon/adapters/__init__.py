"""Players of other frameworks at Agon's seats; each module needs the framework of its name."""
