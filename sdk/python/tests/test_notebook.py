"""The notebook runs from top to bottom and shows what it is for."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "first_steps.ipynb"


def test_the_notebook_runs(folder):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output.data for output in outputs if "data" in output]
    assert any(
        "first-steps-sim, run 1, complete, 10 of 10" in d.get("text/html", "") for d in shown
    )
    assert any("<table" in data.get("text/html", "") for data in shown)
    assert any(len(data.get("image/png", "")) > 5000 for data in shown)
    assert "Verified(sessions=10), Verified(sessions=10)" in shown[-1]["text/plain"]
    # Nothing is told beside results: no progress, no warnings.
    assert [output for output in outputs if output.output_type == "stream"] == []
