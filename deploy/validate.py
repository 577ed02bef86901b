"""Checks rendered manifests, compose file, Dockerfile, dashboards, alerts and runbook; see validate.sh,
which calls it. What is checked is in checks/; breaking.py then breaks good input on purpose, and a
check that says nothing about it is a fault of its own.
"""

import argparse
import copy
import sys
import tomllib
from pathlib import Path

import yaml

import generate
from checks import breaking, commands, compose, dockerfile, identity, manifests, monitoring, schemas

DEPLOY = Path(__file__).resolve().parent
ROOT = DEPLOY.parent
# What each rendering is broken by; those of components are their names.
BROKEN = {
    "small": breaking.SMALL,
    "production": breaking.PRODUCTION,
    "sharded": breaking.SHARDED,
    "component-autoscale-hpa": breaking.SCALER,
    "component-cert-manager": breaking.CERTIFICATES,
}


class Report:
    """Lines for the reader, and the faults of everything."""

    def __init__(self):
        self.faults = []
        self.broken = 0

    def say(self, topic, text):
        print(f"{topic:<8}{text}")

    def add(self, what, found):
        self.faults += [f"{what}: {fault}" for fault in found]

    def try_breaking(self, what, good, broken, check):
        """Only what is good can be broken."""
        if found := check(copy.deepcopy(good)):
            self.add(what, found)
            return
        self.broken += len(broken)
        self.faults += breaking.unnoticed(what, good, broken, check)


def check_rendered(report, path):
    documents = [document for document in yaml.safe_load_all(path.read_text()) if document]
    found = manifests.check_manifests(documents)
    report.add(path.stem, found)
    report.say("render", f"{path.stem}: {len(documents)} manifests, {len(found)} faults")
    if not found:
        broken = dict(BROKEN.get(path.stem, {}))
        if path.stem == "small" and commands.HELP:
            broken.update(breaking.COMPARED)
        report.try_breaking(path.stem, documents, broken, manifests.check_manifests)
    return documents


def check_monitoring(report, rendered):
    metrics = monitoring.known(monitoring.read_metrics(ROOT))
    runbook = monitoring.RUNBOOK.read_text()
    everything = [document for documents in rendered for document in documents]
    dashboards, groups = monitoring.read_rendered(next(d for d in rendered if any(x["kind"] == "PrometheusRule" for x in d)))
    report.add("monitoring", [f"{path.name} is out of date: run generate.py" for path in generate.outdated()])
    for dashboard in dashboards:
        report.try_breaking("dashboard", dashboard, breaking.DASHBOARD, lambda d: monitoring.check_dashboard(d, metrics))
    report.try_breaking("alerts", groups, breaking.ALERTS, lambda g: monitoring.check_alerts(g, runbook, metrics))
    report.try_breaking("runbook", runbook, breaking.RUNBOOK, lambda t: monitoring.check_alerts(groups, t, metrics))
    report.add("autoscaling", monitoring.check_scaler_queries(everything, metrics))
    adapter = yaml.safe_load((DEPLOY / "kustomize/components/autoscale-hpa/adapter-rule.yaml").read_text())
    report.try_breaking("adapter", adapter, breaking.ADAPTER, lambda r: monitoring.check_adapter(r, everything, metrics))
    alerts = sum(len(group["rules"]) for group in groups)
    panels = sum(len(dashboard["panels"]) for dashboard in dashboards)
    report.say("watch", f"{panels} panels, {alerts} alerts, {len(metrics)} metrics")


def check_files(report):
    """Configuration files; the compose stack and the base say the same."""
    for path in [DEPLOY / "agon.toml", *sorted((DEPLOY / "kustomize").rglob("*.toml"))]:
        try:
            tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as fault:
            report.faults.append(f"{path.relative_to(DEPLOY)}: {fault}")
    for name in ("agon.toml", "identity.toml"):
        if tomllib.loads((DEPLOY / name).read_text()) != tomllib.loads((DEPLOY / "kustomize/base" / name).read_text()):
            report.faults.append(f"{name} of compose and of Kubernetes say different things")
    text = (DEPLOY / "identity.toml").read_text()
    report.try_breaking("identity.toml", text, breaking.IDENTITY, lambda t: identity.check_file("identity.toml", t))


def check_binary(report, binary):
    if not binary:
        report.say("flags", "NOT compared: no binary is built")
        return
    commands.read_help(binary)
    report.say("flags", f"compared with the help of {len(commands.HELP)} roles of {binary}")
    for experiment in sorted((DEPLOY / "kustomize").rglob("sweep.toml")):
        report.faults += commands.check_experiment(binary, experiment)
    for document in ("README.md", "runbook.md"):
        text = (DEPLOY / document).read_text()
        report.try_breaking(document, text, breaking.WORDS, lambda t: commands.check_words(binary, document, t))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="")
    parser.add_argument("rendered", nargs="+", type=Path)
    options = parser.parse_args()
    report = Report()
    check_binary(report, options.binary)
    report.say("schemas", f"Kubernetes {', '.join(schemas.VERSIONS)}, and {len(schemas.OTHERS)} kinds of operators")
    rendered = [check_rendered(report, path) for path in options.rendered]
    missing = BROKEN.keys() - {path.stem for path in options.rendered}
    report.add("render", [f"{name} was not rendered" for name in missing])
    check_monitoring(report, rendered)
    stack = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    report.try_breaking("compose", stack, breaking.COMPOSE, lambda c: compose.check_compose(c, DEPLOY))
    report.say("compose", f"{len(stack['services'])} services")
    text, ignored = (DEPLOY / "Dockerfile").read_text(), (ROOT / ".dockerignore").read_text()
    report.try_breaking("Dockerfile", text, breaking.DOCKERFILE, lambda t: dockerfile.check_dockerfile(t, ignored))
    report.say("docker", f"{len(text.splitlines())} lines")
    check_files(report)
    report.say("broken", f"{report.broken} ways of breaking them tried")
    for fault in report.faults:
        print(f"FAULT   {fault}", file=sys.stderr)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
