"""Rendered manifests as Python data: what runs, how it is rolled, which Services and budgets there are.
Rejects nothing; validate.py does that. Called by cluster.py.
"""

import math
import subprocess

import yaml

RUNS = ("Deployment", "StatefulSet", "Job")


def render(folder):
    """The manifests of a folder with a kustomization.yaml."""
    command = ["kubectl", "kustomize", "--load-restrictor", "LoadRestrictionsNone", str(folder)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [document for document in yaml.safe_load_all(text) if document]


class Workload:
    """A Deployment, StatefulSet or Job."""

    def __init__(self, document):
        self.kind, self.name = document["kind"], document["metadata"]["name"]
        self.spec = document["spec"]
        self.template = self.spec["template"]
        self.labels = self.template["metadata"]["labels"]
        self.replicas = self.spec.get("replicas", 1)

    def surge_and_unavailable(self):
        """How many pods more and fewer than `replicas` a rolling upgrade of a Deployment may have."""
        rolling = self.spec.get("strategy", {}).get("rollingUpdate", {})
        surge = count(rolling.get("maxSurge", "25%"), self.replicas, math.ceil)
        unavailable = count(rolling.get("maxUnavailable", "25%"), self.replicas, math.floor)
        return surge, unavailable if surge or unavailable else 1


class Rendered:
    """All documents of an overlay."""

    def __init__(self, documents):
        self.documents = documents
        self.workloads = {w.name: w for w in (Workload(d) for d in documents if d["kind"] in RUNS)}
        self.services = [d for d in documents if d["kind"] == "Service"]
        self.budgets = [d["spec"] for d in documents if d["kind"] == "PodDisruptionBudget"]
        self.namespace = next((d["metadata"]["name"] for d in documents if d["kind"] == "Namespace"), "default")

    def config_map(self, name):
        return next(d for d in self.documents if d["kind"] == "ConfigMap" and d["metadata"]["name"] == name)

    def replace_file(self, config_map, key, text):
        """The ConfigMap's name may end in a hash of its content."""
        found = [d for d in self.documents if d["kind"] == "ConfigMap" and d["metadata"]["name"].startswith(config_map)]
        (document,) = (d for d in found if key in d["data"])
        document["data"][key] = text

    def secrets(self):
        """The names of all Secrets that pods use; none of them is in the manifests."""
        names = set()
        for workload in self.workloads.values():
            spec = workload.template["spec"]
            names |= {volume["secret"]["secretName"] for volume in spec.get("volumes", []) if "secret" in volume}
        return names

    def max_unavailable(self, labels):
        """How many pods with these labels may be evicted at a time; all where no budget says otherwise."""
        for budget in self.budgets:
            if selects(budget["selector"]["matchLabels"], labels):
                replicas = next(w.replicas for w in self.workloads.values() if w.labels == labels)
                return count(budget["maxUnavailable"], replicas, math.ceil)
        return sum(w.replicas for w in self.workloads.values() if w.labels == labels)


def count(number, of, rounding):
    """A number, or a share such as 50%."""
    return rounding(of * int(number[:-1]) / 100) if isinstance(number, str) else number


def selects(selector, labels):
    return all(labels.get(name) == value for name, value in selector.items())
