"""Writes what the component `monitoring` holds: Grafana's JSON from dashboard.toml, and a
PrometheusRule from alerts.yaml with a link to the runbook in every alert. `--check` only compares;
validate.sh calls it so.
"""

import json
import sys
import tomllib
from pathlib import Path

import yaml

DEPLOY = Path(__file__).resolve().parent
COMPONENT = DEPLOY / "kustomize/components/monitoring"
ROW = 24  # Columns of Grafana's grid.
ACROSS = 3  # Panels beside each other.
HEIGHT = 8


def dashboard(source):
    panels, y = [], 0
    for row in source["rows"]:
        panels.append({"id": len(panels) + 1, "type": "row", "title": row["title"], "collapsed": False,
                       "gridPos": {"x": 0, "y": y, "w": ROW, "h": 1}, "panels": []})
        y += 1
        width = ROW // ACROSS
        for place, panel in enumerate(row["panels"]):
            grid = {"x": place % ACROSS * width, "y": y + place // ACROSS * HEIGHT, "w": width, "h": HEIGHT}
            panels.append(panel_of(len(panels) + 1, panel, grid))
        y += -(-len(row["panels"]) // ACROSS) * HEIGHT
    return {
        "uid": "agon", "title": source["title"], "tags": ["agon"], "schemaVersion": 39, "editable": True,
        "refresh": "30s", "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": panels,
    }


def panel_of(number, panel, grid):
    source = {"type": "prometheus", "uid": "${datasource}"}
    targets = [
        {"refId": chr(ord("A") + place), "datasource": source, "expr": query["expr"], "legendFormat": query["legend"]}
        for place, query in enumerate(panel["queries"])
    ]
    return {
        "id": number, "type": "stat" if panel.get("stat") else "timeseries", "title": panel["title"],
        "datasource": source, "gridPos": grid, "targets": targets,
        "fieldConfig": {"defaults": {"unit": panel["unit"], "min": 0}, "overrides": []},
    }


def rules(source):
    for group in source["groups"]:
        for rule in group["rules"]:
            rule["annotations"]["runbook_url"] = f"deploy/runbook.md#{rule['alert'].lower()}"
    return {
        "apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
        "metadata": {"name": "agon", "labels": {"app.kubernetes.io/part-of": "agon"}}, "spec": source,
    }


def written():
    """Every generated file with its text."""
    panels = tomllib.loads((DEPLOY / "dashboard.toml").read_text())
    alerts = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())
    head = "# Written by generate.py from alerts.yaml.\n"
    return {
        COMPONENT / "dashboard.json": json.dumps(dashboard(panels), indent=1) + "\n",
        COMPONENT / "alerts.yaml": head + yaml.safe_dump(rules(alerts), sort_keys=False, width=120),
    }


def outdated():
    """The generated files whose sources say something else."""
    return [path for path, text in written().items() if not path.is_file() or path.read_text() != text]


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit("\n".join(f"{path} is out of date: run generate.py" for path in outdated()) or 0)
    for path, text in written().items():
        path.write_text(text)
