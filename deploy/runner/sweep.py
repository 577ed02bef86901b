"""A sweep on an installation: its experiment, how far it is, what came of it, and what the model server and the
ledger count. Disturbs nothing; scenarios.py does.
"""

import json
import os
import subprocess
import time

from . import probes
from .cluster import Violation, until
from .job import Job

NAME = "sweep"
# Model players alone: every decision is a call. Some answers of the model are no legal ones, so seats ask again.
EXPERIMENT = """
name = "{name}"
seed = 1
repeats = {repeats}

[players.subject]
kind = "model"
model = "sim"

[players.talker]
kind = "model"
model = "sim"
reply = "text"

[[games]]
game = "divide_dollar"
params = {{ rounds = {rounds} }}
seats = [{{ player = "subject", count = 2 }}]

[[games]]
game = "public_goods"
params = {{ rounds = {rounds} }}
seats = ["subject", "talker"]

[[games]]
game = "guess_two_thirds"
params = {{ rounds = {rounds} }}
seats = [{{ player = "subject", count = 2 }}]

[[games]]
game = "sealed_bid_auction"
params = {{ rounds = {rounds} }}
seats = ["subject", "talker"]
"""
ANSWERS = ["--latency-jitter", "200ms", "--malformed-rate", "0.05"]
# What a worker loses is played one by one afterwards, so few at once.
PLACES = "8"

# Every claim in the gateways' ledger that has not run out: a call under way. See `tests/benches/kills/in_flight.rs`.
CLAIMS = """
local number, time = 0, redis.call('TIME')
for _, key in ipairs(redis.call('KEYS', 'agon:claims:*')) do
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    if tonumber(string.match(all[i + 1], '^%d+')) > time[1] * 1000 then number = number + 1 end
  end
end
return number
"""


def prepare(rendered, repeats, rounds, latency):
    """Puts the experiment into the overlay's ConfigMap, and makes it last."""
    rendered.replace_file("agon-sweep", "sweep.toml", EXPERIMENT.format(name=NAME, repeats=repeats, rounds=rounds))
    arguments = rendered.workloads["sim-llm"].template["spec"]["containers"][0]["args"]
    arguments[arguments.index("--latency") + 1] = latency
    arguments += ANSWERS
    variables = rendered.workloads["worker"].template["spec"]["containers"][0]["env"]
    next(variable for variable in variables if variable["name"] == "AGON_PLACES")["value"] = PLACES


class Sweep:
    """One that runs."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.begun = time.monotonic()
        self.job = Job(cluster, cluster.rendered.workloads["sweep"])

    def calls(self):
        """How many the model server was asked for, whatever became of them."""
        (pod,) = self.cluster.of("sim-llm")
        return json.loads(probes.get(pod.address("http"), "/stats", 5)[1])["requests"]

    def wait_calls(self, number):
        """Until so many calls arrived, while the sweep still runs."""

        def arrived():
            if self.job.result:
                raise Violation(f"the sweep ended before it was disturbed: {self.job.result}")
            return self.calls() >= number

        until(f"{number} calls", arrived, 120)

    def wait_end(self, within):
        until("the sweep ends", lambda: self.job.result, within)
        if self.job.result != "done":
            raise Violation(self.job.result)
        return time.monotonic() - self.begun

    def claims(self):
        """Calls under way, by the gateways' ledger."""
        (pod,) = self.cluster.of("redis")
        command = pod.command(["redis-cli", "EVAL", CLAIMS, "0"])
        return int(subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout)

    def pull(self):
        """The records, fetched from outside as an operator does."""
        name, team, done, sessions, state = self.agon("experiments", "list").splitlines()[1].split()
        if (done, state) != (sessions, "done"):
            raise Violation(f"{name} of {team} is {state} with {done} of {sessions} sessions")
        out = self.cluster.scratch / "pulled"
        self.agon("results", "pull", name, "--quiet", "--out", str(out), "--data", str(self.cluster.scratch / "data"))
        return (out / "records.jsonl").read_bytes()

    def agon(self, *arguments):
        """A command from outside with the admin's token; answers what it prints."""
        cluster = self.cluster
        coordinator = next(pod for pod in cluster.pods if pod.workload.name == "coordinator")
        (environment,) = (d for d in cluster.rendered.documents if d["metadata"]["name"].startswith("agon-env"))
        address = cluster.addresses.rewrite(environment["data"]["AGON_COORDINATOR"], coordinator.name, {})
        variables = {"AGON_TOKEN_FILE": str(cluster.scratch / "secrets/agon-tokens/admin"), "AGON_COORDINATOR": address}
        if folder := cluster.client_certificates:
            files = {"AGON_CA": "ca.crt", "AGON_CLIENT_CERT": "tls.crt", "AGON_CLIENT_KEY": "tls.key"}
            variables |= {name: str(folder / file) for name, file in files.items()}
        command = [cluster.images["agon"], *arguments]
        ended = subprocess.run(
            command, env={"PATH": os.environ["PATH"], **variables}, cwd=cluster.scratch, capture_output=True, text=True,
            timeout=60,
        )
        if ended.returncode:
            raise Violation(f"agon {arguments[0]} {arguments[1]} ended with {ended.returncode}: {ended.stderr.strip()}")
        return ended.stdout


def decisions(records):
    return sum(len(json.loads(line)["decisions"]) for line in records.splitlines())


def sessions(records):
    return [json.loads(line)["session"] for line in records.splitlines()]
