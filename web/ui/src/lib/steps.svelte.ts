// The steps of one session in one view, fetched in blocks around the current position. It never holds
// a whole long session: the blocks farthest from the last request are dropped.

import { SvelteMap } from "svelte/reactivity";
import type { Answer, Note, Step } from "./api";
import { readSteps, type CallError } from "./client";
import { asCallError } from "./resource.svelte";

const BLOCK = 100;
const MOST_BLOCKS = 24;
/** How many steps back to look for the last answer and notes of a seat. */
const LOOK_BACK = 200;

export type Recent = { answer: Answer | null; notes: Note[] };

export class StepStore {
  error = $state.raw<CallError>();
  #blocks = new SvelteMap<number, Map<number, Step>>();
  #pending = new Map<number, AbortController>();

  constructor(
    readonly session: string,
    readonly seat: number | null,
    readonly total: number,
  ) {}

  get(step: number): Step | undefined {
    return this.#blocks.get(Math.floor(step / BLOCK))?.get(step);
  }

  /** Whether this step was fetched. A step that the seat did not see counts as fetched. */
  isLoaded(step: number): boolean {
    return this.#blocks.has(Math.floor(step / BLOCK));
  }

  /** Loads the missing blocks of a range of steps. */
  ensure(from: number, to: number): void {
    const first = Math.floor(Math.max(from, 0) / BLOCK);
    const last = Math.floor(Math.min(to, this.total - 1) / BLOCK);
    for (let block = first; block <= last; block += 1) {
      if (!this.#blocks.has(block) && !this.#pending.has(block)) void this.#load(block);
    }
  }

  /** The latest answer and the latest notes of each kind of every seat, at a step. */
  recent(at: number, seats: number): Recent[] {
    const found: Recent[] = Array.from({ length: seats }, () => ({ answer: null, notes: [] }));
    for (let step = at; step >= Math.max(0, at - LOOK_BACK); step -= 1) {
      const here = this.get(step);
      if (!here) {
        if (!this.isLoaded(step)) break;
        continue;
      }
      for (const answer of here.answers) {
        const seat = found[answer.seat];
        if (seat) seat.answer ??= answer;
      }
      for (const note of here.notes) {
        const notes = found[note.seat]?.notes;
        if (notes && !notes.some((known) => known.kind === note.kind)) notes.push(note);
      }
    }
    return found;
  }

  retry = (at: number): void => {
    this.error = undefined;
    this.ensure(at, at);
  };

  close(): void {
    for (const abort of this.#pending.values()) abort.abort();
  }

  async #load(block: number): Promise<void> {
    const abort = new AbortController();
    this.#pending.set(block, abort);
    try {
      const query = { from: block * BLOCK, count: BLOCK, seat: this.seat };
      const { steps } = await readSteps(this.session, query, abort.signal);
      this.#dropFarFrom(block);
      this.#blocks.set(block, new Map(steps.map((step) => [step.step, step])));
      this.error = undefined;
    } catch (error) {
      if (!abort.signal.aborted) this.error = asCallError(error);
    } finally {
      this.#pending.delete(block);
    }
  }

  #dropFarFrom(block: number): void {
    if (this.#blocks.size < MOST_BLOCKS) return;
    const byDistance = [...this.#blocks.keys()].sort((a, b) => Math.abs(b - block) - Math.abs(a - block));
    const farthest = byDistance[0];
    if (farthest !== undefined) this.#blocks.delete(farthest);
  }
}
