"""Dashboards, alerts and scalers name only metrics and labels that exist; every alert has an entry
in the runbook, and every entry an alert.
"""

import json
import re
from pathlib import Path

import promql_parser as promql

# What Prometheus and the operator add by themselves.
FOREIGN_METRICS = {"up": set()}
FOREIGN_LABELS = {"job", "instance", "namespace", "pod", "container", "le"}
OF_COUNTERS = {"rate", "irate", "increase"}


def read_metrics(root):
    """Name of every metric in the sources to its kind; labels are taken by crate."""
    found = {}
    for path in sorted(root.glob("*/src/**/metrics.rs")):
        text = path.read_text().split("#[cfg(test)]")[0]
        constants = dict(re.findall(r'const (\w+): &str =\s*"(agon_\w+)"', text))
        crate = "\n".join(source.read_text() for source in path.parent.rglob("*.rs"))
        labels = set(re.findall(r'"(\w+)" => ', crate))
        for kind, name in re.findall(r'Metric::(counter|gauge|histogram)\(\s*("agon_\w+"|\w+)', text):
            name = name.strip('"') if name.startswith('"') else constants.get(name, name)
            suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
            found.update({name + suffix: ("counter" if kind == "histogram" else kind, labels) for suffix in suffixes})
    return found


def known(metrics):
    foreign = {name: ("gauge", labels) for name, labels in FOREIGN_METRICS.items()}
    return {**foreign, **metrics}


def check_query(name, text, metrics):
    """One expression. Its metrics exist, with these labels, and what only grows is looked at as a rate."""
    try:
        tree = promql.parse(text)
    except ValueError as fault:
        return [f"{name}: {fault}"]
    faults, labels, used = [], set(), set()
    walk(tree, "", metrics, faults, labels, used)
    offered = FOREIGN_LABELS.union(*(metrics[metric][1] for metric in used if metric in metrics))
    faults += [f"no metric of it has a label {label}" for label in sorted(labels - offered)]
    return [f"{name}: {fault}" for fault in faults]


def walk(tree, within, metrics, faults, labels, used):
    """`within` is the function around; collects what is named."""
    kind = type(tree).__name__
    if kind == "VectorSelector":
        used.add(tree.name)
        labels.update(matcher.name for matcher in tree.matchers.matchers)
        if tree.name not in metrics:
            faults.append(f"there is no metric {tree.name}")
        elif (metrics[tree.name][0] == "counter") != (within in OF_COUNTERS):
            faults.append(f"{tree.name} is a {metrics[tree.name][0]}, under {within or 'no function'}")
        return
    if kind == "Call":
        within = tree.func.name
    if kind == "AggregateExpr" and tree.modifier:
        labels.update(tree.modifier.labels)
    for part in ("expr", "lhs", "rhs", "param", "vector_selector"):
        below = getattr(tree, part, None)
        if below is not None:
            walk(below, within, metrics, faults, labels, used)
    for below in getattr(tree, "args", None) or []:
        walk(below, within, metrics, faults, labels, used)


def check_dashboard(dashboard, metrics):
    faults, cells, ids = [], set(), set()
    for panel in dashboard["panels"]:
        name = f"dashboard: {panel['title']}"
        grid = panel["gridPos"]
        taken = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
        if taken & cells or panel["id"] in ids or grid["x"] + grid["w"] > 24:
            faults.append(f"{name}: lies over another panel")
        cells |= taken
        ids.add(panel["id"])
        for target in panel.get("targets", []):
            faults += check_query(name, target["expr"], metrics)
            shown = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            by = re.search(r"by \(([\w, ]+)\)", target["expr"])
            kept = {label.strip() for label in by.group(1).split(",")} if by else set()
            faults += [f"{name}: the legend names {label}, which the query drops" for label in shown - kept]
    return faults


def check_alerts(groups, runbook, metrics):
    faults, names = [], []
    for group in groups:
        for rule in group["rules"]:
            name = rule["alert"]
            names.append(name)
            faults += check_query(name, rule["expr"], metrics)
            if rule.get("labels", {}).get("severity") not in ("page", "ticket"):
                faults.append(f"{name}: its severity must be page or ticket")
            if not rule.get("annotations", {}).get("summary"):
                faults.append(f"{name}: has no summary")
            if rule["annotations"].get("runbook_url", "").split("#")[-1] != name.lower():
                faults.append(f"{name}: its link does not lead to its entry in runbook.md")
    entries = {}
    for part in re.split(r"^## ", runbook, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        entries[title.strip()] = text
    faults += [f"runbook.md: no entry {name}" for name in names if name not in entries]
    faults += [f"runbook.md: there is no alert {title}" for title in entries if title not in names]
    faults += [f"alert {name} is there twice" for name in set(names) if names.count(name) > 1]
    for title, text in entries.items():
        for part in ("- Means:", "- See:", "- Do:"):
            if part not in text:
                faults.append(f"runbook.md: {title}: does not say `{part}`")
    return faults


def check_scaler_queries(documents, metrics):
    faults = []
    for document in documents:
        for trigger in document.get("spec", {}).get("triggers", []) if document["kind"] == "ScaledObject" else []:
            faults += check_query("ScaledObject", trigger["metadata"]["query"], metrics)
    return faults


def check_adapter(rules, scalers, metrics):
    """The rule of prometheus-adapter offers what the HorizontalPodAutoscaler asks for."""
    faults, offered = [], set()
    for rule in rules["rules"]["external"]:
        offered.add(rule["name"]["as"])
        faults += check_query("adapter-rule.yaml", rule["seriesQuery"], metrics)
        faults += check_query("adapter-rule.yaml", rule["metricsQuery"].replace("<<.LabelMatchers>>", ""), metrics)
    for scaler in scalers:
        for metric in scaler["spec"].get("metrics", []) if scaler["kind"] == "HorizontalPodAutoscaler" else []:
            if metric["external"]["metric"]["name"] not in offered:
                faults.append(f"no rule of adapter-rule.yaml offers {metric['external']['metric']['name']}")
    return faults


def read_rendered(documents):
    """Dashboards and groups of alerts in rendered manifests."""
    dashboards, groups = [], []
    for document in documents:
        if document["kind"] == "PrometheusRule":
            groups += document["spec"]["groups"]
        if document["kind"] == "ConfigMap" and document["metadata"]["labels"].get("grafana_dashboard"):
            dashboards += [json.loads(text) for text in document["data"].values()]
    return dashboards, groups


RUNBOOK = Path(__file__).resolve().parent.parent / "runbook.md"
