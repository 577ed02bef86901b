"""A Service with an address of its own: every new connection goes to one of its ready pods, as kube-proxy
does it; a connection stays with its pod. Knows no probes; cluster.py says which pods are ready.
"""

import asyncio
import random
import threading


class Proxies:
    """All Services of a cluster, in one thread."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def serve(self, port, endpoints):
        """Takes connections at this port; `endpoints` answers the addresses of the pods that are ready."""

        async def accept(reader, writer):
            ready = endpoints()
            try:
                there = await asyncio.open_connection(*random.choice(ready)) if ready else None
            except OSError:
                there = None
            if there is None:
                writer.transport.abort()
                return
            await asyncio.gather(copy(reader, there[1]), copy(there[0], writer))

        serving = asyncio.start_server(accept, "127.0.0.1", port)
        asyncio.run_coroutine_threadsafe(serving, self.loop).result()

    def close(self):
        async def end():
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.loop.stop()

        asyncio.run_coroutine_threadsafe(end(), self.loop)
        self.thread.join()
        self.loop.close()


async def copy(reader, writer):
    """One direction; its end ends the connection, as gRPC and HTTP half-close none."""
    try:
        while part := await reader.read(65_536):
            writer.write(part)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
