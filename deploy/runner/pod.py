"""One pod as a process: its files, user, probes and end, as the kubelet has them. What it is told to do comes
from cluster.py. A container that ends is started again in its pod, unless the pod is to stop.
"""

import os
import re
import subprocess
import threading
import time

from . import probes

LOOK_EVERY = 0.05
# Kubernetes starts probing at any time within the first period; the same time here in every run.
FIRST_PROBE_AFTER = 1.0
# A container that ends again and again waits so long, then twice as long, up to five minutes.
FIRST_BACK_OFF, LONGEST_BACK_OFF = 10.0, 300.0
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


class Pod:
    """`template` is that of the manifest; `files` are folders by the names of its volumes."""

    def __init__(self, cluster, workload, name, template, files):
        self.cluster, self.workload, self.name, self.template = cluster, workload, name, template
        self.spec = template["spec"]
        (self.container,) = self.spec["containers"]
        self.labels = template["metadata"]["labels"]
        self.mounts = {mount["mountPath"]: files[mount["name"]] for mount in self.container.get("volumeMounts", [])}
        self.ready = self.stopping = self.disrupted = self.force_killed = False
        self.process = self.exit_code = None
        self.restarts = 0
        self.ended_by_itself = 0
        self.before_restart = None
        self.was_killed = False
        self.gone = threading.Event()
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self):
        self.thread.start()

    def kill(self, before_restart=None):
        """SIGKILL, as the kernel's for want of memory; `before_restart` is called while the process is gone."""
        self.ready, self.was_killed, self.before_restart = False, True, before_restart
        self.process.kill()

    def stop(self, disrupted=False):
        """SIGTERM; SIGKILL when its time is over. Does not wait."""
        self.disrupted = disrupted
        self.ready = False
        self.stopping = time.monotonic()
        if self.process:
            self.process.terminate()

    def address(self, port):
        """Host and port here of a port of the container, by number or name."""
        return "127.0.0.1", self.cluster.addresses.port(self.name, container_port(self.container, port))

    def rewrite(self, text):
        return self.cluster.addresses.rewrite(text, self.name, self.mounts)

    def command(self, words):
        """A command of the manifest as it is run here, as the user of the manifest."""
        program, *rest = (self.rewrite(self._expand(word)) for word in words)
        if program == "redis-server":
            rest += ["--bind", "127.0.0.1", "--port", str(self.address("redis")[1])]
        if program == "redis-cli":
            rest = ["-p", str(self.address("redis")[1]), *rest]
        return [*self.cluster.as_user(self.spec), program, *rest]

    def surroundings(self):
        """Variables and folder, for subprocess. Nothing but volumes can be written to."""
        return {"env": self._variables(), "cwd": self.mounts.get(self.container.get("workingDir"), "/")}

    def _run(self):
        back_off = 0.0
        try:
            while not self.stopping:
                self._start_process()
                self._watch()
                self.exit_code = self.process.returncode
                if self.stopping or self.spec.get("restartPolicy", "Always") == "Never":
                    return
                if not self.was_killed:
                    self.ended_by_itself += 1
                self.was_killed, hook, self.before_restart = False, self.before_restart, None
                if hook:
                    hook()
                until = time.monotonic() + back_off
                while time.monotonic() < until and not self.stopping:
                    time.sleep(LOOK_EVERY)
                back_off = min(max(FIRST_BACK_OFF, 2 * back_off), LONGEST_BACK_OFF)
                self.restarts += 1
        finally:
            self.ready = False
            self.gone.set()

    def _start_process(self):
        image = self.container["image"].split("/")[-1].split(":")[0]
        entry = self.container.get("command") or [str(self.cluster.images[image])]
        command = self.command([*entry, *self.container.get("args", [])])
        with (self.cluster.scratch / "logs" / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.surroundings()
            )
        if self.stopping:
            self.process.terminate()

    def _watch(self):
        """Until the process has ended: probes while it is to run, the last signal when it has not stopped in time."""
        now = time.monotonic()
        due = {kind: now + FIRST_PROBE_AFTER for kind in PROBES if kind in self.container}
        failed = dict.fromkeys(due, 0)
        self.ready = "readinessProbe" not in due and not self.stopping
        while self.process.poll() is None:
            time.sleep(LOOK_EVERY)
            if self.stopping:
                self._enforce_end()
                continue
            for kind in list(due):
                if time.monotonic() < due[kind] or ("startupProbe" in due and kind != "startupProbe"):
                    continue
                probe = self.container[kind]
                succeeded = probes.succeeds(probe, self)
                due[kind] = time.monotonic() + probe.get("periodSeconds", 10)
                failed[kind] = 0 if succeeded else failed[kind] + 1
                is_failed = failed[kind] >= probe.get("failureThreshold", 3)
                if kind == "startupProbe" and succeeded:
                    del due[kind]
                    due.update(dict.fromkeys(due, time.monotonic()))
                if kind == "readinessProbe" and (succeeded or is_failed):
                    self.ready = succeeded and not self.stopping
                if kind != "readinessProbe" and is_failed:
                    self.cluster.note(f"{self.name}: {kind} failed {failed[kind]} times")
                    self.process.terminate()
                    failed[kind] = 0

    def _enforce_end(self):
        grace = self.spec.get("terminationGracePeriodSeconds", 30)
        if time.monotonic() > self.stopping + grace and not self.force_killed:
            self.force_killed = True
            self.process.kill()

    def _variables(self):
        variables = {"PATH": os.environ["PATH"], "HOSTNAME": self.name}
        for source in self.container.get("envFrom", []):
            kind, reference = next((kind, source[kind]) for kind in ("configMapRef", "secretRef") if kind in source)
            values = self.cluster.values(kind.removesuffix("Ref"), reference["name"], reference.get("optional", False))
            variables.update({name: value.decode() for name, value in values.items()})
        for variable in self.container.get("env", []):
            variables[variable["name"]] = self._value(variable, variables)
        return {name: self.rewrite(value) for name, value in variables.items()}

    def _value(self, variable, known):
        if "value" in variable:
            return re.sub(r"\$\((\w+)\)", lambda found: known.get(found[1], found[0]), variable["value"])
        source = variable["valueFrom"]
        if "fieldRef" in source:
            fields = {"metadata.name": self.name, "metadata.namespace": self.cluster.namespace}
            return fields[source["fieldRef"]["fieldPath"]]
        kind = "configMap" if "configMapKeyRef" in source else "secret"
        reference = source[f"{kind}KeyRef"]
        return self.cluster.values(kind, reference["name"], False)[reference["key"]].decode()

    def _expand(self, word):
        if "$(" not in word:
            return word
        known = self._variables()
        return re.sub(r"\$\((\w+)\)", lambda found: known.get(found[1], found[0]), word)


def container_port(container, port):
    """The number of a port that a probe or a Service names."""
    if isinstance(port, int):
        return port
    return next(each["containerPort"] for each in container["ports"] if each["name"] == port)


def write_files(folder, values, items, mode, owner):
    """A ConfigMap's or a Secret's values as files; owned as Kubernetes does with fsGroup."""
    folder.mkdir(parents=True)
    paths = {item["key"]: item["path"] for item in items} if items else {key: key for key in values}
    for key, path in paths.items():
        (folder / path).write_bytes(values[key])
        own(folder / path, owner, mode)
    own(folder, owner, 0o750 if mode & 0o004 == 0 else 0o755)


def own(path, owner, mode):
    """`owner` is a user and a group, or nothing where the caller is not root."""
    if owner:
        os.chown(path, *owner)
    path.chmod(mode if owner else mode | 0o700 if path.is_dir() else mode | 0o600)
