"""Command lines and variables of the roles, against the help of the binary when one is built."""

import re
import subprocess

ROLES = {"coordinator", "gateway", "worker", "run", "sim-llm"}

# Role to the text of its help, and the text about exit codes; empty when there is no binary to ask.
HELP = {}
EXIT_CODES = set()
# After these another try may end otherwise.
TRIED_AGAIN = {0, 3, 130}


def read_help(binary):
    for role in ROLES:
        answer = subprocess.run([binary, role, "--help"], capture_output=True, text=True)
        if answer.returncode == 0:
            HELP[role] = answer.stdout
    text = subprocess.run([binary, "--help"], capture_output=True, text=True).stdout
    _, _, codes = text.partition("Exit codes:")
    EXIT_CODES.update(int(code) for code in re.findall(r"^ +(\d+) ", codes, re.MULTILINE))


def flags_of(role):
    return set(re.findall(r"--[a-z0-9-]+", HELP[role]))


def variables_of(role):
    return set(re.findall(r"\[env:\s+(AGON_\w+)", HELP[role]))


def check_command(name, arguments, variables, shared=()):
    """Variables of the container itself must be the role's; `shared` ones of any role."""
    if not arguments or arguments[0] not in ROLES:
        return [f"{name}: `agon {' '.join(arguments[:1])}` is no role"]
    role = arguments[0]
    flags = {argument for argument in arguments if argument.startswith("--")}
    faults = []
    if role == "coordinator" and "--gateway" not in flags and "AGON_GATEWAY" not in {*variables, *shared}:
        faults.append(f"{name}: without a gateway nobody has ledgers deleted")
    if role not in HELP:
        return faults
    faults += [f"{name}: agon {role} has no flag {flag}" for flag in sorted(flags - flags_of(role))]
    own = {variable for variable in variables if variable.startswith("AGON_")}
    faults += [f"{name}: agon {role} reads no {variable}" for variable in sorted(own - variables_of(role))]
    every = set().union(*(variables_of(other) for other in HELP))
    others = {variable for variable in shared if variable.startswith("AGON_")}
    return faults + [f"{name}: nothing reads {variable}" for variable in sorted(others - every)]


def check_retries(name, rules):
    """Whether a Job gives up on exactly those exit codes after which another try changes nothing."""
    given_up = {code for rule in rules if rule["action"] in ("FailJob", "FailIndex")
                for code in rule.get("onExitCodes", {}).get("values", [])}
    wanted = EXIT_CODES - TRIED_AGAIN
    if EXIT_CODES and given_up != wanted:
        return [f"{name}: gives up after exit codes {sorted(given_up)}, not {sorted(wanted)}"]
    return []


def check_words(binary, name, text):
    """Commands that a document names exist, with their flags."""
    faults = []
    for line in sorted(set(re.findall(r"(?:`|^|\| )agon ([a-z][^`\n#]*)", text, re.MULTILINE))):
        words = [word for word in line.split() if re.fullmatch("[a-z-]+", word) and not word.startswith("-")]
        command = words[:2] if words[0] in ("gateway", "experiments", "results", "token", "team") else words[:1]
        answer = subprocess.run([binary, *command, "--help"], capture_output=True, text=True)
        if answer.returncode:
            faults.append(f"{name}: there is no `agon {' '.join(command)}`")
        known = set(re.findall(r"--[a-z0-9-]+", answer.stdout))
        flags = set(re.findall(r"(?<!\S)--[a-z0-9-]+", line))
        faults += [f"{name}: `agon {' '.join(command)}` has no {flag}" for flag in sorted(flags - known)]
    return faults


def check_experiment(binary, path):
    answer = subprocess.run([binary, "check", str(path)], capture_output=True, text=True)
    return [] if answer.returncode == 0 else [f"{path.name}: {answer.stderr.strip()}"]
