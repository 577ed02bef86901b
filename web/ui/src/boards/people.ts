// Who sits at a board: the letter, name, colour and state by which all boards show a seat.

import type { Board, Seat } from "../lib/api";
import { shown } from "../lib/text";
import { cut } from "./words";

export type People = {
  seats: number[];
  letter: (seat: number) => string;
  name: (seat: number) => string;
  /** Its name for a sentence: long ones are cut. */
  short: (seat: number) => string;
  /** A CSS colour. */
  color: (seat: number) => string;
  /** Words such as "leads". */
  marks: (seat: number) => string[];
  isOut: (seat: number) => boolean;
};

/** Colours of app.css; letters tell the rest apart. */
const COLORS = 10;

/** Longest name in a sentence, in characters. */
const SHORT = 26;

export function peopleOf(board: Board, seats: Seat[]): People {
  const names = new Map(seats.map((seat) => [seat.seat, shown(seat.name)]));
  const states = new Map(board.seats.map((seat) => [seat.seat, seat]));
  const name = (seat: number) => names.get(seat) ?? `seat ${seat}`;
  return {
    seats: [...new Set([...names.keys(), ...states.keys()])].sort((one, other) => one - other),
    letter,
    name,
    short: (seat) => cut(name(seat), SHORT),
    color,
    marks: (seat) => (states.get(seat)?.marks ?? []).map(shown),
    isOut: (seat) => states.get(seat)?.in_play === false,
  };
}

export function color(seat: number): string {
  return `var(--seat-${((seat % COLORS) + COLORS) % COLORS})`;
}

/** A to Z, then AA to AZ, BA and so on. */
export function letter(seat: number): string {
  const last = String.fromCharCode(65 + (seat % 26));
  return seat < 26 ? last : letter(Math.floor(seat / 26) - 1) + last;
}
