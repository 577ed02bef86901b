// The cells of a run as a grid: which settings vary, and where each cell stands.

import type { Cell, Fact } from "./api";
import { titleOf } from "./games";

/** The game is told as a setting like the others. */
const GAME = "game";

export type Axis = { name: string; values: string[] };

/** The settings that differ between cells, the game being one of them; one that some cells lack has an empty value. */
export function varying(cells: { game: string; setting: Fact[] }[]): Axis[] {
  const values = new Map<string, Set<string>>();
  for (const cell of cells) {
    for (const fact of described(cell)) {
      const known = values.get(fact.name) ?? new Set<string>();
      values.set(fact.name, known.add(fact.value));
    }
  }
  const isEverywhere = (name: string) => cells.every((cell) => described(cell).some((fact) => fact.name === name));
  return [...values]
    .filter(([name, seen]) => seen.size > 1 || !isEverywhere(name))
    .map(([name, seen]) => ({ name, values: [...sorted([...seen]), ...(isEverywhere(name) ? [] : [""])] }));
}

/** The settings that all cells share. */
export function shared(cells: Cell[], axes: Axis[]): Fact[] {
  const first = cells[0];
  return first ? described(first).filter((fact) => !axes.some((axis) => axis.name === fact.name)) : [];
}

export function valueOf(cell: { game: string; setting: Fact[] }, axis: string): string {
  return described(cell).find((fact) => fact.name === axis)?.value ?? "";
}

/** What tells a cell from the others, in words; without the settings that it lacks. */
export function label(cell: { game: string; setting: Fact[] }, axes: Axis[]): string {
  const own = axes.filter(({ name }) => valueOf(cell, name) !== "");
  const parts = own.map(({ name }) => (name === GAME ? "" : `${name} `) + valueOf(cell, name));
  return parts.join(", ") || titleOf(cell.game);
}

/** Fouls and forfeits are counts; all other measures are means. */
export function isCount(measure: string): boolean {
  return measure === "fouls" || measure === "forfeits";
}

/** The value of a measure in a cell. */
export function measured(cell: Cell, measure: string): number | null {
  if (measure === "fouls") return cell.fouls;
  if (measure === "forfeits") return cell.forfeits;
  return cell.means[measure] ?? null;
}

function described(cell: { game: string; setting: Fact[] }): Fact[] {
  return [{ name: GAME, value: titleOf(cell.game) }, ...cell.setting];
}

/** Numbers by size; otherwise in the order of the cells. */
function sorted(values: string[]): string[] {
  const areNumbers = values.every((value) => value !== "" && Number.isFinite(Number(value)));
  return areNumbers ? values.sort((a, b) => Number(a) - Number(b)) : values;
}
