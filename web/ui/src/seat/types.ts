// What the server tells the page of a seat.

import type { Board } from "../lib/api";

export type Stage = "consent" | "instructions" | "lobby" | "play" | "questions" | "thanks" | "left";

export type SeatState = {
  /** Milliseconds since 1970 on the server's clock. */
  now: number;
  pseudonym: string;
  stage: Stage;
  /** All stages of this participation, in order. */
  stages: Stage[];
  /** The text of this stage. */
  text: string;
  check: { question: string; choices: string[] }[];
  lobby: Lobby | null;
  /** Oldest first; the last one may go on. */
  games: Game[];
  games_in_all: number | null;
  ask: Ask | null;
  /** What became of the last question, where the person did not answer it. */
  notice: string | null;
  questions: Question[];
  completion_code: string | null;
  return_link: string | null;
};

export type Lobby = {
  people: { pseudonym: string | null; here: boolean; ready: boolean; you: boolean }[];
  asks_ready: boolean;
  all_ready: boolean;
};

export type Live = {
  game: string;
  about: string;
  seat: number;
  names: string[];
  board: Board;
  told: { round: number; says: string }[];
};

export type Game = {
  session: string;
  live: Live | null;
  rules: string;
  history: { from: "rules" | "game" | "you"; text: string }[];
  payoff: number | null;
  over: boolean;
};

export type Ask = {
  id: string;
  kind: string;
  /** JSON Schema of the answer; null for words. */
  schema: Schema | null;
  question: string;
  /** Milliseconds since 1970 on the server's clock. */
  until: number | null;
  stand_in: string | null;
  refused: string | null;
};

export type Schema = {
  type?: string;
  enum?: string[];
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  items?: Schema;
  description?: string;
};

export type Question = {
  name: string;
  question: string;
  kind: "text" | "number" | "choice" | "scale";
  choices: string[];
  min: number | null;
  max: number | null;
  steps: number | null;
  low: string;
  high: string;
  optional: boolean;
};

export type Answer = string | number | number[];
