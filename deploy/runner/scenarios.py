"""What is done to an installation while a sweep runs, and what must be true afterwards: the Job is done, every
session is there once with the bytes of an undisturbed run, and no call was made twice but those that were under
way when their gateway or Redis was killed. Called by run_manifests.py.
"""

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Callable

from . import probes, sweep
from .cluster import Cluster, Violation, until
from .rendered import Rendered, render
from .sweep import Sweep

# The count of calls that a sweep has reached when it is disturbed.
FIRST_SHARE = 0.3
# With a crash-looping container's waits and a Job's between two tries.
SWEEP_WITHIN = 180.0
# A crash of Redis's node may lose so much: `appendfsync everysec`.
REDIS_LOSES = 1.0
# deploy/README.md: "takes over within ten seconds".
TAKES_OVER_WITHIN = 10.0


@dataclass
class Size:
    """Of a sweep: sessions of each of the four games, rounds of a session, and what an answer takes."""

    repeats: int
    rounds: int
    latency: str


@dataclass
class Undisturbed:
    """What a sweep comes to when nothing happens."""

    records: bytes
    decisions: int
    seconds: float


@dataclass
class Disturbance:
    """`allowed` calls may be made again; `told` says why."""

    allowed: int = 0
    told: str = ""


@dataclass
class Scenario:
    """`disturb` is called once the sweep runs, with the installation and the sweep."""

    name: str
    disturb: Callable


@contextmanager
def installation(overlay, size, binary):
    """A running installation, which is ended whatever happens; when something is wrong, what it wrote stays."""
    rendered = Rendered(render(overlay))
    sweep.prepare(rendered, size.repeats, size.rounds, size.latency)
    cluster, keep = Cluster(rendered, binary), False
    try:
        cluster.start()
        yield cluster
    except Exception:
        keep = True
        print(f"logs and files: {cluster.scratch}")
        raise
    finally:
        cluster.close(keep)


def undisturbed(overlay, size, binary):
    """The records that every scenario is held against."""
    with installation(overlay, size, binary) as cluster:
        running = Sweep(cluster)
        seconds = running.wait_end(SWEEP_WITHIN)
        records = running.pull()
        decisions, calls = sweep.decisions(records), running.calls()
        if decisions != calls:
            raise Violation(f"undisturbed: {decisions} decisions and {calls} calls")
        return Undisturbed(records, decisions, seconds)


def run(scenario, overlay, size, binary, expected):
    """Plays one scenario on an installation of its own; answers its line."""
    with installation(overlay, size, binary) as cluster:
        running = Sweep(cluster)
        running.wait_calls(int(expected.decisions * FIRST_SHARE))
        disturbance = scenario.disturb(cluster, running)
        if running.job.result == "done":
            raise Violation("the sweep ended before all was done to it")
        seconds = running.wait_end(SWEEP_WITHIN)
        return f"{scenario.name}: {judge(running, expected, disturbance)}, {seconds:.1f} s"


def count_sessions(expected):
    return len(sweep.sessions(expected.records))


def judge(running, expected, disturbance):
    cluster = running.cluster
    for pod in cluster.pods:
        if pod.ended_by_itself:
            raise Violation(f"{pod.name} ended by itself {pod.ended_by_itself} times; last with {pod.exit_code}")
        if pod.force_killed:
            raise Violation(f"{pod.name} had to be killed after its time to stop")
    records, calls = running.pull(), running.calls()
    compare(records, calls, expected, disturbance.allowed)
    told = f"{calls - expected.decisions} calls made again{disturbance.told}"
    tries = f", the Job's exit codes {running.job.exit_codes}" if running.job.tries > 1 else ""
    return f"{count_sessions(expected)} sessions, {calls} calls, {told}, the same {len(records)} bytes{tries}"


def compare(records, calls, expected, allowed):
    """Raises what is wrong with what a sweep came to."""
    found, wanted = sweep.sessions(records), sweep.sessions(expected.records)
    if lost := set(wanted) - set(found):
        raise Violation(f"{len(lost)} of {len(wanted)} sessions are lost, such as {min(lost)}")
    if len(found) != len(wanted):
        raise Violation(f"{len(found)} records of {len(wanted)} sessions")
    if records != expected.records:
        pairs = zip(records.splitlines(), expected.records.splitlines())
        number = next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 0)
        raise Violation(f"the records differ from those of an undisturbed run, first in line {number}")
    again = calls - expected.decisions
    if not 0 <= again <= allowed:
        raise Violation(f"{calls} calls for {expected.decisions} decisions; {allowed} may be made again")


