// One value loaded from the server, with its error and a retry.

import { CallError } from "./client";

type Load<T> = (signal: AbortSignal) => Promise<T>;

export class Resource<T> {
  value = $state.raw<T>();
  error = $state.raw<CallError>();
  isLoading = $state(false);
  #abort: AbortController | undefined;
  #last: Load<T> | undefined;

  /** Starts a load and cancels the previous one if it is still running. */
  async load(load: Load<T>): Promise<void> {
    this.stop();
    this.#last = load;
    const abort = new AbortController();
    this.#abort = abort;
    this.isLoading = true;
    this.error = undefined;
    try {
      const value = await load(abort.signal);
      if (!abort.signal.aborted) this.value = value;
    } catch (error) {
      if (!abort.signal.aborted) this.error = asCallError(error);
    } finally {
      if (this.#abort === abort) this.isLoading = false;
    }
  }

  retry = (): void => {
    if (this.#last) void this.load(this.#last);
  };

  stop(): void {
    this.#abort?.abort();
  }
}

export function asCallError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  return new CallError(0, "The response of the server could not be read.");
}
