"""Network policies, as a cluster would enforce them: who is governed, which calls get through."""

import re

# Neighbours that are not in the manifests. A namespace of None is the manifests' own.
MONITORING = ({"app": "prometheus"}, {"agon.dev/monitoring": "true"})
CLIENT = ({"agon.dev/client": "true"}, None)
CLIENTS = ({"app": "notebook"}, {"agon.dev/client": "true"})
# Whoever calls model providers.
CALLS_OUT = ("gateway",)
STRANGER = ({"app": "notebook"}, {"team": "other"})


def pod_of(workload):
    return workload["spec"]["template"]["metadata"]["labels"]


def selects(selector, labels):
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for wanted in selector.get("matchExpressions", []):
        if (labels.get(wanted["key"]) in wanted.get("values", [])) != (wanted["operator"] == "In"):
            return False
    return True


def peer_fits(peer, pod, namespace):
    """Pods have addresses that no range of ours is for: only selectors let them in."""
    if "ipBlock" in peer:
        return False
    if "namespaceSelector" in peer:
        if not selects(peer["namespaceSelector"], namespace or {}):
            return False
    elif namespace is not None:
        return False
    return selects(peer.get("podSelector", {}), pod)


def lets_through(policies, way, pod, other, ports):
    """Whether pods with the labels `pod` may speak to `other` (labels, labels of the namespace)."""
    kind, side = ("Ingress", "from") if way == "ingress" else ("Egress", "to")
    governing = [policy for policy in policies
                 if kind in policy["spec"]["policyTypes"] and selects(policy["spec"]["podSelector"], pod)]
    for policy in governing:
        for rule in policy["spec"].get(way, []):
            peers, open_to = rule.get(side), rule.get("ports")
            if peers is not None and not any(peer_fits(peer, *other) for peer in peers):
                continue
            if open_to is None or any(port.get("port") in ports for port in open_to):
                return True
    return not governing


def check_network(documents, workloads):
    policies = [d for d in documents if d["kind"] == "NetworkPolicy"]
    faults = []
    for workload in workloads:
        name, pod = f"{workload['kind']}/{workload['metadata']['name']}", pod_of(workload)
        for kind in ("Ingress", "Egress"):
            if not any(kind in p["spec"]["policyTypes"] and selects(p["spec"]["podSelector"], pod) for p in policies):
                faults.append(f"{name}: no network policy governs its {kind.lower()}")
        if not any(p["spec"].get("egress") and selects(p["spec"]["podSelector"], pod)
                   and any(port.get("port") == 53 for rule in p["spec"]["egress"] for port in rule.get("ports", []))
                   for p in policies) and workload["metadata"]["name"] not in ("redis", "sim-llm"):
            faults.append(f"{name}: may not ask for names")
        if workload["metadata"]["name"] in CALLS_OUT and not any(
                selects(p["spec"]["podSelector"], pod) and any(
                    "ipBlock" in peer for rule in p["spec"].get("egress", []) for peer in rule.get("to", [])
                    if any(port.get("port") == 443 for port in rule.get("ports", [])))
                for p in policies):
            faults.append(f"{name}: may not call model providers")
        opened = {port["name"] for c in workload["spec"]["template"]["spec"]["containers"] for port in c.get("ports", [])}
        faults += check_neighbours(name, pod, opened, policies)
    return faults


def check_neighbours(name, pod, opened, policies):
    faults = []

    def reached(by, port):
        return lets_through(policies, "ingress", pod, by, {port})

    if "metrics" in opened and not reached(MONITORING, "metrics"):
        faults.append(f"{name}: monitoring namespaces do not reach its metrics")
    for by in (CLIENT, CLIENTS):
        if "grpc" in opened and not reached(by, "grpc"):
            faults.append(f"{name}: labelled clients do not reach it")
    for port in opened:
        if reached(STRANGER, port):
            faults.append(f"{name}: pods of any namespace reach its port {port}")
    if "redis" in opened and any(reached(({"app.kubernetes.io/component": role}, None), "redis")
                                 for role in ("worker", "sweep", "sim-llm")):
        faults.append(f"{name}: more than coordinator and gateway reach it")
    return faults


def check_call(name, caller, service, documents, workloads):
    """Whether the policies on both sides allow a call to a service."""
    policies = [d for d in documents if d["kind"] == "NetworkPolicy"]
    selector = service["spec"]["selector"]
    for workload in workloads:
        callee = pod_of(workload)
        if not selector.items() <= callee.items():
            continue
        ports = {port["targetPort"] for port in service["spec"]["ports"]}
        if not lets_through(policies, "egress", pod_of(caller), (callee, None), ports):
            return [f"{name}: no policy lets it call {service['metadata']['name']}"]
        if not lets_through(policies, "ingress", callee, (pod_of(caller), None), ports):
            return [f"{name}: {service['metadata']['name']} lets no call of it in"]
    return []


def addresses(text):
    """Host and port of every address in a text."""
    return re.findall(r"(?:https?|rediss?)://([a-z0-9.-]+):(\d+)", text)
