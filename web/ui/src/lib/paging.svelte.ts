// A list of sessions that is loaded page by page. A new beginning takes the place of what is under way.

import type { SessionPage, SessionRow } from "./api";
import type { CallError } from "./client";
import { asCallError } from "./resource.svelte";

/** Sessions that are loaded at once. */
export const PAGE = 100;

export class Paging {
  rows = $state.raw<SessionRow[]>([]);
  total = $state(0);
  /** Where the next page begins; null at the end. */
  next = $state<string | null>(null);
  isLoading = $state(true);
  error = $state.raw<CallError>();
  #abort = new AbortController();

  constructor(readonly page: (cursor: string | null, signal: AbortSignal) => Promise<SessionPage>) {}

  /** Loads the first page (no cursor), or one more. */
  async load(cursor: string | null): Promise<void> {
    this.stop();
    const mine = (this.#abort = new AbortController());
    this.isLoading = true;
    this.error = undefined;
    try {
      const { sessions, total, next } = await this.page(cursor, mine.signal);
      if (mine.signal.aborted) return;
      this.rows = cursor === null ? sessions : [...this.rows, ...sessions];
      [this.total, this.next] = [total, next];
    } catch (problem) {
      if (!mine.signal.aborted) this.error = asCallError(problem);
    } finally {
      if (mine === this.#abort) this.isLoading = false;
    }
  }

  /** Tries again what failed. */
  again = () => void this.load(this.rows.length > 0 ? this.next : null);

  /** Whoever shows it is gone. */
  stop(): void {
    this.#abort.abort();
  }
}
