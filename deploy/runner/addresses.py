"""Addresses on this machine: a free port for every port of a pod or a Service, and the text of arguments,
variables and mounted files with names, ports and mounted paths replaced. Starts nothing; cluster.py calls it.
"""

import random
import re
import socket

# Below the range from which the system takes ports by itself, so that nobody else happens to get one.
FIRST_PORT, LAST_PORT = 20_000, 31_000
# By owner and port. Installations of one run have the same, one after the other: a model server's address is
# part of a session's id.
PORTS = {}


class Addresses:
    """The host is `localhost` where certificates are checked, because they are good for that name."""

    def __init__(self, host, namespace):
        self.host = host
        self.namespace = namespace
        self.names = {}

    def port(self, owner, port):
        """The port on this machine of a pod's or a Service's port; the same one whenever it is asked for."""
        if (owner, port) not in PORTS:
            PORTS[owner, port] = free_port()
        return PORTS[owner, port]

    def add_name(self, name, port, at):
        """What is called as NAME:PORT is at another port here."""
        self.names[name, port] = at

    def rewrite(self, text, pod, mounts):
        """For one pod: `mounts` has its mounted paths and where they are here."""
        for (name, port), at in self.names.items():
            domain = rf"(?:\.{re.escape(self.namespace)}(?:\.svc(?:\.cluster\.local)?)?)?"
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}{domain}:{port}\b", f"{self.host}:{at}", text)
        text = re.sub(r"\b0\.0\.0\.0:(\d+)\b", lambda found: f"127.0.0.1:{self.port(pod, int(found[1]))}", text)
        for path in sorted(mounts, key=len, reverse=True):
            text = re.sub(rf"(?<![\w./-]){re.escape(path)}(?![\w.-])", lambda _: str(mounts[path]), text)
        return text


def free_port():
    """One at which nobody listens."""
    for _ in range(1000):
        port = random.randint(FIRST_PORT, LAST_PORT)
        try:
            if port not in PORTS.values():
                socket.create_server(("127.0.0.1", port)).close()
                return port
        except OSError:
            continue
    raise RuntimeError("no free port")
