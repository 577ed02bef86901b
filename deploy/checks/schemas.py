"""Schemas of what Kubernetes and the operators beside it accept; unknown fields are faults.

Kubernetes' own come from kubernetes-validate, those of KEDA, the Prometheus operator and cert-manager
are made of the models that the cloudcoil packages generate from their CRDs (all Apache-2.0).
"""

import json

import jsonschema
import kubernetes_validate
from cloudcoil.models.cert_manager import v1 as cert_manager
from cloudcoil.models.keda import v1alpha1 as keda
from cloudcoil.models.prometheus_operator import v1 as prometheus

# The oldest that has all that is used, one between, the newest.
VERSIONS = ("1.31", "1.34", "1.37")
OTHERS = {
    ("keda.sh/v1alpha1", "ScaledObject"): keda.ScaledObject,
    ("monitoring.coreos.com/v1", "PodMonitor"): prometheus.PodMonitor,
    ("monitoring.coreos.com/v1", "PrometheusRule"): prometheus.PrometheusRule,
    ("cert-manager.io/v1", "Certificate"): cert_manager.Certificate,
    ("cert-manager.io/v1", "Issuer"): cert_manager.Issuer,
}


SEEN = {}  # Documents by their text, to their faults: most are met many times.


def check_schema(document):
    text = json.dumps(document, sort_keys=True)
    if text not in SEEN:
        SEEN[text] = faults_of(document)
    return SEEN[text]


def faults_of(document):
    name = f"{document.get('kind')}/{document.get('metadata', {}).get('name')}"
    other = OTHERS.get((document.get("apiVersion"), document.get("kind")))
    if other:
        found = jsonschema.Draft202012Validator(schema_of(other)).iter_errors(document)
        return [f"{name}: {fault.json_path}: {deepest(fault).message}" for fault in found]
    faults = []
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as fault:
            path = ".".join(str(part) for part in fault.path)
            faults.append(f"{name}: {version}: {path}: {fault.message}")
        except kubernetes_validate.SchemaNotFoundError as fault:
            faults.append(f"{name}: {version}: {fault.message}")
    return faults


def deepest(fault):
    """The reason below an alternative, in place of "is not valid under any of the given schemas"."""
    return deepest(max(fault.context, key=lambda below: len(below.path))) if fault.context else fault


MADE = {}


def schema_of(model):
    if model not in MADE:
        MADE[model] = closed(model.model_json_schema(by_alias=True))
    return MADE[model]


def closed(schema):
    """The schema with every object closed to fields that it does not list."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(part) for key, part in schema.items()}
    if isinstance(made.get("properties"), dict) and made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made
