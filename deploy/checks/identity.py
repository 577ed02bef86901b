"""Identity files: their form, and that every token is where whoever needs it finds it."""

import tomllib

OF_TEAMS = {"read", "submit", "play"}
SCOPES = OF_TEAMS | {"worker", "coordinator", "admin"}
FOLDER = "/run/secrets/agon/"
# Which scopes the token of a role must have: one of them.
NEEDED = {"worker": {"worker"}, "coordinator": {"coordinator"}, "sweep": {"submit", "admin"}}


def check_file(name, text):
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        return [f"{name}: {fault}"]
    faults = [f"{name}: unknown section {key}" for key in read.keys() - {"teams", "tokens"}]
    for team, settings in read.get("teams", {}).items():
        faults += [f"{name}: team {team}: unknown {key}" for key in settings.keys() - {"sessions"}]
    for token, settings in read.get("tokens", {}).items():
        faults += [f"{name}: token {token}: unknown {key}" for key in settings.keys() - {"team", "scopes", "file", "env"}]
        scopes = set(settings.get("scopes", []))
        if not scopes or not scopes <= SCOPES:
            faults.append(f"{name}: token {token}: scopes must be of {', '.join(sorted(SCOPES))}")
        if "team" in settings and settings["team"] not in read.get("teams", {}):
            faults.append(f"{name}: token {token}: there is no team {settings['team']}")
        if ("team" in settings) != (scopes <= OF_TEAMS) or ("team" not in settings and scopes & OF_TEAMS):
            faults.append(f"{name}: token {token}: {', '.join(sorted(OF_TEAMS))} belong to a team, the others to none")
        if settings.get("file") != FOLDER + token:
            faults.append(f"{name}: token {token}: must be the file {FOLDER + token}")
    return faults


def check_identity(documents, workloads):
    """In one rendered installation. Whoever serves one reads the same file and all its tokens."""
    faults, tokens = [], {}
    for document in documents:
        if document["kind"] == "ConfigMap" and document["metadata"]["name"] == "agon-identity":
            faults += check_file("identity.toml", document["data"]["identity.toml"])
            if not faults:
                tokens = tomllib.loads(document["data"]["identity.toml"])["tokens"]
    for workload in workloads:
        role = workload["metadata"]["name"]
        for container in workload["spec"]["template"]["spec"]["containers"]:
            variables = {variable["name"]: variable.get("value", "") for variable in container.get("env", [])}
            calls = "AGON_COORDINATOR" in variables or any("configMapRef" in s for s in container.get("envFrom", []))
            if role in NEEDED and calls and "AGON_TOKEN_FILE" not in variables:
                faults.append(f"{workload['kind']}/{role}: shows no token")
            if role in ("coordinator", "gateway") and "AGON_IDENTITY" not in variables:
                faults.append(f"{workload['kind']}/{role}: knows nobody: no identity file")
            shown = variables.get("AGON_TOKEN_FILE", "").removeprefix(FOLDER)
            # A team's own namespace may name its token otherwise.
            if shown in tokens and not NEEDED.get(role, set()) & set(tokens[shown]["scopes"]):
                faults.append(f"{workload['kind']}/{role}: its token {shown} has not the scope that it needs")
            elif shown and tokens and shown not in tokens and role != "sweep":
                faults.append(f"{workload['kind']}/{role}: identity.toml knows no token {shown}")
    return faults
