"""Rendered manifests: what schemas cannot say. Users, probes, budgets, references, calls, time to stop."""

import re

from . import commands, identity, network
from .schemas import check_schema

WORKLOADS = {"Deployment", "StatefulSet", "Job"}
# Made by hand, named in README.md, with the keys that are used of them. None: any.
SECRETS = {
    "agon-keys": None,
    "agon-tokens": None,
    "agon-redis": {"url"},
    "agon-archive": None,
    "agon-redis-tls": {"ca.crt", "tls.crt", "tls.key"},
    "coordinator-tls": {"ca.crt", "tls.crt", "tls.key"},
    "gateway-tls": {"ca.crt", "tls.crt", "tls.key"},
    "agon-client-tls": {"ca.crt", "tls.crt", "tls.key"},
}
# Seconds to stop in order. A gateway waits for paid calls, which may take half an hour.
DRAIN = {"gateway": 1830}
STOPS_WITHIN = 30


def name_of(document):
    return f"{document.get('kind')}/{document.get('metadata', {}).get('name')}"


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def check_manifests(documents):
    faults = [fault for document in documents for fault in check_schema(document)]
    if faults:
        return faults  # The checks below lean on the shape.
    workloads = [document for document in documents if document["kind"] in WORKLOADS]
    for document in documents:
        kind, spec = document["kind"], document.get("spec", {})
        if kind == "Secret":
            faults.append(f"{name_of(document)}: secrets are made by hand, never kept here")
        if kind == "Service":
            faults += check_selector(document, spec["selector"], workloads)
        if kind == "PodDisruptionBudget":
            faults += check_selector(document, spec["selector"]["matchLabels"], workloads)
        if kind in ("ScaledObject", "HorizontalPodAutoscaler"):
            faults += check_scaler(document, workloads)
        if kind == "PodMonitor":
            faults += check_monitor(document, workloads)
    for workload in workloads:
        faults += check_workload(workload, documents, workloads)
    return faults + network.check_network(documents, workloads) + identity.check_identity(documents, workloads)


def check_selector(document, wanted, workloads):
    chosen = [w for w in workloads if wanted.items() <= network.pod_of(w).items()]
    if len(chosen) == 1:
        return []
    return [f"{name_of(document)}: its selector finds {len(chosen)} workloads, not one"]


def check_scaler(document, workloads):
    name, spec = name_of(document), document["spec"]
    target = [w for w in workloads if w["metadata"]["name"] == spec["scaleTargetRef"]["name"]]
    if not target:
        return [f"{name}: scales {spec['scaleTargetRef']['name']}, which does not exist"]
    faults = []
    if "replicas" in target[0]["spec"]:
        faults.append(f"{name}: every apply would undo it: {name_of(target[0])} sets replicas")
    places = variables_of(pod_of(target[0])["containers"][0]).get("AGON_PLACES")
    wanted = [trigger["metadata"]["threshold"] for trigger in spec.get("triggers", [])]
    wanted += [metric["external"]["target"]["averageValue"] for metric in spec.get("metrics", [])]
    return faults + [f"{name}: scales at {value} sessions for a worker of {places} places"
                     for value in wanted if value != places]


def check_monitor(document, workloads):
    chosen = [w for w in workloads if network.selects(document["spec"]["selector"], network.pod_of(w))]
    faults = [] if chosen else [f"{name_of(document)}: its selector finds no pod"]
    for endpoint in document["spec"]["podMetricsEndpoints"]:
        if not any(endpoint["port"] == port["name"] for w in chosen for c in pod_of(w)["containers"] for port in c.get("ports", [])):
            faults.append(f"{name_of(document)}: no pod has a port {endpoint['port']}")
    return faults


