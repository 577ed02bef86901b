// What the server tells the page of a seat.

import type { components } from "../lib/openapi";

type Schemas = components["schemas"];

export type Stage = Schemas["Stage"];
export type SeatState = Schemas["ToldSeat"];
/** An event of the stream of a seat. */
export type SeatEvent = Schemas["SeatEvent"];
/** Which answers to the questions about the instructions are wrong. */
export type Checked = Schemas["Checked"];
export type Lobby = Schemas["LobbyState"];
export type Live = Schemas["Live"];
export type Game = Schemas["GameState"];
export type Ask = Schemas["AskState"];
export type Question = Schemas["Question"];

/** The JSON Schema of an answer, as far as games use it. */
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

export type Answer = string | number | number[];
