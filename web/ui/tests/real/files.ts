// A server of plain files, as any host is: no page for what is not there, and a folder's index.html.

import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".gz": "application/gzip",
};

/** Serves a folder on a free port; `packs` says that packed files are packed, so that browsers unpack them. */
export async function serveFiles(folder: string, packs = false): Promise<{ server: Server; address: string }> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    readFile(file).then(
      (content) => {
        response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
        if (packs && file.endsWith(".gz")) response.setHeader("Content-Encoding", "gzip");
        response.end(content);
      },
      () => response.writeHead(404).end("not found"),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("no port");
  return { server, address: `http://127.0.0.1:${at.port}` };
}
