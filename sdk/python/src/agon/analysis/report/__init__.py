"""One report of runs: every analysis that their games have, each as a table and a figure.

Users call `report`, and so does `python -m agon.analysis`. Modules import in one direction: `text`,
`figures`, `sections`, `reading`, `groups`, the analyses, `catalogue` and `pages`, `making`.
"""

from agon.analysis.report.catalogue import ANALYSES, Analysis
from agon.analysis.report.groups import Group
from agon.analysis.report.making import DRAWS, report
from agon.analysis.report.pages import Report
from agon.analysis.report.reading import Data, Frames, Source
from agon.analysis.report.sections import Found, LeftOut, Section

__all__ = [
    "ANALYSES",
    "DRAWS",
    "Analysis",
    "Data",
    "Found",
    "Frames",
    "Group",
    "LeftOut",
    "Report",
    "Section",
    "Source",
    "report",
]
