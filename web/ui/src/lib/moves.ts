// Moving through the steps of a session: which key does what, where turns begin, how long a step is shown.

import type { Step } from "./api";

export type Move = "next" | "previous" | "next turn" | "previous turn" | "first" | "last" | "play";

const KEYS: Record<string, Move> = {
  ArrowRight: "next",
  ArrowLeft: "previous",
  PageDown: "next turn",
  PageUp: "previous turn",
  Home: "first",
  End: "last",
  " ": "play",
};

/** The move for a key; null where the focused element handles the key itself. */
export function moveOf(event: KeyboardEvent): Move | null {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return null;
  const move = KEYS[event.key];
  if (!move) return null;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest("dialog, select, textarea, input:not([type=range])")) return null;
  if (event.key === " " && target?.closest("button, summary, a")) return null;
  const isScrolling = target?.classList.contains("scroll") ?? false;
  return isScrolling ? null : move;
}

/** The step to which a move leads from `at`. */
export function target(move: Move, at: number, last: number, turns: number[]): number {
  switch (move) {
    case "next":
      return Math.min(at + 1, last);
    case "previous":
      return Math.max(at - 1, 0);
    case "next turn":
      return turns[turnAt(turns, at) + 1] ?? last;
    case "previous turn": {
      const turn = turnAt(turns, at);
      const start = turns[turn] ?? 0;
      return start < at ? start : (turns[turn - 1] ?? 0);
    }
    case "first":
      return 0;
    case "last":
      return last;
    case "play":
      return at;
  }
}

/** The index of the turn that holds a step; -1 before the first. */
export function turnAt(turns: number[], step: number): number {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle] ?? 0) <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

type Length = { turns: number[]; steps: number };

/** The step at the same position in the same turn of another session. */
export function matching(at: number, one: Length, other: Length): number {
  const turn = turnAt(one.turns, at);
  const last = Math.max(other.steps - 1, 0);
  if (turn < 0) return Math.min(at, Math.max((other.turns[0] ?? other.steps) - 1, 0));
  const start = other.turns[turn];
  if (start === undefined) return last;
  const end = (other.turns[turn + 1] ?? other.steps) - 1;
  return Math.min(start + at - (one.turns[turn] ?? 0), end, last);
}

/** How long a step is shown while playing, so that its text can be read. */
export function pauseMs(step: Step, speed: number): number {
  const texts = [step.says, ...step.answers.map((answer) => answer.answer ?? ""), ...step.notes.map((note) => note.text)];
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return Math.min(900 + length * 18, 8000) / speed;
}
