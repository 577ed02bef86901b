// How far the results of some filters are, asked again while the page is in view and sessions come.

import type { CallError } from "./client";
import { isSite } from "./place";
import { asCallError } from "./resource.svelte";
import { queryOf, readStanding, type Filters, type Standing } from "./results";

/** While sessions are being counted, and while new ones may come. */
const COUNTING_MS = 1_000;
const WAITING_MS = 2_500;

export class StandingOf {
  value = $state.raw<Standing>();
  error = $state.raw<CallError>();
  /** The filters of the value. */
  #of: Filters = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort = new AbortController();

  /** Follows the results of these filters until the returned function is called. */
  follow(filters: Filters): () => void {
    const look = () => void this.#look(filters);
    document.addEventListener("visibilitychange", look);
    look();
    return () => {
      document.removeEventListener("visibilitychange", look);
      this.#stop();
    };
  }

  async #look(filters: Filters): Promise<void> {
    this.#stop();
    if (document.hidden) return;
    const mine = (this.#abort = new AbortController());
    try {
      const value = await readStanding(filters, mine.signal);
      if (mine.signal.aborted) return;
      this.value = value;
      this.#of = filters;
      this.error = undefined;
    } catch (error) {
      if (mine.signal.aborted) return;
      this.error = asCallError(error);
      // Numbers of other filters would stand there as if they were of these.
      if (queryOf(this.#of) !== queryOf(filters)) this.value = undefined;
    }
    if (isSite) return;
    const isCounting = this.value !== undefined && this.value.counted < this.value.total;
    this.#timer = setTimeout(() => void this.#look(filters), isCounting ? COUNTING_MS : WAITING_MS);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }
}