def check_workload(workload, documents, workloads):
    name, pod = name_of(workload), pod_of(workload)
    faults = []
    security = pod.get("securityContext", {})
    if security.get("runAsNonRoot") is not True or security.get("runAsUser", 0) == 0:
        faults.append(f"{name}: must run as a user other than root")
    if pod.get("automountServiceAccountToken") is not False:
        faults.append(f"{name}: must not get a service account token")
    is_embedded = any(c.get("args", [""])[0] == "run" and "AGON_COORDINATOR" not in every_variable(c, documents)
                      for c in pod["containers"])
    needed = DRAIN["gateway"] if is_embedded else DRAIN.get(workload["metadata"]["name"], STOPS_WITHIN)
    if pod.get("terminationGracePeriodSeconds", 0) < needed:
        faults.append(f"{name}: needs {needed} s to stop in order")
    if workload["kind"] == "Job":
        faults += check_job(name, workload["spec"])
    elif not any(d["kind"] == "PodDisruptionBudget" and d["metadata"]["name"] == workload["metadata"]["name"] for d in documents):
        faults.append(f"{name}: has no PodDisruptionBudget")
    volumes = {claim["metadata"]["name"]: set() for claim in workload["spec"].get("volumeClaimTemplates", [])}
    for volume in pod.get("volumes", []):
        volumes[volume["name"]] = files_of(volume, documents)
        faults += check_volume(name, volume, documents)
    for container in pod["containers"]:
        faults += check_container(name, workload["kind"], container, documents)
        faults += check_mounts(name, container, volumes, documents)
        faults += check_calls(name, workload, container, documents, workloads)
    return faults


def check_job(name, spec):
    faults = []
    rules = spec.get("podFailurePolicy", {}).get("rules", [])
    if spec["template"]["spec"]["restartPolicy"] != "Never":
        faults.append(f"{name}: its exit codes count only with restartPolicy Never")
    if not any(rule["action"] == "Ignore" and "onPodConditions" in rule for rule in rules):
        faults.append(f"{name}: an evicted pod must not count as a failure")
    if "backoffLimit" not in spec and "backoffLimitPerIndex" not in spec:
        faults.append(f"{name}: needs a limit of tries")
    return faults + commands.check_retries(name, rules)


def check_volume(name, volume, documents):
    if "configMap" in volume:
        return check_present(name, "ConfigMap", volume["configMap"]["name"], documents)
    if "persistentVolumeClaim" in volume:
        return check_present(name, "PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"], documents)
    if "secret" in volume:
        faults = check_secret(name, volume["secret"]["secretName"])
        if volume["secret"].get("defaultMode") != 0o440:
            faults.append(f"{name}: the files of {volume['name']} must have the mode 0440")
        return faults
    return []


def check_secret(name, wanted, key=None):
    if wanted not in SECRETS:
        return [f"{name}: README.md does not know the Secret {wanted}"]
    if key is not None and SECRETS[wanted] is not None and key not in SECRETS[wanted]:
        return [f"{name}: the Secret {wanted} has no {key}"]
    return []


def files_of(volume, documents):
    """The files of a volume; None where they are not known."""
    if "configMap" in volume:
        found = [d for d in documents if d["kind"] == "ConfigMap" and d["metadata"]["name"] == volume["configMap"]["name"]]
        return set(found[0]["data"]) if found else set()
    if "secret" in volume:
        items = volume["secret"].get("items")
        return {item["path"] for item in items} if items else SECRETS.get(volume["secret"]["secretName"])
    return None


def check_mounts(name, container, volumes, documents):
    faults, mounted = [], {}
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            faults.append(f"{name}: mounts {mount['name']}, which is no volume of the pod")
        else:
            mounted[mount["mountPath"]] = volumes[mount["name"]]
    named = {value for value in every_variable(container, documents).values() if value.startswith("/")}
    named |= {argument for argument in container.get("args", []) if argument.startswith("/etc/")}
    for path in named:
        folder, _, file = path.rpartition("/")
        if folder not in mounted or (mounted[folder] is not None and file not in mounted[folder]):
            faults.append(f"{name}: there is no file {path}")
    return faults


