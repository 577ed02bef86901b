"""Checks rendered manifests, the compose file and the Dockerfile; see validate.sh, which calls it.

Every check returns a list of faults in plain words. The last part breaks good input on purpose,
one thing at a time, and is itself at fault when a check says nothing about it.
"""

import argparse
import copy
import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import dockerfile_parse
import kubernetes_validate
import yaml

DEPLOY = Path(__file__).resolve().parent
KUBERNETES = "1.32"
ROLES = {"coordinator", "gateway", "worker", "run", "sim-llm"}
WORKLOADS = {"Deployment", "StatefulSet", "Job"}
INSTRUCTIONS = {
    "FROM", "RUN", "CMD", "LABEL", "EXPOSE", "ENV", "ADD", "COPY", "ENTRYPOINT", "VOLUME",
    "USER", "WORKDIR", "ARG", "ONBUILD", "STOPSIGNAL", "HEALTHCHECK", "SHELL", "COMMENT",
}


# --- Kubernetes ---------------------------------------------------------------------------------

def check_manifests(documents):
    faults = []
    for document in documents:
        try:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)
        except kubernetes_validate.ValidationError as fault:
            path = ".".join(str(part) for part in fault.path)
            faults.append(f"{name_of(document)}: {path}: {fault.message}")
        except kubernetes_validate.SchemaNotFoundError as fault:
            faults.append(f"{name_of(document)}: {fault.message}")
    if faults:
        return faults  # The checks below lean on the shape.
    workloads = [document for document in documents if document["kind"] in WORKLOADS]
    for document in documents:
        kind = document["kind"]
        if kind == "Secret":
            faults.append(f"{name_of(document)}: secrets are made by hand, never kept here")
        if kind == "Service":
            faults += check_selector(document, document["spec"]["selector"], workloads)
        if kind == "PodDisruptionBudget":
            labels = document["spec"]["selector"]["matchLabels"]
            faults += check_selector(document, labels, workloads)
    for workload in workloads:
        faults += check_workload(workload, documents)
    for role in ("worker", "gateway"):
        if not any(d["kind"] == "PodDisruptionBudget" and d["metadata"]["name"] == role
                   for d in documents):
            faults.append(f"no PodDisruptionBudget for {role}")
    return faults


def check_selector(document, wanted, workloads):
    chosen = [w for w in workloads
              if wanted.items() <= w["spec"]["template"]["metadata"]["labels"].items()]
    if len(chosen) == 1:
        return []
    return [f"{name_of(document)}: its selector finds {len(chosen)} workloads, not one"]


def check_workload(workload, documents):
    name, pod = name_of(workload), workload["spec"]["template"]["spec"]
    faults = []
    security = pod.get("securityContext", {})
    if security.get("runAsNonRoot") is not True or security.get("runAsUser", 0) == 0:
        faults.append(f"{name}: must run as a user other than root")
    if pod.get("automountServiceAccountToken") is not False:
        faults.append(f"{name}: must not get a service account token")
    # A gateway waits for paid calls, which may take half an hour.
    needed = 1830 if name.endswith("gateway") else 30
    if pod.get("terminationGracePeriodSeconds", 0) < needed:
        faults.append(f"{name}: needs {needed} s to stop in order")
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    volumes |= {c["metadata"]["name"] for c in workload["spec"].get("volumeClaimTemplates", [])}
    for volume in pod.get("volumes", []):
        if "configMap" in volume:
            faults += check_present(name, "ConfigMap", volume["configMap"]["name"], documents)
    for container in pod["containers"]:
        faults += check_container(name, workload["kind"], container, volumes)
    for host, port in re.findall(r"(?:http|redis)://([a-z-]+):(\d+)", str(pod["containers"])):
        services = [d for d in documents
                    if d["kind"] == "Service" and d["metadata"]["name"] == host]
        ports = {p["port"] for service in services for p in service["spec"]["ports"]}
        if int(port) not in ports:
            faults.append(f"{name}: calls {host}:{port}, which no service offers")
    return faults


