// Made-up results for the mock: of filters, tables and a figure.

import type { FigureTold, ResultTable, Standing, Told } from "../src/lib/results";
import { runs } from "./runs";

/** What an attacker may call a player. */
export const HOSTILE = '=cmd|\u202Eme <img src=x onerror="document.title=1">';

const ALL = { trial: 2400, auctions: 96 };

/** Sessions that fit the filters of an address. */
function total(query: URLSearchParams): number {
  const run = query.get("run");
  const all = run === null ? ALL.trial + ALL.auctions : (ALL[run as keyof typeof ALL] ?? 0);
  return query.get("player") === "nobody" ? 0 : query.get("where.factor") === null ? all : all / 4;
}

/** Sessions of this pace are counted a quarter at a time. */
const SLOW = "slow";
let asked = 0;

export function standing(query: URLSearchParams): Standing {
  const sessions = total(query);
  if (query.get("where.pace") === SLOW) asked += 1;
  const counted = query.get("where.pace") === SLOW ? Math.min((sessions / 4) * asked, sessions) : sessions;
  return {
    counted,
    total: sessions,
    simulated: query.get("run") === "auctions" ? 0 : Math.min(counted, 1200),
    parts: sessions === 0 ? [] : [{ name: "leaderboard", title: "Leaderboard" }, { name: "measures", title: "Measures" }],
    published: sessions === 0 ? [] : [{ name: "published-some-paper", title: "some-paper" }],
    figures: sessions === 0 ? [] : [{ name: "payoffs", about: "Payoffs by player", source: "" }],
    choices: {
      runs: runs.map(({ run, experiment }) => ({ run, experiment })),
      games: ["english_auction", "guess_the_number"],
      players: ["cautious", "sim-large", "sim-small"],
      axes: { factor: ["1/2", "2/3", "4/5", "1"], "players.a.temperature": ["0", "1"], budget: ["500"] },
    },
    notes: [],
  };
}

function players(query: URLSearchParams): ResultTable {
  const n = total(query);
  const row = (player: string, mean: number, half: number | null) => ({
    cells: ["1–2", player, mean.toFixed(2), half === null ? "-" : `${(mean - half).toFixed(2)} to ${(mean + half).toFixed(2)}`, String(n)],
    sessions: { game: "guess_the_number", players: [player], setting: { factor: "1/2" }, simulated: true },
    bar: { value: mean, interval: half === null ? undefined : ([mean - half, mean + half] as [number, number]) },
  });
  return {
    columns: [
      { name: "rank", is_number: true },
      { name: "player", is_number: false },
      { name: "mean", is_number: true },
      { name: "95 %", is_number: true },
      { name: "n", is_number: true },
    ],
    rows: [
      row("sim-large", 41.5, 3),
      row(HOSTILE, 39.25, 4.5),
      { cells: ["3", "GPT-4o (published)", "38.10", "-", "-"], bar: { value: 38.1 } },
    ],
  };
}

export function told(part: string, query: URLSearchParams): Told | undefined {
  const text = (sentence: string) => ({ block: "sentence" as const, text: sentence });
  const counted = total(query);
  if (part === "leaderboard") return { counted, blocks: [text("Means over n sessions, best first."), { block: "table", ...players(query) }] };
  if (part !== "measures" && part !== "published-some-paper") return undefined;
  const wide: ResultTable = {
    columns: ["setting", "player", ...Array.from({ length: 16 }, (_, at) => `measure ${at}`), "notes"].map((name) => ({ name, is_number: name.startsWith("measure") })),
    rows: ["1/2", "2/3"].map((factor) => ({
      cells: [`factor=${factor}`, "sim-large", ...Array.from({ length: 16 }, (_, at) => `${at * 3}.25\n± ${at}.5`), "12 % forfeited"],
      sessions: { game: "guess_the_number", setting: { factor } },
    })),
  };
  return { counted, blocks: [{ block: "table", ...wide }, text("forfeited: share of the answers that were forfeited after too many fouls")] };
}

export function figure(query: URLSearchParams): FigureTold {
  return { counted: total(query), title: "Payoffs by player", caption: "n = 20.", points: players(query) };
}

export const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="85mm" height="40mm" viewBox="0 0 240 113"><rect width="240" height="113" fill="#888"/></svg>';

export const csv = (query: URLSearchParams) => `rank,player,mean\n1,sim-large,41.50\n2,'=cmd,${total(query)}\n`;