def check_container(name, kind, container, documents):
    faults = []
    security = container.get("securityContext", {})
    if not security.get("readOnlyRootFilesystem"):
        faults.append(f"{name}: its root file system must be read-only")
    if security.get("allowPrivilegeEscalation") is not False:
        faults.append(f"{name}: must not be able to gain privileges")
    if security.get("capabilities", {}).get("drop") != ["ALL"]:
        faults.append(f"{name}: must drop all capabilities")
    if not re.search(r":[^:/]*\d[^:/]*$", container["image"]):
        faults.append(f"{name}: image {container['image']} has no version")
    resources = container.get("resources", {})
    if "memory" not in resources.get("limits", {}) or "cpu" not in resources.get("requests", {}):
        faults.append(f"{name}: needs a memory limit and a CPU request")
    if kind != "Job":
        faults += check_probes(name, container, documents)
    for variable in container.get("env", []):
        if "KEY" in variable["name"] and not str(variable.get("value", "/")).startswith("/"):
            faults.append(f"{name}: {variable['name']} holds a key in the open")
    for source in container.get("envFrom", []):
        if "configMapRef" in source:
            faults += check_present(name, "ConfigMap", source["configMapRef"]["name"], documents)
        if "secretRef" in source:
            faults += check_secret(name, source["secretRef"]["name"])
    for variable in container.get("env", []):
        reference = variable.get("valueFrom", {}).get("secretKeyRef")
        if reference:
            faults += check_secret(name, reference["name"], reference["key"])
    if not container["image"].startswith("redis:"):
        own = {variable["name"] for variable in container.get("env", [])}
        faults += commands.check_command(name, container.get("args", []), own, shared_variables(container, documents))
    return faults


def check_probes(name, container, documents):
    faults = []
    if not {"readinessProbe", "livenessProbe"} <= container.keys():
        faults.append(f"{name}: needs readiness and liveness probes")
    ports = {port.get("name"): port["containerPort"] for port in container.get("ports", [])}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        for check in container.get(probe, {}).values():
            port = check.get("port") if isinstance(check, dict) else None
            if port is not None and port not in ports and port not in ports.values():
                faults.append(f"{name}: {probe} asks port {port}, which is not open")
        if "grpc" in container.get(probe, {}) and "AGON_TLS_CERT" in every_variable(container, documents):
            faults.append(f"{name}: {probe} speaks no TLS")
    return faults


def check_calls(name, workload, container, documents, workloads):
    """Whether there is somebody at every address, speaking as it is called, and the network lets calls through."""
    variables = every_variable(container, documents)
    if container.get("args", [""])[0] == "coordinator":
        variables.pop("AGON_COORDINATOR", None)  # For those who call it.
    faults = []
    for host, port in network.addresses(" ".join([*variables.values(), *container.get("args", [])])):
        services = {d["metadata"]["name"]: d for d in documents if d["kind"] == "Service"}
        pod, _, behind = host.rpartition(".")
        if behind and behind not in services:
            continue  # Of another namespace, or of another place.
        service = services.get(behind or host)
        if service is None or int(port) not in {p["port"] for p in service["spec"]["ports"]}:
            faults.append(f"{name}: calls {host}:{port}, which no service offers")
            continue
        if pod and not any(w["kind"] == "StatefulSet" and pod in {f"{w['metadata']['name']}-{n}" for n in range(w["spec"]["replicas"])}
                           and w["spec"]["serviceName"] == behind for w in workloads):
            faults.append(f"{name}: calls {host}, and there is no such pod")
        faults += network.check_call(name, workload, service, documents, workloads)
        called = [w for w in workloads if w["metadata"]["name"] == service["metadata"]["name"]]
        if not pod and any(w["kind"] == "StatefulSet" and w["spec"]["replicas"] > 1 for w in called):
            faults.append(f"{name}: calls {host}, which may be a replica that only stands by: name every pod")
        speaks = any("AGON_TLS_CERT" in every_variable(c, documents) for w in called for c in pod_of(w)["containers"])
        if service["metadata"]["name"] in ("coordinator", "gateway") and speaks != (f"https://{host}:" in str(variables)):
            faults.append(f"{name}: calls {host} {'without' if speaks else 'with'} TLS")
    return faults


def variables_of(container):
    """The container's own variables; those from Secrets without a value."""
    return {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}


def shared_variables(container, documents):
    shared = {}
    for source in container.get("envFrom", []):
        for document in documents:
            if document["kind"] == "ConfigMap" and document["metadata"]["name"] == source.get("configMapRef", {}).get("name"):
                shared.update(document["data"])
    return shared


def every_variable(container, documents):
    return {**shared_variables(container, documents), **variables_of(container)}


def check_present(name, kind, wanted, documents):
    if any(d["kind"] == kind and d["metadata"]["name"] == wanted for d in documents):
        return []
    return [f"{name}: {kind} {wanted} does not exist"]
