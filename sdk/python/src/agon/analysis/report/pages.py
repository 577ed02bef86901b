"""What a report is: sections as a text, a page, or a folder with CSV, SVG and JSON.

`making` makes reports; users print and save them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from agon.analysis.report.figures import _INK
from agon.analysis.report.sections import Section, _reasons
from agon.analysis.report.text import _count, _escaped, _printable, _shown, _wrapped

_MARK = '<meta name="generator" content="agon.analysis.report"/>'
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"


class Report(Sequence[Section]):
    """Sections in the order of games and settings; prints, and makes a page or a folder."""

    def __init__(
        self,
        title: str,
        sections: Sequence[Section],
        notes: Sequence[str] = (),
        sessions: Collection[str] = (),
    ) -> None:
        self.title = title
        self.notes = tuple(notes)
        self.sessions = frozenset(sessions)
        self._sections = tuple(sections)

    def __getitem__(self, place: Any) -> Any:
        return self._sections[place]

    def __len__(self) -> int:
        return len(self._sections)

    def __repr__(self) -> str:
        there = len([section for section in self if not section.left_out])
        return f"<Report of {self.title}: {there} analyses, {len(self) - there} left out>"

    def find(self, title: str, game: str | None = None, setting: str | None = None) -> Section:
        """The one section of a title, or of a title, game and setting."""
        found = [
            section
            for section in self
            if section.title == title
            and game in (None, section.game)
            and setting in (None, section.setting)
        ]
        if len(found) != 1:
            raise KeyError(f"{len(found)} sections are called {title!r}: say which game, setting")
        return found[0]

    def groups(self) -> list[tuple[str, list[Section]]]:
        """Sections by game and setting, with a heading for each."""
        return [
            (f"{game}: {setting}" if setting else game, list(own))
            for (game, setting), own in itertools.groupby(self, lambda s: (s.game, s.setting))
        ]

    def __str__(self) -> str:
        blocks = [self.title, *(_wrapped(f"- {note}") for note in self.notes)]
        for heading, sections in self.groups():
            named = f"{heading} ({_count(sections[0].sessions, 'session')})"
            blocks += ["", "=" * min(len(named), 100), named, "=" * min(len(named), 100)]
            blocks += [f"\n{section}" for section in sections if not section.left_out]
            reasons = _reasons(sections)
            blocks += ["", "Left out"] if reasons else []
            blocks += [_wrapped(f"- {', '.join(titles)}: {why}") for why, titles in reasons.items()]
        return _printable("\n".join(blocks))

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{_escaped(self.html())}" width="100%" height="800"></iframe>'

    def html(self) -> str:
        """One page that needs no other file."""
        return self._page({})

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `index.html`, tables as CSV and figures as SVG; return the page's path.

        `analyses.json` has all of it for `agon report --analyses`, which shows it beside the rest.
        An earlier report in the folder is replaced. A folder with anything else is refused.
        """
        top = Path(folder)
        page = top / "index.html"
        if top.exists() and (not top.is_dir() or any(top.iterdir())):
            if not page.is_file() or _MARK not in page.read_text(encoding="utf-8"):
                raise FileExistsError(f"{top} has other files: name a new folder")
            for old in [*(top / "tables").glob("*.csv"), *(top / "figures").glob("*.svg")]:
                old.unlink()
        (top / "tables").mkdir(parents=True, exist_ok=True)
        (top / "figures").mkdir(exist_ok=True)
        links: dict[int, list[str]] = {}
        for number, section in enumerate(self._sections):
            if section.left_out:
                continue
            name = f"{number + 1:02d}-{_file_name(section.game, section.title)}"
            table = top / "tables" / f"{name}.csv"
            _safe_for_spreadsheets(section.frame()).to_csv(table, index=False)
            links[number] = [f"tables/{name}.csv"]
            if section.draw is not None:
                (top / "figures" / f"{name}.svg").write_text(section.svg(), encoding="utf-8")
                links[number].append(f"figures/{name}.svg")
        (top / "analyses.json").write_text(json.dumps(self._document()), encoding="utf-8")
        page.write_text(self._page(links), encoding="utf-8")
        return page

    def _document(self) -> dict[str, Any]:
        """All of the report as `agon report` reads it (cli/src/commands/report/analyses.rs)."""
        names = "\n".join(sorted(self.sessions))
        return {
            "version": 1,
            "sessions": len(self.sessions),
            "sessions_sha256": hashlib.sha256(names.encode()).hexdigest(),
            "notes": [_printable(note) for note in self.notes],
            "groups": [
                {
                    "heading": _printable(heading),
                    "sessions": sections[0].sessions,
                    "analyses": [_analysis(one) for one in sections if not one.left_out],
                    "left_out": [
                        {"titles": titles, "reason": _printable(reason)}
                        for reason, titles in _reasons(sections).items()
                    ],
                }
                for heading, sections in self.groups()
            ],
        }

    def _page(self, links: Mapping[int, Sequence[str]]) -> str:
        contents, body = [], []
        number = 0
        for place, (heading, sections) in enumerate(self.groups()):
            entries = []
            body.append(f'<section id="g{place}"><h2>{_escaped(heading)}</h2>')
            body.append(f'<p class="sessions">{_count(sections[0].sessions, "session")}</p>')
            for section in sections:
                if not section.left_out:
                    title = _escaped(section.title)
                    entries.append(f'<li><a href="#s{number}">{title}</a></li>')
                    body.append(_section_html(section, number, links.get(number, ())))
                number += 1
            reasons = _reasons(sections)
            if reasons:
                body.append("<h3>Left out</h3><ul>")
                body += [
                    f"<li><b>{_escaped(', '.join(titles))}</b>: {_escaped(reason)}</li>"
                    for reason, titles in reasons.items()
                ]
                body.append("</ul>")
            body.append("</section>")
            inner = f"<ul>{''.join(entries)}</ul>" if entries else ""
            contents.append(f'<li><a href="#g{place}">{_escaped(heading)}</a>{inner}</li>')
        notes = "".join(f"<li>{_escaped(note)}</li>" for note in self.notes)
        return _PAGE.format(
            mark=_MARK,
            title=_escaped(self.title),
            style=_STYLE,
            notes=f"<ul>{notes}</ul>" if notes else "",
            contents="".join(contents),
            body="\n".join(body),
        )


