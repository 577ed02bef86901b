"""A Job's controller: starts its pod, and another one when that failed, as podFailurePolicy and backoffLimit say.
Knows nothing of what the Job does.
"""

import threading
import time

from .cluster import Violation

# 10 s, 20 s, 40 s ... between tries.
FIRST_BACK_OFF, LONGEST_BACK_OFF = 10.0, 360.0
LOOK_EVERY = 0.05


class Job:
    """`result` is None while it runs, then "done" or why it failed."""

    def __init__(self, cluster, workload):
        self.cluster, self.workload, self.spec = cluster, workload, workload.spec
        self.result = None
        self.tries = 0
        self.exit_codes = []
        self.pod = cluster.add_pod(workload)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        failures = 0
        while True:
            self.tries += 1
            self.pod.gone.wait()
            code = self.pod.exit_code
            # As the kernel's signals appear in a pod's status.
            code = 128 - code if code < 0 else code
            self.exit_codes.append(code)
            self.cluster.note(f"{self.pod.name} ended with {code}")
            action = "Count" if code else None
            for rule in self.spec.get("podFailurePolicy", {}).get("rules", []):
                if code and self._matches(rule, code):
                    action = rule["action"]
                    break
            failures += action == "Count"
            if action is None or action == "FailJob" or failures > self.spec.get("backoffLimit", 6):
                self.result = "done" if action is None else f"the Job failed: exit codes {self.exit_codes}"
                return
            wait = min(FIRST_BACK_OFF * 2 ** (failures - 1), LONGEST_BACK_OFF) if action == "Count" else 0
            until = time.monotonic() + wait
            while time.monotonic() < until:
                time.sleep(LOOK_EVERY)
                if self.cluster.is_closing:
                    return
            try:
                self.pod = self.cluster.add_pod(self.workload)
            except Violation:
                return

    def _matches(self, rule, code):
        if on := rule.get("onExitCodes"):
            return (code in on["values"]) == (on["operator"] == "In")
        return self.pod.disrupted and any(each["type"] == "DisruptionTarget" for each in rule["onPodConditions"])
