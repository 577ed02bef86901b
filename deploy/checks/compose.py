"""The compose file, as far as it can be checked without an engine."""

import re

from . import commands, identity

SERVICE_KEYS = {
    "image", "build", "command", "entrypoint", "restart", "read_only", "cap_drop", "security_opt",
    "stop_grace_period", "environment", "env_file", "volumes", "secrets", "ports", "depends_on",
    "healthcheck", "profiles", "user", "working_dir", "tmpfs", "networks",
}
SERVICES = ("redis", "coordinator", "gateway", "worker-1", "worker-2", "sweep")


def check_compose(compose, folder):
    faults = []
    services = compose.get("services") or {}
    for key in compose:
        if key not in {"name", "services", "volumes", "networks", "secrets"} and not key.startswith("x-"):
            faults.append(f"compose: unknown section {key}")
    for wanted in SERVICES:
        if wanted not in services:
            faults.append(f"compose: service {wanted} is missing")
    for name, secret in (compose.get("secrets") or {}).items():
        if secret != {"file": f"./tokens/{name}"}:
            faults.append(f"compose: secret {name} must be the file ./tokens/{name}")
    for name, service in services.items():
        faults += check_service(f"compose: {name}", service, compose, folder)
    return faults


def check_service(name, service, compose, folder):
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
    environment = service.get("environment") or {}
    for host in re.findall(r"(?:http|redis)://([a-z0-9-]+):", " ".join([*command, *environment.values()])):
        if host not in services:
            faults.append(f"{name}: calls {host}, which is no service")
    if service.get("image", "").startswith("agon"):
        # The log's variable is shared by all roles.
        faults += commands.check_command(name, command, environment)
        faults += check_tokens(name, command, environment, service, compose, folder)
    return faults


def check_tokens(name, command, environment, service, compose, folder):
    mounted = {secret["target"] for secret in service.get("secrets", [])}
    faults = [f"{name}: mounts {secret['source']}, which is no secret"
              for secret in service.get("secrets", []) if secret["source"] not in (compose.get("secrets") or {})]
    text = (folder / "identity.toml").read_text()
    faults += identity.check_file("identity.toml", text)
    wanted = {word for word in [*command, *environment.values()] if word.startswith(identity.FOLDER)}
    if "--identity" in command:
        wanted |= set(re.findall(r'^file = "(.+)"', text, re.MULTILINE))
    elif command[0] in ("coordinator", "gateway"):
        faults.append(f"{name}: knows nobody: no identity file")
    if command[0] in ("worker", "run", "coordinator") and not any(path.startswith(identity.FOLDER) for path in wanted):
        faults.append(f"{name}: shows no token")
    return faults + [f"{name}: there is no {path}" for path in sorted(wanted - mounted)]
