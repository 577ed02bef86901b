"""Good input broken on purpose, one thing at a time. A check that says nothing about it is at fault.

Each way of breaking belongs to a rendered installation (or another input) and changes a copy of it.
"""

import copy


def unnoticed(what, good, broken, check):
    """The ways of breaking `good` that `check` says nothing about."""
    missed = []
    for how, damage in broken.items():
        damaged = copy.deepcopy(good)
        damaged = damage(damaged) if isinstance(good, str) else (damage(damaged), damaged)[1]
        if damaged == good:
            missed.append(f"{how} in {what} changes nothing: the way of breaking it is out of date")
        elif not check(damaged):
            missed.append(f"the checks do not notice {how} in {what}")
    return missed


def of(documents, kind, name):
    return next(d for d in documents if d["kind"] == kind and d["metadata"]["name"].startswith(name))


def pod(documents, kind, name):
    return of(documents, kind, name)["spec"]["template"]["spec"]


def container(documents, kind, name):
    return pod(documents, kind, name)["containers"][0]


def variable(documents, kind, name, wanted):
    return next(v for v in container(documents, kind, name)["env"] if v["name"] == wanted)


def drop(documents, kind, name):
    documents.remove(of(documents, kind, name))


def text_of(documents, name, file, old, new):
    data = of(documents, "ConfigMap", name)["data"]
    data[file] = data[file].replace(old, new, 1)


def add_labels_of_anybody(documents):
    rules = of(documents, "NetworkPolicy", "coordinator")["spec"]["ingress"]
    rules[0]["from"].append({"namespaceSelector": {}})