def _analysis(section: Section) -> dict[str, Any]:
    shown, note = _shown(section.frame())
    return {
        "title": section.title,
        "says": section.says,
        "source": section.source,
        "simulated": bool(section.simulated),
        "columns": [
            {"name": _printable(str(name)), "is_number": _is_number(section.frame()[name])}
            for name in shown
        ],
        "rows": [list(row) for row in shown.itertuples(index=False, name=None)],
        "caveats": [_printable(one) for one in _caveats(section, note)],
        "svg": section.svg(),
    }


def _caveats(section: Section, note: str) -> Sequence[str]:
    """What stands below a table, with how many of its rows are shown."""
    shown = [f"{note.strip('()').capitalize()} are shown."] if note else []
    return [*shown, *section.caveats]


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column.dtype))


def _section_html(section: Section, number: int, links: Sequence[str]) -> str:
    shown, note = _shown(section.frame())
    numeric = {name for name in shown if _is_number(section.frame()[name])}
    align = {name: ' class="n"' if name in numeric else "" for name in shown}
    head = "".join(f'<th scope="col"{align[name]}>{_escaped(name)}</th>' for name in shown)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{align[name]}>{_escaped(value)}</td>"
            for name, value in zip(shown, row, strict=True)
        )
        + "</tr>"
        for row in shown.itertuples(index=False, name=None)
    )
    title = _escaped(section.title)
    mark = ' <span class="mark">simulated</span>' if section.simulated else ""
    caveats = "".join(f"<li>{_escaped(one)}</li>" for one in _caveats(section, note))
    files = ", ".join(f'<a href="{link}">{link.rsplit(".", 1)[1].upper()}</a>' for link in links)
    drawn = ""
    if section.draw is not None:
        label = _escaped(f"Figure: {section.title}, {section.game} {section.setting}".strip())
        inline = _inline(section.transparent_svg, f"f{number}-")
        drawn = f'<figure role="img" aria-label="{label}">{inline}</figure>'
    return (
        f'<article id="s{number}"><h3>{title}{mark}</h3>'
        f"<p>{_escaped(section.says)} <cite>{_escaped(section.source)}</cite></p>"
        f'<div class="both"><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{drawn}</div>"
        + (f'<ul class="caveats">{caveats}</ul>' if caveats else "")
        + (f'<p class="files">{files}</p>' if files else "")
        + "</article>"
    )


