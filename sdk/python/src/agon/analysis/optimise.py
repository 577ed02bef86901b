"""SciPy's optimisers under types that hold with and without its stubs."""

from __future__ import annotations

from typing import Any

from scipy import integrate, optimize

minimize: Any = optimize.minimize
minimize_scalar: Any = optimize.minimize_scalar
brentq: Any = optimize.brentq
linprog: Any = optimize.linprog
solve_ivp: Any = integrate.solve_ivp