# Of the overlay `small`.
SMALL = {
    "a word for a number": lambda d: of(d, "Deployment", "worker")["spec"].update(replicas="three"),
    "an unknown field": lambda d: of(d, "Deployment", "worker")["spec"].update(replica=3),
    "a missing required field": lambda d: of(d, "Job", "sweep")["spec"].pop("template"),
    "an unknown kind": lambda d: d.append({"apiVersion": "apps/v1", "kind": "Workload", "metadata": {"name": "x"}}),
    "a field that Kubernetes 1.31 has not": lambda d: pod(d, "Deployment", "worker").update(hostnameOverride="x"),
    "an API that only Kubernetes 1.31 has": lambda d: d.append({"apiVersion": "flowcontrol.apiserver.k8s.io/v1beta3", "kind": "FlowSchema", "metadata": {"name": "x"}}),
    "a selector that finds nothing": lambda d: of(d, "Service", "gateway")["spec"].update(selector={"app": "gate"}),
    "a missing config map": lambda d: drop(d, "ConfigMap", "agon-config"),
    "a missing file": lambda d: of(d, "ConfigMap", "agon-config")["data"].update({"x.toml": of(d, "ConfigMap", "agon-config")["data"].pop("agon.toml")}),
    "a secret in the open": lambda d: d.append({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "agon-keys"}, "stringData": {"OPENAI_API_KEY": "sk"}}),
    "a secret that nobody makes": lambda d: pod(d, "Deployment", "worker")["volumes"][0]["secret"].update(secretName="agon-token"),
    "a secret that its user cannot read": lambda d: pod(d, "Deployment", "worker")["volumes"][0]["secret"].update(defaultMode=0o400),
    "a key in the open": lambda d: container(d, "Deployment", "gateway")["env"].append({"name": "OPENAI_API_KEY", "value": "sk"}),
    "a root user": lambda d: pod(d, "Deployment", "gateway")["securityContext"].update(runAsUser=0),
    "a writable root": lambda d: container(d, "Deployment", "worker")["securityContext"].update(readOnlyRootFilesystem=False),
    "a probe of a closed port": lambda d: container(d, "StatefulSet", "coordinator")["readinessProbe"]["grpc"].update(port=7701),
    "too little time to stop": lambda d: pod(d, "Deployment", "gateway").update(terminationGracePeriodSeconds=600),
    "a role that is none": lambda d: container(d, "Deployment", "worker")["args"].__setitem__(0, "wrker"),
    "a call to nobody": lambda d: of(d, "ConfigMap", "agon-env")["data"].update(AGON_COORDINATOR="http://coordinator:7701"),
    "a coordinator without a gateway": lambda d: of(d, "ConfigMap", "agon-env")["data"].pop("AGON_GATEWAY"),
    "an image without a version": lambda d: container(d, "StatefulSet", "redis").update(image="redis:latest"),
    "no disruption budget of the gateway": lambda d: drop(d, "PodDisruptionBudget", "gateway"),
    "no disruption budget of the coordinator": lambda d: drop(d, "PodDisruptionBudget", "coordinator"),
    "no network policy of the worker": lambda d: drop(d, "NetworkPolicy", "worker"),
    "a worker that may not call the gateway": lambda d: of(d, "NetworkPolicy", "worker")["spec"].update(egress=[]),
    "a gateway that lets no worker in": lambda d: of(d, "NetworkPolicy", "gateway")["spec"]["ingress"].pop(0),
    "a Redis that lets workers in": lambda d: of(d, "NetworkPolicy", "redis")["spec"]["ingress"][0]["from"][0]["podSelector"]["matchExpressions"][0]["values"].append("worker"),
    "a coordinator that lets anybody in": add_labels_of_anybody,
    "metrics that are out of reach": lambda d: of(d, "NetworkPolicy", "worker")["spec"].update(ingress=[]),
    "nobody who may ask for names": lambda d: drop(d, "NetworkPolicy", "names-and-traces"),
    "a gateway that may not call providers": lambda d: of(d, "NetworkPolicy", "gateway")["spec"]["egress"].pop(0),
    "a worker without a token": lambda d: container(d, "Deployment", "worker")["env"].remove(variable(d, "Deployment", "worker", "AGON_TOKEN_FILE")),
    "a token that is not mounted": lambda d: variable(d, "Deployment", "worker", "AGON_TOKEN_FILE").update(value="/run/secrets/agon/admin"),
    "a gateway that knows nobody": lambda d: container(d, "Deployment", "gateway")["env"].remove(variable(d, "Deployment", "gateway", "AGON_IDENTITY")),
    "a scope that is none": lambda d: text_of(d, "agon-identity", "identity.toml", '"submit"', '"submti"'),
    "a worker's token without its scope": lambda d: text_of(d, "agon-identity", "identity.toml", '["worker"]', '["coordinator"]'),
    "a team's token with the installation's scope": lambda d: text_of(d, "agon-identity", "identity.toml", '["submit"]', '["submit", "admin"]'),
    "a token of no team": lambda d: text_of(d, "agon-identity", "identity.toml", 'team = "lab"', 'team = "lba"'),
    "a Job that retries in place": lambda d: pod(d, "Job", "sweep").update(restartPolicy="OnFailure"),
    "a Job that an eviction fails": lambda d: of(d, "Job", "sweep")["spec"]["podFailurePolicy"]["rules"].pop(0),
}
# Of the overlay `production`.
PRODUCTION = {
    "an unknown field of KEDA": lambda d: of(d, "ScaledObject", "worker")["spec"].update(maxReplicas=3),
    "a scaler of nobody": lambda d: of(d, "ScaledObject", "worker")["spec"]["scaleTargetRef"].update(name="wrker"),
    "a scaler against an apply": lambda d: of(d, "Deployment", "worker")["spec"].update(replicas=3),
    "a scaler for other places": lambda d: of(d, "ScaledObject", "worker")["spec"]["triggers"][0]["metadata"].update(threshold="32"),
    "an unknown field of a PodMonitor": lambda d: of(d, "PodMonitor", "agon")["spec"]["podMetricsEndpoints"][0].update(intervall="1s"),
    "a monitor of no port": lambda d: of(d, "PodMonitor", "agon")["spec"]["podMetricsEndpoints"][0].update(port="metric"),
    "a monitor of no pod": lambda d: of(d, "PodMonitor", "agon")["spec"]["selector"]["matchLabels"].update(app="x"),
    "an unknown field of a PrometheusRule": lambda d: of(d, "PrometheusRule", "agon")["spec"]["groups"][0]["rules"][0].update(expresion="1"),
    "a probe without TLS": lambda d: container(d, "StatefulSet", "coordinator").update(readinessProbe={"grpc": {"port": 7700}}),
    "a call without TLS": lambda d: of(d, "ConfigMap", "agon-env")["data"].update(AGON_GATEWAY="http://gateway:7710"),
    "a call to a replica that is none": lambda d: of(d, "ConfigMap", "agon-env")["data"].update(AGON_COORDINATOR="https://coordinator-2.coordinator:7700"),
    "a call to whichever replica": lambda d: of(d, "ConfigMap", "agon-env")["data"].update(AGON_COORDINATOR="https://coordinator:7700"),
    "a certificate that is not mounted": lambda d: pod(d, "Deployment", "worker")["volumes"].pop(),
    "a key of a Secret that is none": lambda d: variable(d, "Deployment", "gateway", "AGON_REDIS")["valueFrom"]["secretKeyRef"].update(key="uri"),
}
# Of the component `autoscale-hpa`.
SCALER = {
    "a scaler for other places": lambda d: of(d, "HorizontalPodAutoscaler", "worker")["spec"]["metrics"][0]["external"]["target"].update(averageValue="32"),
    "an unknown field": lambda d: of(d, "HorizontalPodAutoscaler", "worker")["spec"].update(maxReplicaCount=3),
}
# Of the component `cert-manager`.
CERTIFICATES = {
    "an unknown field of a Certificate": lambda d: of(d, "Certificate", "gateway-tls")["spec"].update(dnsName="x"),
    "an unknown field of an Issuer": lambda d: of(d, "Issuer", "agon-ca")["spec"].update(selfsigned={}),
}
# Of the overlay `sharded`.
SHARDED = {
    "calls that are cut off": lambda d: pod(d, "Job", "sweep").update(terminationGracePeriodSeconds=30),
    "results that are not kept": lambda d: drop(d, "PersistentVolumeClaim", "sweep-results"),
}
# With a binary to ask.
COMPARED = {
    "an unknown flag": lambda d: container(d, "Deployment", "worker")["args"].append("--place"),
    "an unknown variable": lambda d: variable(d, "Deployment", "worker", "AGON_PLACES").update(name="AGON_PLACE"),
    "an unknown shared variable": lambda d: of(d, "ConfigMap", "agon-env")["data"].update(AGON_LOGS="json"),
    "a Job that tries wrong input again": lambda d: of(d, "Job", "sweep")["spec"]["podFailurePolicy"]["rules"][1]["onExitCodes"].update(values=[1, 4]),
}
COMPOSE = {
    "a dependency on nobody": lambda c: c["services"]["gateway"]["depends_on"].update(rediss={"condition": "service_started"}),
    "a missing service": lambda c: c["services"].pop("worker-2"),
    "no image": lambda c: c["services"]["redis"].pop("image"),
    "a coordinator without a gateway": lambda c: c["services"]["coordinator"]["command"].remove("--gateway"),
    "a command that is no role": lambda c: c["services"]["worker-1"].update(command=["play"]),
    "an unknown key": lambda c: c["services"]["worker-1"].update(restrat="always"),
    "a file that is not there": lambda c: c["services"]["gateway"].update(volumes=["./none.toml:/etc/agon/agon.toml"]),
    "a call to nobody": lambda c: c["services"]["worker-1"]["command"].__setitem__(2, "http://coord:7700"),
    "a token that is not mounted": lambda c: c["services"]["coordinator"].update(secrets=c["services"]["coordinator"]["secrets"][1:]),
    "a worker without a token": lambda c: c["services"]["worker-1"]["command"].__delitem__(slice(5, 7)),
    "a secret of no file": lambda c: c["secrets"].pop("sweeps"),
}
DOCKERFILE = {
    "an unknown instruction": lambda t: t.replace("WORKDIR", "WRKDIR", 1),
    "a stage that is none": lambda t: t.replace("--from=skeleton", "--from=skeletn"),
    "a root user": lambda t: t.replace("USER 65532:65532", "USER root"),
    "another entrypoint": lambda t: t.replace("bin/agon\"]", "bin/sh\"]"),
    "an image without certificates": lambda t: t.replace("gcr.io/distroless/static-debian12:nonroot", "scratch"),
    "a binary without its list of dependencies": lambda t: t.replace("cargo auditable build", "cargo build", 1),
    "a binary that needs a libc": lambda t: t.replace(' --target "$(uname -m)-unknown-linux-musl"', "", 1),
    "a script that does not reach the build": lambda t: t.replace("deploy/split-symbols.sh", "deploy/split.sh"),
}
DASHBOARD = {
    "a metric that is none": lambda d: d["panels"][1]["targets"][0].update(expr="sum by (team) (agon_sessions_waitin)"),
    "a label that is none": lambda d: d["panels"][1]["targets"][0].update(expr="sum by (tem) (agon_sessions_waiting)"),
    "a query that is none": lambda d: d["panels"][1]["targets"][0].update(expr="sum by (team (agon_sessions_waiting)"),
    "a counter as a gauge": lambda d: d["panels"][1]["targets"][0].update(expr="sum(agon_coordinator_leases_total)", legendFormat=""),
    "a gauge as a counter": lambda d: d["panels"][1]["targets"][0].update(expr="sum(rate(agon_coordinator_leases[5m]))", legendFormat=""),
    "a legend of nothing": lambda d: d["panels"][1]["targets"][0].update(legendFormat="{{provider}}"),
    "a panel over another": lambda d: d["panels"][2]["gridPos"].update(x=0),
}
ALERTS = {
    "a metric that is none": lambda g: g[0]["rules"][0].update(expr="agon_up == 0"),
    "no severity": lambda g: g[0]["rules"][0]["labels"].clear(),
    "no summary": lambda g: g[0]["rules"][0]["annotations"].pop("summary"),
    "another link": lambda g: g[0]["rules"][0]["annotations"].update(runbook_url="deploy/runbook.md#agon"),
    "an alert without an entry": lambda g: g[0]["rules"][0].update(alert="AgonSomething"),
    "an entry without an alert": lambda g: g[0]["rules"].pop(0),
}
RUNBOOK = {
    "an entry that says not what to do": lambda t: t.replace("- Do:", "- Don't:", 1),
}
ADAPTER = {
    "a metric that is none": lambda r: r["rules"]["external"][0].update(metricsQuery="sum(agon_sessions_waitin{<<.LabelMatchers>>})"),
    "a name that nobody asks for": lambda r: r["rules"]["external"][0]["name"].update({"as": "agon_open"}),
}
IDENTITY = {
    "an unknown setting": lambda t: t.replace("scopes =", "scope =", 1),
    "a file of another name": lambda t: t.replace("agon/worker", "agon/workers", 1),
}
WORDS = {
    "a command that is none": lambda t: t + "`agon gateway statsu`",
    "a flag that is none": lambda t: t + "`agon gateway status --jsn`",
}
