// The controls of an answer, made from its form.

import type { Board } from "../lib/api";
import type { Schema } from "./types";

export type Control =
  | {
      control: "number";
      whole: boolean;
      min: number | null;
      max: number | null;
      /** Words that may be said instead of a number ("withdraw"). */
      instead: string[];
    }
  | { control: "choice"; options: string[] }
  | { control: "division"; parts: number; total: number }
  | { control: "text" };

/** The controls of a form; words where it is none that is known. */
export function controlOf(schema: Schema | null): Control {
  if (schema === null) return { control: "text" };
  const shapes = schema.anyOf ?? [schema];
  const words = shapes.flatMap((shape) => shape.enum ?? []);
  const number = shapes.find((shape) => shape.type === "integer" || shape.type === "number");
  if (number) {
    return {
      control: "number",
      whole: number.type === "integer",
      min: number.minimum ?? null,
      max: number.maximum ?? null,
      instead: words,
    };
  }
  const list = shapes.find((shape) => shape.type === "array");
  if (list?.minItems !== undefined && list.items?.maximum !== undefined) {
    return { control: "division", parts: list.minItems, total: list.items.maximum };
  }
  return words.length > 0 ? { control: "choice", options: words } : { control: "text" };
}

/** What may be answered, in words; empty where the controls say it. */
export function range(control: Control): string {
  if (control.control !== "number") return "";
  const { min, max, whole } = control;
  const what = whole ? "A whole number" : "A number";
  if (min !== null && max !== null) return `${what} from ${min} to ${max}`;
  if (min !== null) return `${what} of at least ${min}`;
  return max === null ? what : `${what} of at most ${max}`;
}

/** Why a number is outside its form; null where it is inside. */
export function outside(control: Control & { control: "number" }, value: number): string | null {
  const { min, max, whole } = control;
  const isOutside = (min !== null && value < min) || (max !== null && value > max);
  const isBroken = whole && !Number.isInteger(value);
  return isOutside || isBroken ? `${range(control)} is asked for.` : null;
}

/** Who gets each part of a division, where the board says so. */
export function partNames(board: Board | undefined, names: string[], parts: number): string[] {
  const scene = board?.scene;
  if (scene?.scene === "crew") {
    const aboard = scene.crew.filter((pirate) => pirate.aboard);
    if (aboard.length === parts) return aboard.map((pirate) => names[pirate.seat] ?? `Seat ${pirate.seat}`);
  }
  return Array.from({ length: parts }, (_, index) => `Part ${index + 1}`);
}

/** "1:05" of 65 seconds. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  const rest = String(whole % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