def check_container(name, kind, container, volumes):
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
    if kind != "Job" and not {"readinessProbe", "livenessProbe"} <= container.keys():
        faults.append(f"{name}: needs readiness and liveness probes")
    ports = {port.get("name"): port["containerPort"] for port in container.get("ports", [])}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        for check in container.get(probe, {}).values():
            port = check.get("port") if isinstance(check, dict) else None
            if port is not None and port not in ports and port not in ports.values():
                faults.append(f"{name}: {probe} asks port {port}, which is not open")
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            faults.append(f"{name}: mounts {mount['name']}, which is no volume of the pod")
    for variable in container.get("env", []):
        if "KEY" in variable["name"] and "value" in variable:
            faults.append(f"{name}: {variable['name']} holds a key in the open")
    if not container["image"].startswith("redis:"):
        faults += check_command(name, container.get("args", []))
    return faults


def check_present(name, kind, wanted, documents):
    if any(d["kind"] == kind and d["metadata"]["name"] == wanted for d in documents):
        return []
    return [f"{name}: {kind} {wanted} does not exist"]


def name_of(document):
    return f"{document.get('kind')}/{document.get('metadata', {}).get('name')}"


# --- Commands -----------------------------------------------------------------------------------

HELP = {}  # Role to the text of its help; empty when there is no binary to ask.


def check_command(name, arguments):
    if not arguments or arguments[0] not in ROLES:
        return [f"{name}: `agon {' '.join(arguments[:1])}` is no role"]
    role = arguments[0]
    flags = [argument for argument in arguments if argument.startswith("--")]
    faults = []
    if role == "coordinator" and "--gateway" not in flags:
        faults.append(f"{name}: without --gateway nobody has ledgers deleted")
    if role not in HELP:
        return faults
    known = set(re.findall(r"--[a-z0-9-]+", HELP[role]))
    return faults + [f"{name}: agon {role} has no flag {flag}" for flag in flags if flag not in known]


def read_help(binary):
    for role in ROLES:
        answer = subprocess.run([binary, role, "--help"], capture_output=True, text=True)
        if answer.returncode == 0:
            HELP[role] = answer.stdout


def check_experiment(binary):
    answer = subprocess.run([binary, "check", str(DEPLOY / "kustomize/base/sweep.toml")],
                            capture_output=True, text=True)
    return [] if answer.returncode == 0 else [f"sweep.toml: {answer.stderr.strip()}"]


# --- Compose ------------------------------------------------------------------------------------

SERVICE_KEYS = {
    "image", "build", "command", "entrypoint", "restart", "read_only", "cap_drop", "security_opt",
    "stop_grace_period", "environment", "env_file", "volumes", "ports", "depends_on",
    "healthcheck", "profiles", "user", "working_dir", "tmpfs", "networks",
}


def check_compose(compose, folder):
    faults = []
    services = compose.get("services") or {}
    for key in compose:
        if key not in {"name", "services", "volumes", "networks"} and not key.startswith("x-"):
            faults.append(f"compose: unknown section {key}")
    for wanted in ("redis", "coordinator", "gateway", "worker-1", "worker-2", "sweep"):
        if wanted not in services:
            faults.append(f"compose: service {wanted} is missing")
    for name, service in services.items():
        faults += check_compose_service(f"compose: {name}", service, compose, folder)
    return faults


def check_compose_service(name, service, compose, folder):
    services = compose["services"]
    faults = [f"{name}: unknown key {key}" for key in service if key not in SERVICE_KEYS]
    if not isinstance(service.get("image"), str) or ":" not in service["image"]:
        faults.append(f"{name}: needs an image with a version")
    build = service.get("build")
    if build:
        context = (folder / build["context"]).resolve()
        if not (context / build["dockerfile"]).is_file():
            faults.append(f"{name}: there is no {build['dockerfile']} in {build['context']}")
    for other, condition in (service.get("depends_on") or {}).items():
        if other not in services:
            faults.append(f"{name}: depends on {other}, which is no service")
        elif condition["condition"] == "service_healthy" and "healthcheck" not in services[other]:
            faults.append(f"{name}: waits for the health of {other}, which has no check")
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        if source.startswith("."):
            if not (folder / source).exists():
                faults.append(f"{name}: mounts {source}, which does not exist")
        elif source not in (compose.get("volumes") or {}):
            faults.append(f"{name}: mounts {source}, which is no volume")
    command = service.get("command")
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return faults + [f"{name}: its command must be a list of words"]
    for host in re.findall(r"(?:http|redis)://([a-z0-9-]+):", " ".join(command)):
        if host not in services:
            faults.append(f"{name}: calls {host}, which is no service")
    if service.get("image", "").startswith("agon"):
        faults += check_command(name, command)
    return faults


