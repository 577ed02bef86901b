"""Puts the agon binary into the wheel, which is then one for a platform.

Without AGON_BINARY_FOR_WHEEL the wheel has no binary and suits every platform.
"""

import os
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags


class BinaryHook(BuildHookInterface):
    def initialize(self, version, build_data):
        named = os.environ.get("AGON_BINARY_FOR_WHEEL")
        if not named or version == "editable":
            return
        binary = Path(named).resolve()
        if not os.access(binary, os.X_OK):
            raise SystemExit(f"AGON_BINARY_FOR_WHEEL: {named} is not an executable file")
        platform = os.environ.get("AGON_WHEEL_PLATFORM") or next(platform_tags())
        build_data["force_include"][str(binary)] = "agon/_bin/agon"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
