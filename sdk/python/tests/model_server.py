"""An OpenAI-compatible server that gives one answer, and may be made to hold its answers back."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ModelServer:
    def __init__(self) -> None:
        self.reply = '{"guess": 5}'
        self.requests = 0
        self.open = threading.Event()
        self.open.set()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                with outer._lock:
                    outer.requests += 1
                outer.open.wait()
                message = {"role": "assistant", "content": outer.reply}
                usage = {"prompt_tokens": 1000, "completion_tokens": 1000, "total_tokens": 2000}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                answer = {"id": "1", "model": "fixed", "choices": [choice], "usage": usage}
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *arguments: object) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *ignored: object) -> None:
        self.open.set()
        self._server.shutdown()
        self._server.server_close()