def try_breaking(expected):
    """A comparison that finds nothing wrong with what is broken on purpose is a fault of its own."""
    records, calls = expected.records, expected.decisions
    first, rest = records.split(b"\n", 1)
    broken = {
        "a lost session": (rest, calls),
        "a session that is there twice": (first + b"\n" + records, calls),
        "another byte": (records.replace(b'"seat":0', b'"seat":1', 1), calls),
        "a call that was paid twice": (records, calls + 1),
        "a call of which nobody knows": (records, calls - 1),
    }
    for what, (changed, count) in broken.items():
        try:
            compare(changed, count, expected, 0)
        except Violation:
            continue
        raise Violation(f"{what} is not noticed")
    compare(records, calls, expected, 0)


# Rolling upgrades.


def roll(name):
    def disturb(cluster, running):
        cluster.roll(cluster.rendered.workloads[name])
        return Disturbance()

    return Scenario(f"roll {name}", disturb)


ROLLS = [roll(name) for name in ("coordinator", "gateway", "worker", "redis")]


# Drains. The model server is somebody else's, and keeps the count.


def drain(what, choose):
    def disturb(cluster, running):
        cluster.drain(choose(cluster, running))
        return Disturbance()

    return Scenario(f"drain {what}", disturb)


def all_pods(cluster, running):
    pods = [pod for name in ("coordinator", "gateway", "worker", "redis") for pod in cluster.of(name)]
    return [*pods, running.job.pod]


def half_of_pods(cluster, _):
    """One of two, two of three; Redis is elsewhere."""
    return [pod for name in ("coordinator", "gateway", "worker") for pod in cluster.of(name)[::2]]


DRAIN = drain("of the only node", all_pods)
DRAIN_HALF = drain("of one node of two", half_of_pods)


# Kills.


def kill(name):
    def disturb(cluster, running):
        pod, under_way = cluster.of(name)[0], []
        pod.kill(before_restart=lambda: under_way.append(running.claims()) if name == "gateway" else None)
        until(f"{pod.name} runs again", lambda: pod.restarts and pod.ready, 60)
        if name == "gateway":
            return Disturbance(under_way[0], f" of {under_way[0]} under way")
        return Disturbance()

    return Scenario(f"kill {name}", disturb)


def kill_sweep(cluster, running):
    pod = running.job.pod
    pod.kill()
    until("the sweep's pod is gone", pod.gone.is_set, 10)
    # The Job's next try comes after ten seconds, and may find everything done.
    return Disturbance()


def crash_of_node(cluster, running):
    """All is killed at once, and the file of Redis ends where it ended a second before."""
    pods = {name: cluster.of(name)[0] for name in ("redis", "coordinator", "gateway", "worker")}
    (file,) = (cluster.scratch / "volumes/data-redis-0").glob("appendonlydir/*.incr.aof")
    asked_before = running.calls()
    under_way = running.claims()
    size, begun = file.stat().st_size, time.monotonic()
    until("a second", lambda: time.monotonic() - begun >= REDIS_LOSES, 2 * REDIS_LOSES)
    for name, pod in pods.items():
        pod.kill(before_restart=(lambda: os.truncate(file, size)) if name == "redis" else None)
    allowed = running.calls() - asked_before + under_way
    for pod in pods.values():
        until(f"{pod.name} runs again", lambda: pod.restarts and pod.ready, 60)
    return Disturbance(allowed, f" of {allowed} that were under way or of the lost second")


def take_over(cluster, running):
    """The coordinator in charge is away until the other one has taken over."""
    pods = cluster.of("coordinator")
    first = next(pod for pod in pods if is_in_charge(pod))
    (other,) = (pod for pod in pods if pod is not first)
    took, begun = [], time.monotonic()

    def wait_for_other():
        try:
            until(f"{other.name} is in charge", lambda: is_in_charge(other), 3 * TAKES_OVER_WITHIN)
            took.append(time.monotonic() - begun)
        except Violation as found:
            took.append(found)

    first.kill(before_restart=wait_for_other)
    until(f"{first.name} runs again", lambda: first.restarts and first.ready, 60)
    if isinstance(took[0], Violation):
        raise took[0]
    if took[0] > TAKES_OVER_WITHIN:
        raise Violation(f"{other.name} took over after {took[0]:.1f} s")
    return Disturbance(0, f", {other.name} took over after {took[0]:.1f} s")


def is_in_charge(pod):
    try:
        return probes.is_serving(pod.address("grpc"), "", 2, pod.cluster.client_certificates)
    except OSError:
        return False


KILLS = [kill(name) for name in ("coordinator", "gateway", "worker", "redis")]
KILL_SWEEP = Scenario("kill sweep", kill_sweep)
CRASH_OF_NODE = Scenario("crash of the only node", crash_of_node)
TAKE_OVER = Scenario("take over", take_over)
