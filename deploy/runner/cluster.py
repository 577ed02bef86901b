"""Rendered manifests as processes of this machine, with what controllers and kubelets do to them: start, roll,
evict, start again. Every process that was started here is ended here. Judges nothing; scenarios.py does.
"""

import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import pod as pods
from .addresses import Addresses
from .pod import Pod, container_port
from .rendered import selects
from .service import Proxies

DEPLOY = Path(__file__).resolve().parents[1]
LOOK_EVERY = 0.05
START_WITHIN = 90.0


class Violation(Exception):
    """What a scenario found wrong, in a sentence."""


def until(what, condition, within):
    """Waits for it; answers what it answered."""
    deadline = time.monotonic() + within
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise Violation(f"not within {within:.0f} s: {what}")
        time.sleep(LOOK_EVERY)
    return found


class Cluster:
    """One installation."""

    def __init__(self, rendered, binary):
        self.rendered, self.namespace = rendered, rendered.namespace
        self.scratch = Path(tempfile.mkdtemp(prefix="agon-manifests-"))
        self.scratch.chmod(0o755)
        for folder in ("logs", "pods", "volumes", "secrets"):
            (self.scratch / folder).mkdir()
        self.images = {"agon": binary}
        self.is_root = os.geteuid() == 0
        self.begun = time.monotonic()
        self.pods, self.numbers, self.is_closing = [], {}, False
        self.adding = threading.Lock()
        self._make_secrets()
        has_tls = any(name.endswith("-tls") for name in rendered.secrets())
        self.addresses = Addresses("localhost" if has_tls else "127.0.0.1", rendered.namespace)
        self.client_certificates = self.scratch / "secrets/agon-client-tls" if has_tls else None
        self.proxies = Proxies()
        self._add_services()

    def close(self, keep):
        """Ends everything at once; what it wrote stays where somebody may want to read it."""
        with self.adding:
            self.is_closing = True
        running = [pod for pod in self.pods if not pod.gone.is_set()]
        for pod in running:
            pod.stop()
            if pod.process:
                pod.process.kill()
        for pod in running:
            pod.gone.wait(10)
        self.proxies.close()
        if not keep:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def note(self, text):
        """A line of the cluster's own log."""
        with (self.scratch / "logs/cluster.log").open("a") as log:
            log.write(f"{time.monotonic() - self.begun:7.2f} {text}\n")

    # What runs.

    def of(self, name):
        """The pods of a workload that are not stopping."""
        return [pod for pod in self.pods if pod.workload.name == name and not pod.stopping and not pod.gone.is_set()]

    def start(self):
        """Everything but Jobs, all at once; waits until all are ready."""
        services = [workload for workload in self.rendered.workloads.values() if workload.kind != "Job"]
        for workload in services:
            for number in range(workload.replicas):
                self.add_pod(workload, number)
        for workload in services:
            self.wait_ready(workload)

    def wait_ready(self, workload):
        def all_ready():
            running = self.of(workload.name)
            return len(running) == workload.replicas and all(pod.ready for pod in running)

        until(f"{workload.name} is ready", all_ready, START_WITHIN)

    def add_pod(self, workload, number=None):
        """Starts one; of a StatefulSet that of the number, whose name, address and volumes stay."""
        if workload.kind != "StatefulSet":
            number = self.numbers[workload.name] = self.numbers.get(workload.name, -1) + 1
        name = f"{workload.name}-{number}"
        files = self._volumes(workload, name)
        pod = Pod(self, workload, name, workload.template, files)
        with self.adding:
            if self.is_closing:
                raise Violation(f"{name} is not started: all is being stopped")
            self.pods.append(pod)
            self.note(f"{name} starts")
            pod.start()
        return pod

    # What is done to it.

    def roll(self, workload):
        """A new version, as the manifest says that it replaces the old one."""
        old = self.of(workload.name)
        if workload.kind == "StatefulSet":
            for pod in reversed(old):
                self.replace_in_set(pod)
            return
        surge, unavailable = workload.surge_and_unavailable()
        new, going = [], list(old)
        while going or not all(pod.ready for pod in new):
            while len(new) < workload.replicas and len(new) + len(going) < workload.replicas + surge:
                new.append(self.add_pod(workload))
            ready = sum(pod.ready for pod in [*new, *going])
            # What is not ready serves nobody.
            going.sort(key=lambda pod: pod.ready)
            while going and (not going[0].ready or ready > workload.replicas - unavailable):
                ready -= going[0].ready
                self.end(going.pop(0))
            self.wait_changed(new, START_WITHIN)
        for pod in old:
            self.wait_gone(pod)

    def wait_changed(self, new, within):
        """Until a pod that was not ready is."""
        pending = [pod for pod in new if not pod.ready]
        if pending:
            until(f"{pending[0].name} is ready", lambda: any(pod.ready for pod in pending), within)

    def replace_in_set(self, pod, disrupted=False):
        """The old pod is gone before its successor starts."""
        number = int(pod.name.rsplit("-", 1)[1])
        self.end(pod, disrupted)
        self.wait_gone(pod)
        successor = self.add_pod(pod.workload, number)
        until(f"{successor.name} is ready", lambda: successor.ready, START_WITHIN)

    def end(self, pod, disrupted=False):
        self.note(f"{pod.name} is to stop")
        pod.stop(disrupted)

    def wait_gone(self, pod):
        grace = pod.spec.get("terminationGracePeriodSeconds", 30)
        until(f"{pod.name} is gone", pod.gone.is_set, grace + 10)
        self.note(f"{pod.name} is gone")
        if pod.force_killed:
            raise Violation(f"{pod.name} did not stop within its {grace} s")

    def drain(self, pods):
        """Evicts these pods, at any time as many as the budgets allow; each is started again elsewhere."""
        waiting, moving = list(pods), []
        elsewhere = ThreadPoolExecutor(len(pods))
        while waiting:
            for pod in list(waiting):
                if pod.workload.kind != "Job" and not self._may_evict(pod.workload):
                    continue
                waiting.remove(pod)
                # A Job's pod is replaced by its controller.
                if pod.workload.kind == "Job":
                    self.end(pod, disrupted=True)
                elif pod.workload.kind == "StatefulSet":
                    pod.ready = False
                    moving.append(elsewhere.submit(self.replace_in_set, pod, True))
                else:
                    self.end(pod, disrupted=True)
                    self.add_pod(pod.workload)
            time.sleep(LOOK_EVERY)
        for moved in moving:
            moved.result()
        elsewhere.shutdown()
        for workload in {pod.workload for pod in pods if pod.workload.kind != "Job"}:
            self.wait_ready(workload)
        for pod in pods:
            self.wait_gone(pod)

    def _may_evict(self, workload):
        ready = sum(pod.ready for pod in self.of(workload.name))
        return ready > workload.replicas - self.rendered.max_unavailable(workload.labels)

    # What it needs.

    def values(self, kind, name, optional):
        """The keys of a ConfigMap or a Secret, with their values as bytes."""
        if kind == "configMap":
            return {key: text.encode() for key, text in self.rendered.config_map(name)["data"].items()}
        folder = self.scratch / "secrets" / name
        if optional and not folder.exists():
            return {}
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def as_user(self, spec):
        """The words before a command that make it run as the manifest says; it ends when this program does."""
        context = spec["securityContext"]
        words = ["setpriv", "--pdeathsig", "KILL", "--no-new-privs"]
        if self.is_root:
            words += ["--reuid", str(context["runAsUser"]), "--regid", str(context["runAsGroup"])]
            words += ["--groups", str(context["fsGroup"]), "--inh-caps=-all", "--bounding-set=-all"]
        return [*words, "--"]

    def _owner(self, spec):
        return (0, spec["securityContext"]["fsGroup"]) if self.is_root else None

    def _volumes(self, workload, name):
        """The folders of a pod's volumes, filled."""
        spec, files = workload.template["spec"], {}
        owner = self._owner(spec)
        (container,) = spec["containers"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
        for number in range(1000):
            base = self.scratch / "pods" / f"{name}.{number}"
            if not base.exists():
                break
        # Paths inside of mounted files are those of the pod.
        here = {path: base / volume for volume, path in mounts.items()}
        for claim in workload.spec.get("volumeClaimTemplates", []):
            claimed = claim["metadata"]["name"]
            files[claimed] = here[mounts[claimed]] = self.scratch / "volumes" / f"{claimed}-{name}"
        for folder in files.values():
            folder.mkdir(exist_ok=True)
            pods.own(folder, owner, 0o2770)
        for volume in spec.get("volumes", []):
            folder = files[volume["name"]] = base / volume["name"]
            if "emptyDir" in volume:
                folder.mkdir(parents=True)
                pods.own(folder, owner, 0o2770)
                continue
            kind = "secret" if "secret" in volume else "configMap"
            source = volume[kind]
            values = self.values(kind, source.get("secretName", source.get("name")), source.get("optional", False))
            if kind == "configMap":
                rewritten = {key: self.addresses.rewrite(value.decode(), name, here) for key, value in values.items()}
                values = {key: text.encode() for key, text in rewritten.items()}
            pods.write_files(folder, values, source.get("items"), source.get("defaultMode", 0o644), owner)
        return files

    def _make_secrets(self):
        """Tokens for all that the identity file names, and certificates where they are mounted."""
        folder = self.scratch / "secrets"
        folder.chmod(0o700)
        tokens = folder / "agon-tokens"
        tokens.mkdir()
        identity = tomllib.loads(self.rendered.config_map("agon-identity")["data"]["identity.toml"])
        for token in identity["tokens"].values():
            (tokens / Path(token["file"]).name).write_text(secrets.token_hex(32))
        if "coordinator-tls" in self.rendered.secrets():
            subprocess.run([DEPLOY / "certificates.sh", folder, self.namespace], check=True, capture_output=True)

    def _add_services(self):
        """An address for every name that a Service stands for."""
        for service in self.rendered.services:
            name, spec = service["metadata"]["name"], service["spec"]
            (workload,) = (w for w in self.rendered.workloads.values() if selects(spec["selector"], w.labels))
            (container,) = workload.template["spec"]["containers"]
            is_headless = spec.get("clusterIP") == "None"
            for port in spec["ports"]:
                target = container_port(container, port["targetPort"])
                pod_names = [f"{workload.name}-{number}" for number in range(workload.replicas)]
                if is_headless:
                    for pod in pod_names:
                        self.addresses.add_name(f"{pod}.{name}", port["port"], self.addresses.port(pod, target))
                if is_headless and workload.replicas == 1:
                    at = self.addresses.port(pod_names[0], target)
                else:
                    at = self.addresses.port(f"service {name}", port["port"])
                    self.proxies.serve(at, self._endpoints(workload, target, spec))
                self.addresses.add_name(name, port["port"], at)

    def _endpoints(self, workload, port, spec):
        takes_all = spec.get("publishNotReadyAddresses", False)
        return lambda: [pod.address(port) for pod in self.of(workload.name) if pod.ready or takes_all]