# --- Dockerfile ---------------------------------------------------------------------------------

def check_dockerfile(text):
    parser = dockerfile_parse.DockerfileParser(fileobj=io.BytesIO(text.encode()))
    faults, stages, last = [], [], {}
    for step in parser.structure:
        instruction, value, line = step["instruction"], step["value"], step["startline"] + 1
        if instruction not in INSTRUCTIONS:
            faults.append(f"Dockerfile:{line}: unknown instruction {instruction}")
        if instruction == "FROM":
            words = value.split()
            image = words[0]
            if image not in [*stages, "scratch"] and ":" not in image:
                faults.append(f"Dockerfile:{line}: image {image} has no version")
            stages.append(words[2] if len(words) == 3 and words[1].upper() == "AS" else "")
            last = {}
        elif not stages and instruction not in ("ARG", "COMMENT"):
            faults.append(f"Dockerfile:{line}: {instruction} before the first FROM")
        source = re.match(r"--from=(\S+)", value or "") if instruction == "COPY" else None
        if source and source.group(1) not in stages:
            faults.append(f"Dockerfile:{line}: copies from {source.group(1)}, which is no stage")
        last[instruction] = value
    if len(stages) < 2:
        faults.append("Dockerfile: must build in stages")
    if re.match(r"(root|0)?(:|$)", last.get("USER", "")):
        faults.append("Dockerfile: must end as a user other than root")
    if not re.fullmatch(r'\["\S*/agon"\]', last.get("ENTRYPOINT", "")):
        faults.append("Dockerfile: its entrypoint must be agon")
    return faults


# --- Configuration files ------------------------------------------------------------------------

def check_files():
    faults, read = [], {}
    for path in [DEPLOY / "agon.toml", *sorted((DEPLOY / "kustomize").rglob("*.toml"))]:
        try:
            read[path] = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError as fault:
            faults.append(f"{path.relative_to(DEPLOY)}: {fault}")
    stack, cluster = DEPLOY / "agon.toml", DEPLOY / "kustomize/base/agon.toml"
    if read.get(stack) != read.get(cluster):
        faults.append("agon.toml of compose and of Kubernetes say different things")
    return faults


# --- Breaking things on purpose -----------------------------------------------------------------

def manifest_of(documents, kind, name):
    return next(d for d in documents if d["kind"] == kind and d["metadata"]["name"] == name)


def container_of(documents, kind, name):
    return manifest_of(documents, kind, name)["spec"]["template"]["spec"]["containers"][0]


