// The reader's position in a session: the step, whose view, and whether it plays. It is kept in the
// address, so that a copied address opens the same moment.

import type { Session } from "./api";
import { matching, pauseMs, target, turnAt, type Move } from "./moves";
import { router } from "./router.svelte";
import { StepStore } from "./steps.svelte";

export const SPEEDS = [0.25, 0.5, 1, 2, 4];

export class Reader {
  isPlaying = $state(false);
  speed = $state(1);

  /** Null for everybody. */
  seat = $derived(natural(router.query.get("seat")));
  other = $derived(router.query.get("with"));
  last: number;
  at: number;
  turn: number;
  store: StepStore;

  constructor(readonly session: Session) {
    this.last = Math.max(session.steps - 1, 0);
    this.at = $derived(Math.min(natural(router.query.get("at")) ?? 0, this.last));
    this.turn = $derived(turnAt(session.turns, this.at));
    this.store = $derived(new StepStore(session.session, this.seat, session.steps));
  }

  move = (move: Move): void => {
    if (move === "play") this.play(!this.isPlaying);
    else this.to(target(move, this.at, this.last, this.session.turns));
  };

  to = (step: number): void => {
    const at = Math.max(0, Math.min(step, this.last));
    router.replace({ at: at === 0 ? null : String(at) });
  };

  play(isPlaying: boolean): void {
    if (isPlaying && this.at >= this.last) this.to(0);
    this.isPlaying = isPlaying;
  }

  see = (seat: number | null): void => router.replace({ seat: seat === null ? null : String(seat) });

  compare = (session: string | null): void => router.replace({ with: session });

  /** While playing, schedules the next step. Call it again after every step. */
  wait(): (() => void) | undefined {
    if (!this.isPlaying) return undefined;
    if (this.at >= this.last) {
      this.isPlaying = false;
      return undefined;
    }
    const step = this.store.get(this.at);
    if (!step && !this.store.isLoaded(this.at)) return undefined;
    const timer = setTimeout(() => this.to(this.at + 1), step ? pauseMs(step, this.speed) : 0);
    return () => clearTimeout(timer);
  }

  /** The step of the other session that corresponds to the current one. */
  beside(other: Session): number {
    return matching(this.at, this.session, other);
  }
}

/** A whole number from 0 on, as an address gives it. */
export function natural(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
