"""The Dockerfile: stages, user, entrypoint, a static binary, and scripts that reach the build."""

import io
import re

import dockerfile_parse

INSTRUCTIONS = {
    "FROM", "RUN", "CMD", "LABEL", "EXPOSE", "ENV", "ADD", "COPY", "ENTRYPOINT", "VOLUME",
    "USER", "WORKDIR", "ARG", "ONBUILD", "STOPSIGNAL", "HEALTHCHECK", "SHELL", "COMMENT",
}
# Images without a libc, for a static binary, with CA certificates.
BARE = re.compile(r"gcr\.io/distroless/static-debian\d+:nonroot")


def check_dockerfile(text, ignored):
    """`ignored` is the text of .dockerignore."""
    parser = dockerfile_parse.DockerfileParser(fileobj=io.BytesIO(text.encode()))
    faults, stages, last, image = [], [], {}, ""
    for step in parser.structure:
        instruction, value, line = step["instruction"], step["value"], step["startline"] + 1
        if instruction not in INSTRUCTIONS:
            faults.append(f"Dockerfile:{line}: unknown instruction {instruction}")
        if instruction == "FROM":
            words = value.split()
            image = words[0]
            if image not in [*stages, "scratch"] and ":" not in image:
                faults.append(f"Dockerfile:{line}: image {image} has no version")
            stages.append(words[2] if len(words) == 3 and words[1].upper() == "AS" else "")
            last = {}
        elif not stages and instruction not in ("ARG", "COMMENT"):
            faults.append(f"Dockerfile:{line}: {instruction} before the first FROM")
        source = re.match(r"--from=(\S+)", value or "") if instruction == "COPY" else None
        if source and source.group(1) not in stages:
            faults.append(f"Dockerfile:{line}: copies from {source.group(1)}, which is no stage")
        for script in re.findall(r"sh (deploy/\S+)", value or "") if instruction == "RUN" else []:
            if f"!/{script}" not in ignored.splitlines():
                faults.append(f"Dockerfile:{line}: .dockerignore keeps {script} out of the build")
        builds = re.findall(r"cargo (?:auditable )?build[^&\n]*", value or "") if instruction == "RUN" else []
        for build in builds:
            if "auditable" not in build:
                faults.append(f"Dockerfile:{line}: the binary must list its dependencies (cargo auditable)")
            if "-unknown-linux-musl" not in build:
                faults.append(f"Dockerfile:{line}: the binary must be static")
        last[instruction] = value
    if len(stages) < 2:
        faults.append("Dockerfile: must build in stages")
    if not BARE.fullmatch(image):
        faults.append(f"Dockerfile: {image} is no image with CA certificates and nothing else")
    if re.match(r"(root|0)?(:|$)", last.get("USER", "")):
        faults.append("Dockerfile: must end as a user other than root")
    if not re.fullmatch(r'\["\S*/agon"\]', last.get("ENTRYPOINT", "")):
        faults.append("Dockerfile: its entrypoint must be agon")
    return faults