BROKEN_MANIFESTS = {
    "a word for a number": lambda d: manifest_of(d, "Deployment", "worker")["spec"].update(replicas="three"),
    "an unknown field": lambda d: manifest_of(d, "Deployment", "worker")["spec"].update(replica=3),
    "a missing required field": lambda d: manifest_of(d, "Job", "sweep")["spec"].pop("template"),
    "an unknown kind": lambda d: d.append({"apiVersion": "apps/v1", "kind": "Workload", "metadata": {"name": "x"}}),
    "a selector that finds nothing": lambda d: manifest_of(d, "Service", "gateway")["spec"].update(selector={"app": "gate"}),
    "a missing config map": lambda d: d.remove(next(x for x in d if x["kind"] == "ConfigMap")),
    "a secret in the open": lambda d: d.append({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "agon-keys"}, "stringData": {"OPENAI_API_KEY": "sk"}}),
    "a root user": lambda d: manifest_of(d, "Deployment", "gateway")["spec"]["template"]["spec"]["securityContext"].update(runAsUser=0),
    "a writable root": lambda d: container_of(d, "Deployment", "worker")["securityContext"].update(readOnlyRootFilesystem=False),
    "a probe of a closed port": lambda d: container_of(d, "Deployment", "coordinator")["readinessProbe"]["grpc"].update(port=7701),
    "a role that is none": lambda d: container_of(d, "Deployment", "worker")["args"].__setitem__(0, "wrker"),
    "a call to nobody": lambda d: container_of(d, "Deployment", "worker")["args"].__setitem__(2, "http://coordinator:7701"),
    "a coordinator without a gateway": lambda d: container_of(d, "Deployment", "coordinator")["args"].remove("--gateway"),
    "an image without a version": lambda d: container_of(d, "StatefulSet", "redis").update(image="redis:latest"),
    "no disruption budget": lambda d: d.remove(manifest_of(d, "PodDisruptionBudget", "gateway")),
}
BROKEN_COMPOSE = {
    "a dependency on nobody": lambda c: c["services"]["gateway"]["depends_on"].update(rediss={"condition": "service_started"}),
    "a missing service": lambda c: c["services"].pop("worker-2"),
    "no image": lambda c: c["services"]["redis"].pop("image"),
    "a coordinator without a gateway": lambda c: c["services"]["coordinator"]["command"].remove("--gateway"),
    "a command that is no role": lambda c: c["services"]["worker-1"].update(command=["play"]),
    "an unknown key": lambda c: c["services"]["worker-1"].update(restrat="always"),
    "a file that is not there": lambda c: c["services"]["gateway"].update(volumes=["./none.toml:/etc/agon/agon.toml"]),
    "a call to nobody": lambda c: c["services"]["worker-1"]["command"].__setitem__(2, "http://coord:7700"),
}
BROKEN_DOCKERFILE = {
    "an unknown instruction": lambda t: t.replace("WORKDIR", "WRKDIR", 1),
    "a stage that is none": lambda t: t.replace("--from=skeleton", "--from=skeletn"),
    "a root user": lambda t: t.replace("USER 65532:65532", "USER root"),
    "another entrypoint": lambda t: t.replace("bin/agon\"]", "bin/sh\"]"),
}
BROKEN_FLAG = {"an unknown flag": lambda d: container_of(d, "Deployment", "worker")["args"].append("--place")}


def unnoticed(what, good, broken, check):
    """The ways of breaking `good` that `check` says nothing about."""
    missed = []
    for how, damage in broken.items():
        damaged = copy.deepcopy(good)
        damaged = damage(damaged) if isinstance(good, str) else (damage(damaged), damaged)[1]
        if not check(damaged):
            missed.append(f"the checks do not notice {how} in {what}")
    return missed


# --- All of it ----------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="")
    parser.add_argument("rendered", nargs="+")
    options = parser.parse_args()
    faults = []
    if options.binary:
        read_help(options.binary)
        faults += check_experiment(options.binary)
        print(f"flags   compared with the help of {len(HELP)} roles of {options.binary}")
    else:
        print("flags   NOT compared: no binary is built")
    for path in options.rendered:
        documents = [d for d in yaml.safe_load_all(Path(path).read_text()) if d]
        found = check_manifests(documents)
        print(f"render  {Path(path).stem}: {len(documents)} manifests, {len(found)} faults")
        faults += [f"{Path(path).stem}: {fault}" for fault in found]
        if Path(path).stem == "base" and not found:
            faults += unnoticed("a manifest", documents, BROKEN_MANIFESTS, check_manifests)
            if "worker" in HELP:
                faults += unnoticed("a manifest", documents, BROKEN_FLAG, check_manifests)
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    found = check_compose(compose, DEPLOY)
    print(f"compose {len(compose['services'])} services, {len(found)} faults")
    faults += found or unnoticed("compose", compose, BROKEN_COMPOSE, lambda c: check_compose(c, DEPLOY))
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    found = check_dockerfile(dockerfile)
    print(f"docker  {len(dockerfile.splitlines())} lines, {len(found)} faults")
    faults += found or unnoticed("the Dockerfile", dockerfile, BROKEN_DOCKERFILE, check_dockerfile)
    faults += check_files()
    broken = len(BROKEN_MANIFESTS) + len(BROKEN_COMPOSE) + len(BROKEN_DOCKERFILE)
    broken += len(BROKEN_FLAG) if "worker" in HELP else 0
    print(f"broken  {broken} ways of breaking them tried")
    for fault in faults:
        print(f"FAULT   {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
