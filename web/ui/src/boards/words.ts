// Numbers and lists as readers see them; the server's words pass through `shown` first.

import type { Scene } from "../lib/api";
import { beginning } from "../lib/text";

/** One scene by its name. */
export type SceneOf<Name extends Scene["scene"]> = Extract<Scene, { scene: Name }>;

/** From here on pictures shorten numbers; tables never do. */
const LONG = 1_000_000;

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const exact = new Intl.NumberFormat("en", { maximumFractionDigits: 10 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

/** A number for a picture: at most two decimals, millions shortened, "–" for what is not known. */
export function num(value: number | null | undefined, long = LONG): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return minus((Math.abs(value) >= long ? compact : plain).format(value));
}

/** A number for a table. */
export function full(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return minus(exact.format(value));
}

/** A gain or a loss: the sign is always written. */
export function signed(value: number, long = LONG): string {
  return value > 0 ? `+${num(value, long)}` : num(value, long);
}

/** "one seat", "3 seats". */
export function count(number: number, one: string, many = `${one}s`): string {
  return number === 1 ? `1 ${one}` : `${num(number)} ${many}`;
}

/** "A, B and C", or "A, B, C and 4 others". */
export function list(words: string[], most = 4): string {
  if (words.length > most)
    return `${words.slice(0, most - 1).join(", ")} and ${words.length - most + 1} others`;
  if (words.length < 2) return words[0] ?? "nobody";
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** The text, or its beginning when it is longer than `most` characters. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${beginning(text, most - 1).trimEnd()}…` : text;
}

/** The sum, or null when a part of it is not known. */
export function sum(values: (number | null)[]): number | null {
  let total = 0;
  for (const value of values) {
    if (value === null) return null;
    total += value;
  }
  return total;
}

/** The greatest of the numbers that are told; 0 when none is. */
export function greatest(values: (number | null | undefined)[]): number {
  return values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}

/** Where a value lies between two ends, in percent, never outside of them. */
export function percent(value: number, low: number, high: number): number {
  if (!(high > low)) return 0;
  return Math.min(100, Math.max(0, ((value - low) / (high - low)) * 100));
}

function minus(text: string): string {
  return text.replace("-", "−");
}
