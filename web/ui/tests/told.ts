// Made-up sessions for the mock: a guessing game, the same beside it, an auction, and a very long one.

import type { Answer, Board, Seat, Session, Step } from "../src/lib/api";

export type Told = { session: Session; step: (index: number) => Step };

const HOSTILE = "I choose \u202E15 <script>alert(1)</script> \u0007 and hope.";

export function guessing(): Told {
  return guess("guess-two-thirds-0001", 2 / 3, "guess-half-0001");
}

export function guessingBeside(): Told {
  return guess("guess-half-0001", 1 / 2, "guess-two-thirds-0001");
}

function guess(id: string, factor: number, beside: string): Told {
  const names = ["Ada", "Berthold", "Chen", "Dara", "Emeka"];
  const rounds = 10;
  const values = (round: number) => names.map((_, seat) => Math.round((50 - seat * 5) * factor ** (round * 0.55)));
  const mean = (round: number) => values(round).reduce((sum, value) => sum + value, 0) / names.length;
  const target = (round: number) => mean(round) * factor;
  const winner = (round: number) => {
    const away = values(round).map((value) => Math.abs(value - target(round)));
    return away.indexOf(Math.min(...away));
  };
  const seats = names.map((name, seat) => seatOf(seat, name, seat < 2 ? "sim-small" : "level-k", seat < 2));
  const perRound = 3;
  const session = sessionOf(id, "guess_the_number", seats, {
    about: "Everybody names a number from 0 to 100; closest to a share of the mean wins.",
    setting: [
      { name: "factor", value: factor === 0.5 ? "1/2" : "2/3" },
      { name: "players", value: "mixed" },
    ],
    steps: 1 + rounds * perRound,
    turns: Array.from({ length: rounds }, (_, round) => 1 + round * perRound),
    series: [
      { name: "mean guess", values: Array.from({ length: rounds }, (_, round) => mean(round + 1)) },
      { name: "target", values: Array.from({ length: rounds }, (_, round) => target(round + 1)) },
      { name: "spread", values: Array.from({ length: rounds }, (_, round) => (round === 4 ? null : 20 / (round + 1))) },
    ],
    beside,
  });
  const board = (round: number, isOpen: boolean): Board => ({
    heading: round === 0 ? "Before the first round" : `Round ${round} of ${rounds}`,
    scene: {
      scene: "line",
      low: 0,
      high: 100,
      dots: isOpen ? values(round).map((value, seat) => ({ seat, value, won: seat === winner(round) })) : [],
      marks: isOpen ? [{ name: "mean", value: mean(round) }, { name: "target", value: target(round) }] : [],
      drift: Array.from({ length: isOpen ? round : Math.max(round - 1, 0) }, (_, before) => ({
        round: before + 1,
        target: target(before + 1),
      })),
    },
    seats: names.map((_, seat) => ({
      seat,
      in_play: true,
      marks: isOpen && seat === winner(round) ? ["won the round"] : [],
      meters: [],
      figures: [{ name: "rounds won", value: String(isOpen && seat === winner(round) ? 2 : 1) }],
    })),
  });
  const step = (index: number): Step => {
    const round = index === 0 ? 0 : Math.floor((index - 1) / perRound) + 1;
    const part = index === 0 ? -1 : (index - 1) % perRound;
    const base = stepOf(index, round, board(round, part === 1));
    if (part === -1) return { ...base, kind: "game_started", title: "The game begins", says: "Five players begin to guess a share of the mean." };
    if (part === 0) {
      const guesses = values(round);
      return {
        ...base,
        kind: "answers",
        title: "Guesses",
        says: `The players guess ${guesses.join(", ")}.`,
        answers: guesses.map((value, seat) => answerOf(seat, "Name a number", String(value), seat < 2 ? [round - 1] : [], round)),
        notes: [{ seat: 0, kind: "belief", text: `Others will guess about ${Math.round(mean(round))}, so I go lower. ${HOSTILE}` }],
      };
    }
    if (part === 1) {
      return {
        ...base,
        kind: "round_result",
        title: `Result of round ${round}`,
        says: `The mean is ${mean(round).toFixed(1)}, the target ${target(round).toFixed(1)}; ${names[winner(round)]} is closest.`,
        facts: [{ name: "mean", value: mean(round).toFixed(2) }, { name: "target", value: target(round).toFixed(2) }],
        own: [{ name: "distance", values: values(round).map((value) => Math.abs(value - target(round)).toFixed(2)) }],
        hidden: [{ name: "level of the rule players", value: "2, 3 and 4" }],
      };
    }
    return { ...base, kind: "hint", title: "A hint", to: [1], says: `Berthold is told that the mean will fall below ${Math.ceil(mean(round))}.` };
  };
  return { session, step };
}

