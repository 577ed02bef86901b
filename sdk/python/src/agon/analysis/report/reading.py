"""Reads the sessions of runs, and groups them by game, parameters and players.

Sessions are never pooled across groups. `making` calls it.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from agon.analysis.report.text import _short
from agon.results import Run

Source = Run | str | os.PathLike[str]
Frames = dict[str, pd.DataFrame]
Data = dict[str, Any]


def _read(runs: Sequence[Run]) -> tuple[Frames, list[Data]]:
    """Tables of all runs together, and what analyses need of each record, each session once."""
    data: dict[str, Data] = {}
    for place, run in enumerate(runs):
        for record in run.records():
            events = ("briefing", "round_result")
            data.setdefault(
                record.session,
                {
                    "session": record.session,
                    "spec": record.data["spec"],
                    "outcome": record.data["outcome"],
                    "moves": record.data.get("moves", []),
                    "events": [e for e in record.data.get("events", []) if e["event"] in events],
                    "run": place,
                    "simulated_players": {
                        str(record.seats[decision.seat]["name"])
                        for decision in record.decisions
                        if decision.simulated
                    },
                },
            )
    if not data:
        raise ValueError("there is no finished session")
    names = ("sessions", "seats", "actions")
    frames = {}
    for name in names:
        tables = [run.table(name, frames="pandas") for run in runs]
        seen: set[str] = set()
        kept = []
        for table in tables:
            kept.append(table[~table["session"].isin(seen)])
            seen |= set(table["session"])
        frames[name] = pd.concat(kept, ignore_index=True)
    return frames, list(data.values())


def _grouped(data: Sequence[Data]) -> dict[tuple[str, str], list[Data]]:
    """Records by game and a text that tells settings of one game apart."""
    by_setting: dict[str, list[Data]] = {}
    for one in data:
        by_setting.setdefault(_key(one), []).append(one)
    groups: list[list[Data]] = []
    for own in by_setting.values():
        # A name may be another player in another experiment or run.
        parts = _split(own, lambda one: f"{one['run']} {one['spec']['experiment']}")
        groups += [own] if not _ambiguous(own) else itertools.chain(*map(_by_definition, parts))
    named: dict[tuple[str, str], list[Data]] = {}
    games = dict.fromkeys(own[0]["spec"]["game"] for own in groups)
    for game in games:
        own_groups = [own for own in groups if own[0]["spec"]["game"] == game]
        for text, own in zip(_settings(own_groups), own_groups, strict=True):
            named[(game, text)] = own
    return named


def _split(data: Sequence[Data], key: Callable[[Data], str]) -> list[list[Data]]:
    parts: dict[str, list[Data]] = {}
    for one in data:
        parts.setdefault(key(one), []).append(one)
    return list(parts.values())


def _ambiguous(data: Sequence[Data]) -> set[str]:
    """Names of players that are not the same in all sessions."""
    defined: dict[str, set[str]] = {}
    for one in data:
        for name, definition in _definitions(one).items():
            defined.setdefault(name, set()).add(definition)
    return {name for name, definitions in defined.items() if len(definitions) > 1}


def _by_definition(data: Sequence[Data]) -> list[list[Data]]:
    """Sessions in groups in which every name is one player."""
    names = _ambiguous(data)
    return _split(
        data,
        lambda one: json.dumps(
            sorted((name, text) for name, text in _definitions(one).items() if name in names)
        ),
    )


def _key(one: Data) -> str:
    """What records of one group have in common, apart from the players' definitions."""
    spec = one["spec"]
    params = dict(spec["params"])
    setting = dict(spec.get("setting") or {})
    apart: list[Any] = []
    if "items" in params:
        # Items may be drawn anew for each repeat of a setting.
        params = {key: value for key, value in params.items() if key not in ("items", "personas")}
        apart = [one["run"], spec["experiment"], setting.get("label")]
    axes = {axis: value for axis, value in setting.items() if not _is_no_parameter(axis)}
    size = len(spec["seats"])
    outside = "outside" in spec
    return json.dumps(
        [spec["game"], spec["rules_version"], outside, size, params, axes, apart], sort_keys=True
    )


def _is_no_parameter(axis: str) -> bool:
    """Whether an axis says who sits where, names rows, or draws other luck."""
    return axis in ("label", "seed") or axis.startswith("seats")


def _definitions(one: Data) -> dict[str, str]:
    """What each player of a session is, as text."""
    spec = one["spec"]
    prompts = [spec.get("prompts_version"), spec.get("prompt_bundle")]
    found = {}
    for seat in spec["seats"]:
        played = [seat["kind"], seat["settings"], seat["name"] in one["simulated_players"]]
        found[seat["name"]] = json.dumps(
            [*played, prompts if seat["kind"] == "model" else None], sort_keys=True
        )
    return found


def _settings(groups: Sequence[Sequence[Data]]) -> list[str]:
    """Texts that tell groups of one game apart; empty for a single one."""
    if len(groups) < 2:
        return [""] * len(groups)
    firsts = [own[0]["spec"] for own in groups]
    facts: list[dict[str, Any]] = []
    for own, spec in zip(groups, firsts, strict=True):
        setting = spec.get("setting") or {}
        axes = {
            axis: value
            for axis, value in setting.items()
            if not _is_no_parameter(axis) and not axis.startswith("params.")
        }
        labels = {(one["spec"].get("setting") or {}).get("label") for one in own}
        experiments = sorted({one["spec"]["experiment"] for one in own})
        facts.append(
            {
                **{f"params.{name}": value for name, value in spec["params"].items()},
                **axes,
                "label": labels.pop() if len(labels) == 1 else None,
                "experiment": ", ".join(experiments),
                "simulated": any(one["simulated_players"] for one in own),
            }
        )
    names = dict.fromkeys(name for fact in facts for name in fact)
    differing = [name for name in names if len({json.dumps(fact.get(name)) for fact in facts}) > 1]
    for name in ("simulated", "experiment", "label", "params.players"):
        rest = [one for one in differing if one != name]
        if len({json.dumps([fact.get(one) for one in rest]) for fact in facts}) == len(facts):
            differing = rest
    texts = [
        ", ".join(
            f"{name.removeprefix('params.')} = {_short(fact[name])}"
            for name in differing
            if fact.get(name) is not None
        )
        for fact in facts
    ]
    if len(set(texts)) < len(texts):
        texts = [f"{text} (group {place + 1})".strip() for place, text in enumerate(texts)]
    return texts
