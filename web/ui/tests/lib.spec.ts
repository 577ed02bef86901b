// The functions without a page: hostile text, and moving through steps.

import { expect, test } from "@playwright/test";
import { listed, letter } from "../src/lib/format";
import { label, varying } from "../src/lib/grid";
import { matching, target, turnAt } from "../src/lib/moves";
import { simulationOf } from "../src/lib/simulation";
import { beginning, oneLine, shown } from "../src/lib/text";
import { clock, controlOf, outside, range } from "../src/seat/form";

test("invisible characters are shown by their code points", () => {
  expect(shown("a\u202Eb\u0000c\u{E0041}d\uFEFF")).toBe("a[U+202E]b[U+0000]c[U+E0041]d[U+FEFF]");
  expect(shown("half \uD800 pair")).toBe("half [U+D800] pair");
  expect(shown("one\r\ntwo\rthree")).toBe("one\ntwo[U+000D]three");
});

test("ordinary text stays as it is", () => {
  const text = "tab\tline\nnaïve, 你好, שלום, 👩\u200D🚀";
  expect(shown(text)).toBe(text);
});

test("a cut does not split a surrogate pair", () => {
  expect(beginning("ab👍", 3)).toBe("ab");
  expect(beginning("ab👍", 4)).toBe("ab👍");
  expect(oneLine("one\n two", 5)).toBe("one…");
});

test("moves stay inside the session and follow the turns", () => {
  const turns = [2, 5, 9];
  expect([0, 1, 2, 4, 5, 9, 20].map((step) => turnAt(turns, step))).toEqual([-1, -1, 0, 0, 1, 2, 2]);
  expect(target("previous", 0, 11, turns)).toBe(0);
  expect(target("next", 11, 11, turns)).toBe(11);
  expect(target("next turn", 0, 11, turns)).toBe(2);
  expect(target("next turn", 9, 11, turns)).toBe(11);
  expect(target("previous turn", 7, 11, turns)).toBe(5);
  expect(target("previous turn", 5, 11, turns)).toBe(2);
  expect(target("previous turn", 1, 11, turns)).toBe(0);
});

test("a compared session is at the same place of the same turn", () => {
  const one = { turns: [1, 4, 8], steps: 12 };
  const other = { turns: [2, 4, 10], steps: 11 };
  expect([0, 1, 3, 4, 7, 8, 11].map((at) => matching(at, one, other))).toEqual([0, 2, 3, 4, 7, 10, 10]);
});

test("seats have letters and lists read as a sentence", () => {
  expect([0, 25, 26, 52].map(letter)).toEqual(["A", "Z", "AA", "BA"]);
  expect(listed(["A", "B", "C"])).toBe("A, B and C");
});

test("every form of an answer has controls of its own", () => {
  const vote = { type: "string", enum: ["accept", "reject"] };
  expect(controlOf(vote)).toEqual({ control: "choice", options: ["accept", "reject"] });
  const bid = { anyOf: [{ type: "integer", minimum: 1000, maximum: 9000 }, { enum: ["withdraw"] }] };
  const rising = { control: "number", whole: true, min: 1000, max: 9000, instead: ["withdraw"] } as const;
  expect(controlOf(bid)).toEqual(rising);
  expect(outside({ ...rising, instead: [] }, 999)).toBe("A whole number from 1000 to 9000 is asked for.");
  expect(outside({ ...rising, instead: [] }, 1000.5)).not.toBeNull();
  expect(outside({ ...rising, instead: [] }, 9000)).toBeNull();
  // Nothing but passing is left.
  expect(controlOf({ enum: ["withdraw"] })).toEqual({ control: "choice", options: ["withdraw"] });
  const division = { type: "array", items: { type: "integer", minimum: 0, maximum: 100 }, minItems: 4 };
  expect(controlOf(division)).toEqual({ control: "division", parts: 4, total: 100 });
  expect(controlOf({ type: "integer" })).toMatchObject({ control: "number", min: null, max: null });
  expect(range(controlOf({ type: "number", minimum: 0 }))).toBe("A number of at least 0");
  expect(controlOf(null)).toEqual({ control: "text" });
  expect(controlOf({ type: "object" })).toEqual({ control: "text" });
});

test("a clock counts whole seconds and never below nothing", () => {
  expect([65, 0.4, -3, 3600].map(clock)).toEqual(["1:05", "0:01", "0:00", "1:00:00"]);
});

test("a cell is called by the settings that it has, and one without a setting has a place in its grid", () => {
  const cells = [
    { game: "guess_two_thirds", setting: [{ name: "ratio", value: "0.5" }] },
    { game: "guess_two_thirds", setting: [{ name: "ratio", value: "0" }] },
    { game: "el_farol", setting: [] },
  ];
  const axes = varying(cells);
  expect(axes).toEqual([
    { name: "game", values: ["Guess 2/3 of the Average", "El Farol Bar"] },
    { name: "ratio", values: ["0", "0.5", ""] },
  ]);
  expect(cells.map((cell) => label(cell, axes))).toEqual([
    "Guess 2/3 of the Average, ratio 0.5",
    "Guess 2/3 of the Average, ratio 0",
    "El Farol Bar",
  ]);
});

test("how many sessions are simulated is said of those counted so far, and of one as one", () => {
  const of = (counted: number, total: number, simulated: number) => simulationOf({ counted, total, simulated })?.split(" played by")[0];
  expect(of(4, 9, 4)).toBe("All of the sessions counted so far were");
  expect(of(1, 9, 1)).toBe("1 of the sessions counted so far was");
  expect(of(9, 9, 9)).toBe("All of these sessions were");
  expect(of(9, 9, 1)).toBe("1 of these sessions was");
  expect(of(1, 1, 1)).toBe("This session was");
  expect(of(2000, 2400, 1200)).toBe("1,200 of the sessions counted so far were");
  expect(of(9, 9, 0)).toBeUndefined();
});
