// Results as the server answers them, and the filters that stand in the address.

import type { SessionPage } from "./api";
import type { components } from "./openapi";
import { addressOf, get } from "./client";
import { link } from "./place";

type Schemas = components["schemas"];

/** Sessions that have all of this in common. */
export type Selection = Schemas["Selection"];
export type Bar = Schemas["Bar"];
export type ResultTable = Schemas["Table"];
export type Block = Schemas["Block"];
export type Part = Schemas["Part"];
export type FigureHead = Schemas["FigureHead"];
export type Choices = Schemas["Choices"];
/** How far results are, and what there is of them. */
export type Standing = Schemas["Standing"];
/** A part of the results. */
export type Told = Schemas["ToldPart"];
export type FigureTold = Schemas["FigureTold"];

/** Which sessions, as names and values; a name may stand there several times. */
export type Filters = [string, string][];

const NAMES = ["run", "game", "player", "experiment", "setting", "loose", "simulated"];

/** Before the name of an axis. */
export const AXIS = "where.";

/** The filters of an address, in a fixed order. */
export function filtersOf(query: URLSearchParams): Filters {
  const all = [...query].filter(([name, value]) => value !== "" && (NAMES.includes(name) || name.startsWith(AXIS)));
  return all.sort(([one], [other]) => one.localeCompare(other));
}

/** The filters of a row's sessions among those of the page. */
export function narrowed(filters: Filters, selection: Selection): Filters {
  const own: Filters = [];
  if (selection.experiment !== undefined) own.push(["experiment", selection.experiment]);
  if (selection.game !== undefined) own.push(["game", selection.game]);
  if (selection.setting !== undefined) own.push(["setting", JSON.stringify(selection.setting)]);
  if (selection.loose) own.push(["loose", "true"]);
  if (selection.simulated !== undefined) own.push(["simulated", String(selection.simulated)]);
  const kept = filters.filter(([name]) => !own.some(([taken]) => taken === name));
  for (const player of selection.players ?? []) own.push(["player", player]);
  const isNew = ([name, value]: [string, string]) => !kept.some((one) => one[0] === name && one[1] === value);
  return [...kept, ...own.filter(isNew)];
}

export const queryOf = (filters: Filters) => (filters.length === 0 ? "" : `?${new URLSearchParams(filters)}`);

/** The page that lists the sessions of these filters. */
export const sessionsPath = (filters: Filters) => link(`/results/sessions${queryOf(filters)}`);

export const readStanding = (filters: Filters, signal: AbortSignal) => get<Standing>(["results"], filters, signal);

export const readPart = (part: string, filters: Filters, signal: AbortSignal) =>
  get<Told>(["results", "tables", part], filters, signal);

export const readFigure = (name: string, filters: Filters, signal: AbortSignal) =>
  get<FigureTold>(["results", "figures", name], filters, signal);

export const listResultSessions = (filters: Filters, cursor: string | null, count: number, signal: AbortSignal) => {
  const page: Filters = [["count", String(count)]];
  if (cursor !== null) page.push(["cursor", cursor]);
  return get<SessionPage>(["results", "sessions"], [...filters, ...page], signal);
};

/** The address of a table as CSV, by its number in its part. */
export const tableFile = (part: string, table: number, filters: Filters) =>
  addressOf(["results", "tables", part, `${table}.csv`], filters);

/** The address of a figure as a file. */
export const figureFile = (name: string, file: "figure.svg" | "dark.svg" | "figure.csv", filters: Filters) =>
  addressOf(["results", "figures", name, file], filters);