def _inline(svg: str, prefix: str) -> str:
    """An SVG for a page: names of its parts are its own, and text has the page's colour."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    top = ElementTree.fromstring(svg)
    for metadata in top.findall(f"{{{_SVG}}}metadata"):
        top.remove(metadata)
    for name in ("width", "height"):
        top.attrib.pop(name, None)
    for part in top.iter():
        for name, value in part.attrib.items():
            if name == "id":
                part.set(name, prefix + value)
            elif name == f"{{{_XLINK}}}href" and value.startswith("#"):
                part.set(name, f"#{prefix}{value[1:]}")
            elif name in ("clip-path", "style", "fill", "stroke"):
                value = value.replace("url(#", f"url(#{prefix}").replace(_INK, "currentColor")
                # Lines of the last colour of trajectories; black text lies on light cells.
                part.set(name, value.replace("stroke: #000000", "stroke: currentColor"))
    return ElementTree.tostring(top, encoding="unicode")


def _safe_for_spreadsheets(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with `'` before text that a spreadsheet would run as a formula."""

    def safe(value: Any) -> Any:
        if isinstance(value, str):
            value = _printable(value)
            return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t")) else value
        return value

    columns = {safe(name): [safe(value) for value in frame[name]] for name in frame.columns}
    cleaned: pd.DataFrame = pd.DataFrame(columns)
    return cleaned


def _file_name(*parts: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", "-".join(parts).lower()).strip("-")[:60]


_STYLE = """
:root { color-scheme: light dark; --ink: #24292f; --faint: #59636e; --line: #d1d9e0;
  --back: #ffffff; --block: #f6f8fa; --link: #0a58ca; --mark: #9a4a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --faint: #9198a1; --line: #3d444d;
  --back: #0d1117; --block: #161b22; --link: #79b8ff; --mark: #f0a04b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; color: var(--ink);
  background: var(--back); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); }
h1 { font-size: 1.8rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem;
  overflow-wrap: anywhere; }
h3 { margin: 2rem 0 .3rem; }
nav { background: var(--block); border: 1px solid var(--line); border-radius: 6px;
  padding: .2rem 1.2rem 1rem; }
nav h2 { margin: .8rem 0 .4rem; border: 0; font-size: 1.1rem; }
nav ol { margin: 0; padding-left: 1.5rem; }
nav ul { list-style: none; margin: 0 0 .4rem; padding: 0; }
nav ul li { display: inline-block; margin-right: 1rem; }
.sessions, .files, cite { color: var(--faint); }
cite { white-space: nowrap; } cite::before { content: "("; } cite::after { content: ")"; }
.both { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
.scroll { max-width: 100%; max-height: 32rem; overflow: auto; }
table { border-collapse: collapse; font-size: .875rem; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  white-space: nowrap; }
th { border-bottom-width: 2px; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 0; flex: 1 1 26rem; min-width: 0; max-width: 40rem; }
svg { display: block; width: 100%; height: auto; }
.caveats { color: var(--faint); font-size: .9rem; margin: .6rem 0; }
.mark { color: var(--mark); border: 1px solid currentColor; border-radius: 4px;
  padding: 0 .4rem; font-size: .75rem; font-weight: 600; vertical-align: middle; }
"""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
{mark}
<title>{title}</title><style>{style}</style></head>
<body><header><h1>{title}</h1>{notes}</header>
<nav aria-label="Contents"><h2>Contents</h2><ol>{contents}</ol></nav>
<main>{body}</main></body></html>
"""
