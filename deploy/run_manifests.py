"""Runs the processes of rendered manifests on this machine and rolls, drains and kills them while a sweep runs;
see run_manifests.sh, which calls it. What is done is in runner/scenarios.py. Exit: 0 nothing lost and nothing paid
twice, 1 the first thing that is wrong.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from runner import scenarios
from runner.cluster import Violation

DEPLOY = Path(__file__).resolve().parent
SMALL = DEPLOY / "kustomize/overlays/small"
# All roles twice or more, standby coordinators and TLS, with the model server and the sweep of `small`.
STANDBY_TLS = """
namespace: agon
resources: [{kustomize}/overlays/small/namespace.yaml, {kustomize}/base, {kustomize}/overlays/small/sim-llm.yaml]
components: [{kustomize}/components/sweep, {kustomize}/components/standby, {kustomize}/components/tls]
patches:
  - target: {{kind: ConfigMap, name: agon-env}}
    patch: |-
      - op: replace
        path: /data/AGON_COORDINATOR
        value: https://coordinator-0.coordinator:7700,https://coordinator-1.coordinator:7700
"""
QUICK = scenarios.Size(repeats=8, rounds=3, latency="400ms")
LONG = scenarios.Size(repeats=16, rounds=3, latency="700ms")
# Three workers.
WIDE = scenarios.Size(repeats=30, rounds=3, latency="800ms")


def standby_tls():
    folder = DEPLOY.parent / "target/deploy/standby-tls"
    folder.mkdir(parents=True, exist_ok=True)
    kustomize = os.path.relpath(DEPLOY / "kustomize", folder)
    (folder / "kustomization.yaml").write_text(STANDBY_TLS.format(kustomize=kustomize))
    return folder


def chosen(options):
    """Overlays with the size of their sweep and what is done to them."""
    if not options.all:
        return [(SMALL, QUICK, scenarios.KILLS)]
    of_small = [*scenarios.ROLLS, scenarios.DRAIN, *scenarios.KILLS, scenarios.KILL_SWEEP, scenarios.CRASH_OF_NODE]
    return [
        (SMALL, LONG, of_small),
        (standby_tls(), WIDE, [scenarios.TAKE_OVER, *scenarios.ROLLS, scenarios.DRAIN_HALF, *scenarios.KILLS]),
    ]


def play(options, binary):
    played = 0
    for overlay, size, wanted in chosen(options):
        wanted = [scenario for scenario in wanted if options.only in scenario.name]
        if not wanted or options.overlay not in overlay.name:
            continue
        expected = scenarios.undisturbed(overlay, size, binary)
        scenarios.try_breaking(expected)
        print(
            f"{overlay.name}, undisturbed: {scenarios.count_sessions(expected)} sessions, {expected.decisions} calls, "
            f"{len(expected.records)} bytes, {expected.seconds:.1f} s", flush=True,
        )
        for scenario in wanted:
            try:
                print(f"{overlay.name}, {scenarios.run(scenario, overlay, size, binary, expected)}", flush=True)
            except Violation as found:
                raise Violation(f"{overlay.name}, {scenario.name}: {found}") from found
            played += 1
    return played


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=Path)
    parser.add_argument("--all", action="store_true", help="everything; without it, a kill of each workload of `small`")
    parser.add_argument("--only", default="", help="scenarios with this in their name, such as `kill redis`")
    parser.add_argument("--overlay", default="", help="overlays with this in their name")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if os.geteuid() != 0:
        print("not root: every process runs as you, not as the user of its manifest")
    # A copy: a build that replaces the binary meanwhile does not become an upgrade.
    folder = Path(tempfile.mkdtemp(prefix="agon-image-"))
    folder.chmod(0o755)
    begun = time.monotonic()
    try:
        played = play(options, Path(shutil.copy(options.binary, folder / "agon")))
        print(f"{played} scenarios: nothing lost, and no call made again but those under way in what was killed "
              f"({time.monotonic() - begun:.0f} s)")
        return 0 if played else 2
    except Violation as found:
        print(f"FAULT   {found}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
