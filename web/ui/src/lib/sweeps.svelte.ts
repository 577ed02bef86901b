// The experiments that are being played, as the server tells them while the page is in view. Pages share
// one stream, and close it when they are hidden.

import { actOn, listSweeps } from "./client";
import type { Sweep, SweepAction, SweepsEvent } from "./api";
import { isSite } from "./place";

const TRY_AGAIN_MS = 3_000;

const EVENT: SweepsEvent["event"] = "sweeps";

class Sweeps {
  /** Undefined until the server has answered; null where nothing is being played. */
  all = $state.raw<Sweep[] | null>();
  /** Whether the stream is interrupted. */
  isStale = $state(false);
  #source: EventSource | undefined;
  #users = 0;

  /** Follows the experiments until the returned function is called. */
  follow(): () => void {
    // Nothing is played in a published site.
    if (isSite) return () => undefined;
    this.#users += 1;
    if (this.#users === 1) {
      document.addEventListener("visibilitychange", this.#look);
      void this.#begin();
    }
    return () => {
      this.#users -= 1;
      if (this.#users > 0) return;
      document.removeEventListener("visibilitychange", this.#look);
      this.#close();
    };
  }

  act = (experiment: string, action: SweepAction) => actOn(experiment, action);

  async #begin(): Promise<void> {
    try {
      this.all = await listSweeps(new AbortController().signal);
      if (this.all !== null) this.#look();
    } catch {
      this.isStale = true;
      if (this.#users > 0) setTimeout(() => void this.#begin(), TRY_AGAIN_MS);
    }
  }

  #look = (): void => {
    if (document.hidden || this.#users === 0) return this.#close();
    if (this.#source || !this.all) return;
    const source = new EventSource("/api/v1/sweeps/events");
    this.#source = source;
    source.addEventListener(EVENT, (event: MessageEvent<string>) => {
      this.all = JSON.parse(event.data) as SweepsEvent["data"];
      this.isStale = false;
    });
    // The browser connects again by itself, unless it was refused.
    source.addEventListener("error", () => {
      this.isStale = true;
      if (source.readyState !== EventSource.CLOSED) return;
      this.#close();
      setTimeout(this.#look, TRY_AGAIN_MS);
    });
  };

  #close(): void {
    this.#source?.close();
    this.#source = undefined;
  }
}

export const sweeps = new Sweeps();
