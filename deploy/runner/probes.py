"""The four kinds of probes of Kubernetes, each one try: an answer in time, and the right one, or not.
gRPC's health check is spoken by hand, because one small request needs no library; pod.py decides when to ask.
"""

import http.client
import socket
import ssl
import struct
import subprocess

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
ACK, END_STREAM, END_HEADERS = 1, 1, 4
SERVING = b"\x08\x01"


def succeeds(probe, pod):
    """Whether a probe of the manifest succeeds; `pod` knows its ports and how to rewrite a command."""
    timeout = probe.get("timeoutSeconds", 1)
    try:
        if grpc := probe.get("grpc"):
            return is_serving(pod.address(grpc["port"]), grpc.get("service", ""), timeout)
        if get := probe.get("httpGet"):
            return 200 <= status(pod.address(get["port"]), get["path"], timeout) < 400
        if tcp := probe.get("tcpSocket"):
            socket.create_connection(pod.address(tcp["port"]), timeout).close()
            return True
        command = pod.command(probe["exec"]["command"])
        options = {"timeout": timeout, "capture_output": True, **pod.surroundings()}
        return subprocess.run(command, **options).returncode == 0
    except (OSError, ValueError, http.client.HTTPException, subprocess.SubprocessError):
        return False


def get(address, path, timeout):
    """Status and body of a GET request."""
    connection = http.client.HTTPConnection(*address, timeout=timeout)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def status(address, path, timeout):
    return get(address, path, timeout)[0]


def is_serving(address, service, timeout, certificates=None):
    """Whether gRPC's health check answers SERVING; `certificates` is a folder with ca.crt, tls.crt and tls.key."""
    connection = socket.create_connection(address, timeout)
    if certificates:
        context = ssl.create_default_context(cafile=certificates / "ca.crt")
        context.load_cert_chain(certificates / "tls.crt", certificates / "tls.key")
        context.set_alpn_protocols(["h2"])
        connection = context.wrap_socket(connection, server_hostname="localhost")
    with connection:
        name = service.encode()
        message = bytes([10, len(name)]) + name if name else b""
        connection.sendall(
            PREFACE
            + frame(SETTINGS, 0, 0, b"")
            + frame(HEADERS, END_HEADERS, 1, headers(scheme="https" if certificates else "http"))
            + frame(DATA, END_STREAM, 1, struct.pack(">BI", 0, len(message)) + message)
        )
        return answer(connection) == SERVING


def answer(connection):
    """The message of the answer; nothing when there is only a status."""
    received = b""
    while True:
        head = read(connection, 9)
        length, kind, flags = int.from_bytes(head[:3]), head[3], head[4]
        payload = read(connection, length)
        if kind in (SETTINGS, PING) and not flags & ACK:
            connection.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
        if kind == DATA:
            received += payload
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            return received[5:]


def read(connection, length):
    parts = b""
    while len(parts) < length:
        part = connection.recv(length - len(parts))
        if not part:
            raise ConnectionError("the connection was closed")
        parts += part
    return parts


def frame(kind, flags, stream, payload):
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def headers(scheme):
    """Literals without an index and without Huffman's code."""
    fields = {
        ":method": "POST", ":scheme": scheme, ":path": "/grpc.health.v1.Health/Check", ":authority": "localhost",
        "content-type": "application/grpc", "te": "trailers",
    }
    strings = (bytes([len(text)]) + text.encode() for field in fields.items() for text in field)
    return b"".join(b"\x00" + name + next(strings) for name in strings)