export function auction(): Told {
  const names = ["Bidder 1", "Bidder 2", "Bidder 3"];
  const seats = names.map((name, seat) => seatOf(seat, name, seat === 2 ? "cautious" : "sim-large", seat !== 2));
  const items = ["Harbour crane", "Old mill", "Lighthouse lamp"];
  const perItem = 6;
  const session = sessionOf("auction-english-0007", "english_auction", seats, {
    about: "Items are sold one after another to whoever bids most; their true value shows after the hammer.",
    setting: [{ name: "budget", value: "500" }],
    steps: items.length * perItem,
    turns: items.map((_, item) => item * perItem),
    series: [{ name: "price over value", values: [0.9, 1.2, 1.05] }],
    beside: null,
  });
  const step = (index: number): Step => {
    const item = Math.floor(index / perItem);
    const bidding = index % perItem;
    const isSold = bidding === perItem - 1;
    const bids = (seat: number) =>
      Array.from({ length: Math.min(bidding, 4) }, (_, round) => ((round + seat) % 3 === 0 ? 100 + round * 40 : null));
    const highest = bidding === 0 ? null : 60 + Math.min(bidding, 4) * 40;
    const leader = bidding === 0 ? null : (bidding + 1) % 3;
    const board: Board = {
      heading: `${items[item]}, ${item + 1} of ${items.length}`,
      scene: {
        scene: "rising",
        item: items[item] ?? "",
        place: item + 1,
        items: items.length,
        starting_price: 80,
        true_value: isSold ? 210 + item * 30 : null,
        highest,
        leader,
        sold: isSold ? true : null,
        bidders: names.map((_, seat) => ({
          seat,
          bids: bids(seat),
          withdrawn: seat === 2 && bidding > 2,
          budget: 500 - item * 120,
          profit: isSold && seat === leader ? 12 : 0,
          estimate: 200 + seat * 15,
        })),
        lots: items.slice(0, item).map((name, lot) => ({ item: name, winner: lot % 3, price: 220, true_value: 210 + lot * 30 })),
      },
      seats: names.map((_, seat) => ({
        seat,
        in_play: !(seat === 2 && bidding > 2),
        marks: seat === leader ? ["leads"] : [],
        meters: [{ name: "budget", value: 500 - item * 120, most: 500 }],
        figures: [],
      })),
    };
    const base = stepOf(index, item + 1, board);
    if (isSold) {
      return { ...base, kind: "sold", title: "The hammer falls", says: `${items[item]} is sold for ${highest}; its true value was ${210 + item * 30}.`, facts: [{ name: "price", value: String(highest) }, { name: "true value", value: String(210 + item * 30) }] };
    }
    return {
      ...base,
      kind: "answers",
      title: `Round ${bidding + 1} of bidding`,
      says: `${names[(bidding + 2) % 3]} bids ${100 + bidding * 40} on the ${items[item]}.`,
      own: bidding === 0 ? [{ name: "estimate", values: names.map((_, seat) => String(200 + seat * 15)) }] : [],
      hidden: bidding === 0 ? [{ name: "true value", value: String(210 + item * 30) }] : [],
      answers: names.map((_, seat) => answerOf(seat, "Bid or withdraw", seat === 2 && bidding === 3 ? null : `bid ${100 + bidding * 40}`, seat < 2 ? [index] : [], index)),
      notes: bidding === 1 ? [{ seat: 1, kind: "plan", text: "Stop at 230, and keep money for the lamp." }] : [],
    };
  };
  return { session, step };
}

export function long(): Told {
  const short = guess("long-0001", 2 / 3, "guess-half-0001");
  const steps = 30_000;
  const session: Session = { ...short.session, session: "long-0001", steps, turns: Array.from({ length: 3000 }, (_, turn) => turn * 10), paired: [] };
  return { session, step: (index) => ({ ...short.step(index % short.session.steps), step: index, round: Math.floor(index / 10) + 1 }) };
}

function seatOf(seat: number, name: string, player: string, isModel: boolean): Seat {
  return {
    seat,
    name,
    player,
    kind: isModel ? "model" : "rule",
    plays: isModel ? "sim/uniform-1, plain agent" : `level-k, level ${seat}`,
    persona: seat === 0 ? "A retired statistician who likes to be surprised." : null,
    payoff: seat * 12.5 - 5,
    fouls: seat === 1 ? 2 : 0,
    forfeits: seat === 2 ? 1 : 0,
    decisions: isModel ? 18 : 0,
  };
}

function answerOf(seat: number, ask: string, answer: string | null, decisions: number[], at: number): Answer {
  const isFoul = seat === 1 && at % 3 === 1;
  return {
    seat,
    ask,
    answer,
    fouls: isFoul ? [{ kind: "not_a_number", reason: "The answer has to be a whole number from 0 to 100.", said: HOSTILE }] : [],
    decisions,
    stood_in: answer === null ? "The cautious rule" : null,
  };
}

function stepOf(step: number, round: number, board: Board): Step {
  return { step, turn: round, round, kind: "", title: "", to: null, says: "", facts: [], own: [], hidden: [], answers: [], notes: [], board };
}

type Rest = Pick<Session, "about" | "setting" | "steps" | "turns" | "series"> & { beside: string | null };

function sessionOf(id: string, game: string, seats: Seat[], { beside, ...rest }: Rest): Session {
  return {
    ...rest,
    session: id,
    run: "trial",
    experiment: "Guessing and bidding, trial",
    game,
    repeat: 0,
    place: 0,
    rules_version: "3",
    prompts_version: "7",
    simulated: true,
    params: [{ name: "rounds", value: "10" }, { name: "seed", value: "48211" }],
    seats,
    scores: [{ name: "decision quality", value: "0.71" }, { name: "regret", value: "4.2" }],
    paired: beside === null ? [] : [{ session: beside, game, cell: 1, setting: [{ name: "factor", value: beside.includes("half") ? "1/2" : "2/3" }], repeat: 0, place: 0, players: "mixed", payoffs: "", notes: "" }],
    notes: ["Some answers came from a simulated model; its numbers say nothing about real models."],
  };
}
