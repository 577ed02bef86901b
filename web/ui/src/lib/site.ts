// Answers of the interface out of the files of a published site. Loaded in sites only; it keeps the files that
// were read last.

import type { Decision, Message, Run, RunHead, Session, SessionPage, SessionRow, Step, Steps } from "./api";
import { CallError } from "./client";
import { fileIn } from "./place";

/** As many as stand in a file. */
const STEPS = 100;
const CALLS = 50;
const MOST_HITS = 1_000;
const MOST_KEPT = 24;
const MOST_AT_ONCE = 200;

type Listed = SessionRow & { names: string[]; simulated: boolean };
type ListPage = { sessions: Listed[]; total: number };
type CallPage = { calls?: Decision[]; error?: string };

const kept = new Map<string, Promise<unknown>>();

export async function answer(path: string[], query: URLSearchParams, signal: AbortSignal): Promise<unknown> {
  const found = await find(path, query);
  signal.throwIfAborted();
  return found;
}

async function find(path: string[], query: URLSearchParams): Promise<unknown> {
  const [kind, id, what, ...rest] = path;
  if (kind === "runs") {
    if (id === undefined) return read("runs");
    const head = await read<RunHead>(`runs/${id}/head`);
    return what === "sessions" ? page(inRun(await listed(id), query), query) : head;
  }
  if (kind === "results") {
    if (id === "sessions") return page(await selected(query), query);
    return read(fileIn(path, query).replace(/^data\//, "").replace(/\/$/, ""));
  }
  if (kind === "sessions" && id !== undefined) {
    if (what === undefined) return read(`sessions/${id}/head`);
    if (what === "steps") return steps(id, query);
    if (what === "search") return search(id, query);
    if (what === "decisions") return decision(id, Number(rest[0]), Number(rest[1]));
  }
  throw new CallError(404, "There is no such page in this site.");
}

/** A file, read once and unpacked. */
function read<T>(name: string): Promise<T> {
  const path = `data/${name}.json.gz`;
  const known = kept.get(path) as Promise<T> | undefined;
  if (known) return known;
  const reading = fetchJson<T>(path);
  kept.set(path, reading);
  reading.catch(() => kept.delete(path));
  const oldest = kept.keys().next();
  if (kept.size > MOST_KEPT && !oldest.done) kept.delete(oldest.value);
  return reading;
}

async function fetchJson<T>(path: string): Promise<T> {
  const url = path.split("/").map(encodeURIComponent).join("/");
  const response = await fetch(url).catch(() => {
    throw new CallError(0, "The files of this site cannot be reached.");
  });
  if (response.status === 404) throw new CallError(404, "There is no such run or session in this site.");
  if (!response.ok) throw new CallError(response.status, `The server answered with status ${response.status}.`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  // Some servers unpack such files themselves.
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isPacked) return JSON.parse(new TextDecoder().decode(bytes)) as T;
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(unpacked).json()) as T;
}

/** All sessions of a run. */
async function listed(run: string): Promise<Listed[]> {
  const first = await read<ListPage>(`runs/${run}/sessions-0`);
  const all = [...first.sessions];
  for (let number = 1; all.length < first.total; number += 1) {
    const more = (await read<ListPage>(`runs/${run}/sessions-${number}`)).sessions;
    if (more.length === 0) break;
    all.push(...more);
  }
  return all;
}

function inRun(all: Listed[], query: URLSearchParams): Listed[] {
  const cell = query.get("cell");
  const wanted = (query.get("search") ?? "").trim().toLowerCase();
  const texts = (row: Listed) => [row.session, row.players, row.notes, row.game, ...row.setting.map((fact) => fact.value)];
  return all.filter(
    (row) =>
      (cell === null || String(row.cell) === cell) &&
      (wanted === "" || texts(row).some((text) => text.toLowerCase().includes(wanted))),
  );
}

/** The sessions that a row or a point of the results rests on. */
async function selected(query: URLSearchParams): Promise<Listed[]> {
  const { runs } = await read<{ runs: Run[] }>("runs");
  const run = query.get("run");
  const experiment = query.get("experiment");
  const found: Listed[] = [];
  for (const one of runs) {
    if ((run !== null && one.run !== run) || (experiment !== null && one.experiment !== experiment)) continue;
    const { cells } = await read<RunHead>(`runs/${one.run}/head`);
    const fits = cells.map((cell) => fitsCell(cell.game, cell.axes, query));
    const players = query.getAll("player");
    const simulated = query.get("simulated");
    for (const row of await listed(one.run)) {
      const isOne =
        fits[row.cell] &&
        (simulated === null || String(row.simulated) === simulated) &&
        players.every((player) => row.names.includes(player));
      if (isOne) found.push(row);
    }
  }
  return found;
}

/** As the server selects: exactly these axes, or with others that name a model or a label. */
function fitsCell(game: string, axes: Record<string, unknown>, query: URLSearchParams): boolean {
  const wantedGame = query.get("game");
  if (wantedGame !== null && wantedGame !== game) return false;
  const text = query.get("setting");
  if (text === null) return true;
  const wanted = JSON.parse(text) as Record<string, unknown>;
  const isLoose = query.get("loose") === "true";
  const mayBeMore = (axis: string) => isLoose && (axis === "label" || axis.split(".").at(-1) === "model");
  const own = Object.keys(axes).filter((axis) => axis !== "game" && (axis in wanted || !mayBeMore(axis)));
  const same = (axis: string) => JSON.stringify(axes[axis]) === JSON.stringify(wanted[axis]);
  return own.length === Object.keys(wanted).length && own.every((axis) => axis in wanted && same(axis));
}

function page(rows: Listed[], query: URLSearchParams): SessionPage {
  const from = Number(query.get("cursor") ?? 0);
  const end = from + Math.min(Number(query.get("count") ?? 100), MOST_AT_ONCE);
  return { sessions: rows.slice(from, end), next: end < rows.length ? String(end) : null, total: rows.length };
}

/** What is missing because the site was published without it. */
function leftOut(error: unknown, sentence: string): unknown {
  return error instanceof CallError && error.status === 404 ? new CallError(404, sentence) : error;
}

/** A file of steps, as everybody or as a seat saw them. */
async function block(session: string, number: number, seat: string | null): Promise<Steps> {
  if (seat === null) return read<Steps>(`sessions/${session}/steps-${number}`);
  const seats = await read<Steps[]>(`sessions/${session}/seats-${number}`).catch((error: unknown) => {
    throw leftOut(error, "How each seat saw its session is not part of this site.");
  });
  const own = seats[Number(seat)];
  if (!own) throw new CallError(404, "There is no such seat in this session.");
  return own;
}

async function steps(session: string, query: URLSearchParams): Promise<Steps> {
  const [from, seat] = [Number(query.get("from") ?? 0), query.get("seat")];
  const end = from + Math.min(Number(query.get("count") ?? STEPS), MOST_AT_ONCE);
  const found: Step[] = [];
  let total = 0;
  for (let number = Math.floor(from / STEPS); number * STEPS < end; number += 1) {
    const here = await block(session, number, seat);
    total = here.total;
    found.push(...here.steps.filter((step) => step.step >= from && step.step < end));
    if ((number + 1) * STEPS >= total) break;
  }
  return { steps: found, total };
}

async function search(session: string, query: URLSearchParams): Promise<{ steps: number[]; total: number }> {
  const wanted = (query.get("q") ?? "").toLowerCase();
  const found: number[] = [];
  for (let number = 0; wanted !== ""; number += 1) {
    const here = await block(session, number, query.get("seat"));
    found.push(...here.steps.filter((step) => hasWords(step, wanted)).map((step) => step.step));
    if ((number + 1) * STEPS >= here.total) break;
  }
  return { steps: found.slice(0, MOST_HITS), total: found.length };
}

/** Whether a text stands in the words of a step. */
function hasWords(step: Step, wanted: string): boolean {
  const { says, title, facts, own, hidden, answers, notes } = step;
  const contains = (value: unknown): boolean => {
    if (typeof value === "string") return value.toLowerCase().includes(wanted);
    return typeof value === "object" && value !== null && Object.values(value).some(contains);
  };
  return contains([says, title, facts, own, hidden, answers, notes]);
}

/** A call with all its messages: in files those are left out that stood in the one before. */
async function decision(session: string, seat: number, index: number): Promise<Decision> {
  const { seats } = await read<Session>(`sessions/${session}/head`);
  const before = seats.filter((other) => other.seat < seat).reduce((sum, other) => sum + other.decisions, 0);
  const number = Math.floor((before + index) / CALLS);
  const page = await read<CallPage>(`sessions/${session}/calls-${number}`).catch((error: unknown) => {
    throw leftOut(error, "The calls of models are not part of this site.");
  });
  if (page.error !== undefined) throw new CallError(404, `The calls of this session cannot be made again: ${page.error}`);
  let last: Decision | undefined;
  for (const call of page.calls ?? []) {
    if (call.seat !== seat) continue;
    // The first of a seat in a file is whole.
    const known: Message[] = last?.messages?.slice(0, call.known) ?? [];
    last = { ...call, messages: call.messages === null ? null : [...known, ...call.messages] };
    if (call.index === index) return last;
  }
  throw new CallError(404, "There is no such call in this site.");
}
