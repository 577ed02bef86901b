// The address: which page it names and its query, kept with the History API. In a published site both stand
// behind the hash sign.

import { isSite, link } from "./place";

/** Browsers refuse more than a few changes of the address per second. */
const REPLACE_AFTER_MS = 200;

export type Route =
  | { page: "runs" }
  | { page: "run"; run: string }
  | { page: "session"; session: string }
  | { page: "seat" }
  | { page: "judging" }
  | { page: "results" }
  | { page: "result-sessions" }
  | { page: "none" };

class Router {
  #url = $state.raw(here());
  #timer: ReturnType<typeof setTimeout> | undefined;

  path = $derived(this.#url.pathname);
  query = $derived(this.#url.searchParams);

  start(): void {
    addEventListener("popstate", () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      const isOtherPage = here().pathname !== this.#url.pathname;
      this.#url = here();
      // Links of a site are followed by the browser, which stays where it is.
      if (isSite && isOtherPage) scrollTo(0, 0);
    });
    addEventListener("pagehide", () => this.#write());
    document.addEventListener("click", (event) => this.#onClick(event));
  }

  go(href: string): void {
    this.#write();
    const url = new URL(href, location.origin);
    history.pushState(null, "", written(url));
    const isOtherPage = url.pathname !== this.#url.pathname;
    this.#url = url;
    if (isOtherPage) scrollTo(0, 0);
  }

  /** Changes the query without a new entry in the history; null takes a name away. */
  replace(changes: Record<string, string | null>): void {
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === "") url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    if (url.href === this.#url.href) return;
    this.#url = url;
    this.#timer ??= setTimeout(() => this.#write(), REPLACE_AFTER_MS);
  }

  #write(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    history.replaceState(history.state, "", written(this.#url));
  }

  #onClick(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download")) return;
    // Below /api the server answers, and no page.
    if (link.origin !== location.origin || link.hash || link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    this.go(link.href);
  }
}

export const router = new Router();

/** What the address names. */
function here(): URL {
  return isSite ? new URL(location.hash.slice(1) || "/", location.origin) : new URL(location.href);
}

function written(url: URL): URL | string {
  return isSite ? `#${url.pathname}${url.search}` : url;
}

export function routeOf(path: string): Route {
  const parts = path.split("/").filter((part) => part !== "");
  const [first, second, ...rest] = parts;
  if (first === undefined) return { page: "runs" };
  if (first === "seat" && rest.length === 0) return { page: "seat" };
  if (first === "judging" && second === undefined) return { page: "judging" };
  if (first === "results" && second === undefined) return { page: "results" };
  if (first === "results" && second === "sessions" && rest.length === 0) return { page: "result-sessions" };
  if (second === undefined || rest.length > 0) return { page: "none" };
  if (first === "runs") return { page: "run", run: decoded(second) };
  if (first === "sessions") return { page: "session", session: decoded(second) };
  return { page: "none" };
}

export const runPath = (run: string) => link(`/runs/${encodeURIComponent(run)}`);

export const judgingPath = (run: string) => link(`/judging?run=${encodeURIComponent(run)}`);

export const sessionPath = (session: string) => link(`/sessions/${encodeURIComponent(session)}`);

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
