// Made-up runs, rows and calls for the mock.

import type { Cell, Decision, Run, RunHead, Session, SessionRow } from "../src/lib/api";

export const runs: Run[] = [
  { run: "trial", experiment: "Guessing and bidding, trial", place: "runs/trial.agon", sessions: 2400, games: ["guess_the_number"], players: ["sim-small", "sim-large", "level-k"], simulated: true },
  { run: "auctions", experiment: "English auctions with budgets", place: "the coordinator at 10.0.0.4", sessions: 96, games: ["english_auction", "first_sealed_auction"], players: ["cautious", "sim-large"], simulated: false },
];

export function headOf(id: string): RunHead | undefined {
  const run = runs.find((one) => one.run === id);
  if (!run) return undefined;
  const cells = id === "trial" ? guessCells() : auctionCells();
  return { run, cells, measures: ["decision_quality", "regret", "payoff"], notes: run.simulated ? ["Some answers came from a simulated model; its numbers say nothing about real models."] : [] };
}

function guessCells(): Cell[] {
  const cells: Cell[] = [];
  for (const factor of ["1/2", "2/3", "4/5", "1"]) {
    for (const players of ["alone", "mixed", "crowd"]) {
      const cell = cells.length;
      cells.push({
        cell,
        game: "guess_the_number",
        axes: { factor, players, rounds: 10 },
        setting: [{ name: "factor", value: factor }, { name: "players", value: players }, { name: "rounds", value: "10" }],
        sessions: 200,
        means: { decision_quality: cell === 7 ? null : 0.31 + ((cell * 37) % 60) / 100, regret: 12 - cell * 0.83, payoff: 40 + cell * 1.7 },
        fouls: (cell * 7) % 23,
        forfeits: cell % 4,
      });
    }
  }
  return cells;
}

function auctionCells(): Cell[] {
  return ["english_auction", "first_sealed_auction"].map((game, cell) => ({
    cell,
    game,
    axes: { budget: 500 },
    setting: [{ name: "budget", value: "500" }],
    sessions: 48,
    means: { decision_quality: 0.6 + cell * 0.1, regret: 3 - cell, payoff: 20 },
    fouls: cell,
    forfeits: 0,
  }));
}

export function rowsOf(head: RunHead): SessionRow[] {
  const known = head.run.run === "trial" ? ["guess-two-thirds-0001", "guess-half-0001", "long-0001"] : ["auction-english-0007"];
  return head.cells.flatMap((cell) =>
    Array.from({ length: cell.sessions }, (_, repeat) => ({
      session: (repeat === 0 ? known[cell.cell] : undefined) ?? `${head.run.run}-${cell.cell}-${String(repeat).padStart(4, "0")}`,
      game: cell.game,
      cell: cell.cell,
      setting: cell.setting,
      repeat,
      place: 0,
      players: repeat % 2 === 0 ? "sim-small, level-k, level-k" : "sim-large, sim-small, level-k",
      payoffs: `${(repeat * 3) % 17}, ${(repeat * 7) % 19}, ${(repeat * 5) % 13}`,
      notes: repeat % 9 === 4 ? "one forfeit" : "",
    })),
  );
}

export function decisionOf(session: Session, seat: number, index: number): Decision | undefined {
  const of = session.seats[seat];
  if (!of || index >= of.decisions) return undefined;
  const rules = `You play ${session.game.replaceAll("_", " ")}. ${session.about}\n\nAnswer with one line: ANSWER: a whole number.`;
  const before = Array.from({ length: index * 2 }, (_, at) => ({ role: at % 2 === 0 ? "user" : "assistant", text: at % 2 === 0 ? `Round ${at / 2 + 1}. What do you answer?` : "ANSWER: 33" }));
  return {
    seat,
    index,
    purpose: "answer",
    messages: index === 5 ? null : [{ role: "system", text: rules }, ...before, { role: "user", text: `Round ${index + 1}. What do you answer?` }],
    known: index === 0 ? 0 : 1 + before.length,
    is_same: index % 4 !== 3,
    schema: null,
    parameters: [{ name: "temperature", value: "0.7" }, { name: "most tokens", value: "400" }],
    answered_by: "sim/uniform-1",
    finish_reason: "stop",
    reasoning: index % 2 === 0 ? "The others will reason one level, so the mean falls.\nI go one level deeper." : null,
    reply: index === 2 ? `ANSWER: 21\n${"All work and no play. ".repeat(3000)}` : "I think the mean will be near 33.\n\u202E\nANSWER: 22",
    reading: index === 1 ? "Refused: the answer has to be a whole number from 0 to 100." : "22",
    tokens_in: 412 + index * 40,
    tokens_out: 58,
    tokens_estimated: false,
    cost: 0.00042,
    seconds: 1.8,
  };
}
