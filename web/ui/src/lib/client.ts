// Typed calls to /api/v1, or in a published site to its files. It keeps no answers; a 401 sends the reader to
// the sign-in page.

import { access } from "./access.svelte";
import { fileIn, isSite } from "./place";
import type {
  Decision,
  Holder,
  JudgingCriterion,
  JudgingDraft,
  JudgingWanted,
  Run,
  RunHead,
  Session,
  SessionPage,
  Steps,
  Sweep,
  SweepAction,
} from "./api";

/** A call that failed, with a sentence for the reader. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(sentence);
  }
}

type Query = Record<string, string | number | null | undefined> | [string, string][];

export const listRuns = async (signal: AbortSignal) =>
  (await get<{ runs: Run[] }>(["runs"], {}, signal)).runs;

/** Null where nothing can be played. */
export const listSweeps = async (signal: AbortSignal) =>
  (await get<{ sweeps: Sweep[] | null }>(["sweeps"], {}, signal)).sweeps;

/** Does something about an experiment that is being played. */
export async function actOn(experiment: string, action: SweepAction): Promise<void> {
  const path = ["sweeps", experiment, action].map(encodeURIComponent).join("/");
  const response = await call(`/api/v1/${path}`, { method: "POST" });
  if (response.status === 401) access.isSignedOut = true;
  if (!response.ok) throw await failure(response);
}

/** What judges can rate. */
export const readCriteria = async (signal: AbortSignal) =>
  (await get<{ criteria: JudgingCriterion[] }>(["judging", "criteria"], {}, signal)).criteria;

/** Draws players of a run to be judged. */
export async function draftJudging(run: string, wanted: JudgingWanted): Promise<JudgingDraft> {
  const response = await call(`/api/v1/judging/runs/${encodeURIComponent(run)}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(wanted),
  });
  if (response.status === 401) access.isSignedOut = true;
  if (!response.ok) throw await failure(response);
  return (await response.json()) as JudgingDraft;
}

export const readRun = (run: string, signal: AbortSignal) => get<RunHead>(["runs", run], {}, signal);

export const listSessions = (
  run: string,
  query: { cell: string | null; search: string | null; cursor: string | null; count: number },
  signal: AbortSignal,
) => get<SessionPage>(["runs", run, "sessions"], query, signal);

export const readSession = (session: string, signal: AbortSignal) =>
  get<Session>(["sessions", session], {}, signal);

export const readSteps = (
  session: string,
  query: { from: number; count: number; seat: number | null },
  signal: AbortSignal,
) => get<Steps>(["sessions", session, "steps"], query, signal);

export const readDecision = (session: string, seat: number, index: number, signal: AbortSignal) =>
  get<Decision>(["sessions", session, "decisions", String(seat), String(index)], {}, signal);

export const searchSession = (
  session: string,
  query: { q: string; seat: number | null },
  signal: AbortSignal,
) => get<{ steps: number[]; total: number }>(["sessions", session, "search"], query, signal);

/** Exchanges an access token for a cookie, which the server sets. */
export async function enter(token: string): Promise<void> {
  const response = await call("/api/v1/enter", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (!response.ok) throw await failure(response);
}

/** Forgets the cookie. */
export async function leave(): Promise<void> {
  const response = await call("/api/v1/leave", { method: "POST" });
  if (!response.ok) throw await failure(response);
}

/** What people are told where they sign in, and the provider at which they may do that instead. */
export const readEntrance = (signal: AbortSignal) =>
  get<{ hint: string; provider: string | null }>(["entrance"], {}, signal);

/** Null where there is one token for all. */
export const readHolder = async (signal: AbortSignal) =>
  (await get<{ holder: Holder | null }>(["holder"], {}, signal)).holder;

export async function get<T>(path: string[], query: Query, signal: AbortSignal): Promise<T> {
  if (isSite) {
    const { answer } = await import("./site");
    return (await answer(path, paramsOf(query), signal)) as T;
  }
  const response = await call(addressOf(path, query), { signal });
  if (response.status === 401) {
    access.isSignedOut = true;
    throw new CallError(401, "Please sign in.");
  }
  if (!response.ok) throw await failure(response);
  return (await response.json()) as T;
}

/** The address of something under /api/v1, or of its file in a site. */
export function addressOf(path: string[], query: Query): string {
  const params = paramsOf(query);
  if (isSite) return fileIn(path, params);
  const search = params.size === 0 ? "" : `?${params}`;
  return `/api/v1/${path.map(encodeURIComponent).join("/")}${search}`;
}

function paramsOf(query: Query): URLSearchParams {
  if (Array.isArray(query)) return new URLSearchParams(query);
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") params.set(name, String(value));
  }
  return params;
}

async function call(url: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...options, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new CallError(0, "The server does not respond.");
  }
}

async function failure(response: Response): Promise<CallError> {
  const body: unknown = await response.json().catch(() => null);
  const sentence =
    typeof body === "object" && body !== null && "error" in body && typeof body.error === "string"
      ? body.error
      : `The server answered with status ${response.status}.`;
  return new CallError(response.status, sentence);
}
