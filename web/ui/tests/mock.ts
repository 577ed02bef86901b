// A server for the tests of the pages: it serves dist with the policy of the real server, and answers
// /api/v1 from made-up sessions. It plays no game.

import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import type { RunHead, SessionPage, Steps } from "../src/lib/api";
import { csv, figure, standing, SVG, told as told_results } from "./results";
import { auction, guessing, guessingBeside, long, type Told } from "./told";
import { decisionOf, headOf, rowsOf, runs } from "./runs";

export const TOKEN = "let me in";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const told = new Map<string, Told>(
  [guessing(), guessingBeside(), auction(), long()].map((one) => [one.session.session, one]),
);

/** Starts the server on a free port, or on the one given. */
export function startMock(dist: string, port = 0): Promise<{ server: Server; address: string }> {
  const server = createServer((request, response) => {
    void answer(dist, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  return new Promise((resolve) => {
    server.listen(port, "127.0.0.1", () => {
      const at = server.address();
      const number = typeof at === "object" && at !== null ? at.port : port;
      resolve({ server, address: `http://127.0.0.1:${number}` });
    });
  });
}

async function answer(dist: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://localhost");
  response.setHeader("Content-Security-Policy", POLICY);
  response.setHeader("X-Content-Type-Options", "nosniff");
  if (!url.pathname.startsWith("/api/v1/")) return sendFile(dist, url.pathname, response);
  if (url.pathname === "/api/v1/enter") return enter(request, response);
  if (url.pathname === "/api/v1/entrance") return sendJson(response, 200, { hint: "The program prints an access token.", provider: null });
  if (!(request.headers.cookie ?? "").includes("agon=in")) return sendJson(response, 401, { error: "Please sign in." });
  const parts = url.pathname.slice("/api/v1/".length).split("/").map(decodeURIComponent);
  const name = parts.at(-1) ?? "";
  if (parts[0] === "results" && /\.(csv|svg)$/.test(name)) {
    response.setHeader("Content-Type", name.endsWith("svg") ? "image/svg+xml" : "text/csv");
    return void response.end(name.endsWith("svg") ? SVG : csv(url.searchParams));
  }
  const value = find(parts, url.searchParams);
  if (value === undefined) return sendJson(response, 404, { error: "There is no such run or session." });
  return sendJson(response, 200, value);
}

async function sendFile(dist: string, path: string, response: ServerResponse): Promise<void> {
  const file = extname(path) === "" ? "index.html" : normalize(path);
  try {
    const content = await readFile(join(dist, file));
    // As the real server: pages stand at several depths, so that addresses of other files begin at the root.
    const sent = file === "index.html" ? content.toString().replaceAll('="./', '="/') : content;
    response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" }).end(sent);
  } catch {
    response.writeHead(404).end();
  }
}

async function enter(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { token: string };
  if (body.token !== TOKEN) return sendJson(response, 401, { error: "This token is not known." });
  response.writeHead(204, { "Set-Cookie": "agon=in; HttpOnly; SameSite=Strict; Path=/" }).end();
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

function find(parts: string[], query: URLSearchParams): unknown {
  const [kind, id, what, ...rest] = parts;
  if (kind === "sweeps") return { sweeps: null };
  if (kind === "holder") return { holder: null };
  if (kind === "results") {
    if (id === undefined) return standing(query);
    if (id === "tables" && what !== undefined) return told_results(what, query);
    if (id === "figures") return figure(query);
    return page(headOf("trial")!, query);
  }
  if (kind === "runs" && id === undefined) return { runs };
  if (kind === "runs" && id !== undefined) {
    const head = headOf(id);
    return what === "sessions" && head ? page(head, query) : head;
  }
  const session = kind === "sessions" && id !== undefined ? told.get(id) : undefined;
  if (!session) return undefined;
  if (what === undefined) return session.session;
  if (what === "steps") return steps(session, query);
  if (what === "search") return hits(session, query.get("q") ?? "");
  if (what === "decisions") return decisionOf(session.session, Number(rest[0]), Number(rest[1]));
  return undefined;
}

function page(head: RunHead, query: URLSearchParams): SessionPage {
  const cell = query.get("cell");
  const search = (query.get("search") ?? "").toLowerCase();
  const all = rowsOf(head).filter(
    (row) =>
      (cell === null || String(row.cell) === cell) && `${row.session} ${row.players}`.toLowerCase().includes(search),
  );
  const from = Number(query.get("cursor") ?? 0);
  const end = from + Number(query.get("count") ?? 100);
  return { sessions: all.slice(from, end), next: end < all.length ? String(end) : null, total: all.length };
}

function steps({ session, step }: Told, query: URLSearchParams): Steps {
  const from = Number(query.get("from") ?? 0);
  const end = Math.min(from + Number(query.get("count") ?? 100), session.steps);
  const seat = query.get("seat") === null ? null : Number(query.get("seat"));
  const answer: Steps = { steps: [], total: session.steps };
  for (let index = from; index < end; index += 1) {
    const one = step(index);
    if (seat === null) answer.steps.push(one);
    else if (one.to === null || one.to.includes(seat)) {
      const own = one.own.map((column) => ({
        ...column,
        values: column.values.map((value, of) => (of === seat ? value : null)),
      }));
      answer.steps.push({ ...one, hidden: [], own, notes: one.notes.filter((note) => note.seat === seat) });
    }
  }
  return answer;
}

function hits({ session, step }: Told, words: string): { steps: number[]; total: number } {
  const found: number[] = [];
  for (let index = 0; index < session.steps; index += 1) {
    if (step(index).says.toLowerCase().includes(words.toLowerCase())) found.push(index);
  }
  return { steps: found.slice(0, 1000), total: found.length };
}
