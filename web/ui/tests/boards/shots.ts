// States of every scene: begin, middle, end, one seat's own view, many seats, long names, huge numbers.
import type { Board, BoardSeat, Scene, Seat } from "../../src/lib/api";

export type Shot = { state: string; board: Board; seats: Seat[] };

const LONG = "The honourable bidder of the eastern harbour\u202e with a very long name";

function seats(count: number, name = (seat: number) => `player_${seat}`): Seat[] {
  return Array.from({ length: count }, (_, seat) => ({
    seat,
    name: name(seat),
    player: "p",
    kind: "rule",
    plays: "rule",
    persona: null,
    payoff: null,
    fouls: 0,
    forfeits: 0,
    decisions: 0,
  }));
}

function quiet(count: number, more: Record<number, Partial<BoardSeat>> = {}): BoardSeat[] {
  return Array.from({ length: count }, (_, seat) => ({
    seat,
    in_play: true,
    marks: [],
    meters: [],
    figures: [],
    ...more[seat],
  }));
}

function shot(
  state: string,
  heading: string,
  scene: Scene,
  count: number,
  more: Record<number, Partial<BoardSeat>> = {},
  name?: (seat: number) => string,
): Shot {
  return { state, board: { heading, scene, seats: quiet(count, more) }, seats: seats(count, name) };
}

const many = Array.from({ length: 10 }, (_, seat) => seat);
const long = (seat: number) => (seat % 3 === 0 ? `${LONG} ${seat}` : `player_${seat}`);
const chance = (seat: number, salt: number, most: number) =>
  Math.floor((((seat * 7919 + salt * 104729 + 13) % 997) / 997) * (most + 1));

export const shots: Shot[] = [
  shot("begin", "Round 1", { scene: "line", low: 0, high: 100, dots: [], marks: [], drift: [] }, 5),
  shot(
    "own view",
    "Round 1",
    {
      scene: "line",
      low: 0,
      high: 100,
      dots: [{ seat: 2, value: 33, won: false }],
      marks: [],
      drift: [],
    },
    5,
  ),
  shot(
    "middle",
    "Round 3: the numbers are told",
    {
      scene: "line",
      low: 0,
      high: 100,
      dots: [50, 22, 22, 21, 100].map((value, seat) => ({
        seat,
        value,
        won: seat === 1 || seat === 2,
      })),
      marks: [
        { name: "mean", value: 43 },
        { name: "target", value: 28.6667 },
      ],
      drift: [
        { round: 1, target: 33.3 },
        { round: 2, target: 30.1 },
        { round: 3, target: 28.67 },
      ],
    },
    5,
    { 1: { marks: ["won"] }, 2: { marks: ["won"] } },
  ),
  shot(
    "guess to survive, 10 seats, 20 rounds",
    "Round 20 of 20",
    {
      scene: "line",
      low: 1,
      high: 100,
      dots: many
        .filter((seat) => seat !== 4)
        .map((seat) => ({ seat, value: seat < 5 ? 1 : 1 + (seat % 4), won: seat < 4 })),
      marks: [
        { name: "mean", value: 1.9 },
        { name: "target", value: 1.52 },
      ],
      drift: Array.from({ length: 20 }, (_, round) => ({
        round: round + 1,
        target: 52 * 0.8 ** round,
      })),
    },
    10,
    Object.fromEntries(
      many.map((seat) => [
        seat,
        {
          in_play: seat !== 4,
          meters: [{ name: "health", value: seat === 4 ? 0 : 10 - seat, most: 10 }],
          marks: seat < 4 ? ["won"] : [],
          figures: [{ name: "rounds won", value: `${seat}` }],
        },
      ]),
    ),
    long,
  ),
  shot(
    "huge numbers",
    "Round 1",
    {
      scene: "line",
      low: 0,
      high: 2_500_000_000,
      dots: [0, 1_250_000_000, 2_500_000_000].map((value, seat) => ({
        seat,
        value,
        won: seat === 1,
      })),
      marks: [
        { name: "mean", value: 1_250_000_000 },
        { name: "a target with a very long name indeed", value: 833_333_333 },
      ],
      drift: [{ round: 1, target: 833_333_333 }],
    },
    3,
  ),
  shot(
    "begin",
    "Evening 1",
    { scene: "room", seats: 10, line: 6, inside: [], outside: [], good: null },
    10,
  ),
  shot(
    "good",
    "Evening 2",
    {
      scene: "room",
      seats: 10,
      line: 6,
      inside: [0, 2, 5, 7, 9],
      outside: [1, 3, 4, 6, 8],
      good: true,
    },
    10,
  ),
  shot(
    "crowded",
    "Evening 3",
    {
      scene: "room",
      seats: 10,
      line: 6,
      inside: [0, 1, 2, 3, 4, 5, 6, 8],
      outside: [7, 9],
      good: false,
    },
    10,
    {},
    long,
  ),
  shot(
    "own view",
    "Evening 3",
    { scene: "room", seats: 10, line: 6, inside: [3], outside: [], good: null },
    10,
  ),
  shot(
    "line amid a row",
    "Evening 4",
    { scene: "room", seats: 7, line: 4, inside: [1, 2], outside: [0, 3, 4, 5, 6], good: true },
    7,
  ),
  shot(
    "40 seats",
    "Evening 5",
    {
      scene: "room",
      seats: 40,
      line: 24,
      inside: Array.from({ length: 29 }, (_, seat) => seat),
      outside: Array.from({ length: 11 }, (_, seat) => 29 + seat),
      good: false,
    },
    40,
  ),
  shot(
    "begin",
    "Dinner 1",
    {
      scene: "table",
      dishes: [0, 1, 2, 3].map((seat) => ({ seat, dish: null, utility: null })),
      bill: null,
      share: null,
    },
    4,
  ),
  shot(
    "own view",
    "Dinner 1",
    {
      scene: "table",
      dishes: [0, 1, 2, 3].map((seat) => ({
        seat,
        dish: seat === 1 ? "costly" : null,
        utility: seat === 1 ? 5 : null,
      })),
      bill: 60,
      share: 15,
    },
    4,
  ),
  shot(
    "end, 10 seats",
    "Dinner 8",
    {
      scene: "table",
      dishes: many.map((seat) => ({
        seat,
        dish: seat % 3 === 0 ? "cheap" : "costly",
        utility: seat % 3 === 0 ? -3 : 2.5,
      })),
      bill: 170,
      share: 17,
    },
    10,
    {},
    long,
  ),
  shot(
    "two guests, huge",
    "Dinner 2",
    {
      scene: "table",
      dishes: [0, 1].map((seat) => ({
        seat,
        dish: "a dish with an exceedingly long name",
        utility: seat ? -1_234_567_890 : 123_456.789,
      })),
      bill: 99_999_999_999,
      share: 49_999_999_999.5,
    },
    2,
  ),
  shot(
    "begin",
    "Round 1",
    {
      scene: "pot",
      pot: null,
      multiplier: 1.6,
      stacks: [0, 1, 2, 3].map((seat) => ({ seat, given: null, kept: null, paid: null })),
    },
    4,
  ),
  shot(
    "own view",
    "Round 1",
    {
      scene: "pot",
      pot: null,
      multiplier: 1.6,
      stacks: [0, 1, 2, 3].map((seat) => ({
        seat,
        given: seat === 2 ? 8 : null,
        kept: seat === 2 ? 12 : null,
        paid: null,
      })),
    },
    4,
  ),
  shot(
    "end",
    "Round 5",
    {
      scene: "pot",
      pot: 1.6 * 45,
      multiplier: 1.6,
      stacks: [20, 5, 0, 20].map((given, seat) => ({
        seat,
        given,
        kept: 20 - given,
        paid: (1.6 * 45) / 4,
      })),
    },
    4,
    { 2: { marks: ["leads"] } },
  ),
  shot(
    "10 seats, long, huge",
    "Round 5",
    {
      scene: "pot",
      pot: 12_345_678_901,
      multiplier: 2.25,
      stacks: many.map((seat) => ({
        seat,
        given: seat * 1_234_567,
        kept: (10 - seat) * 1_234_567,
        paid: 1_234_567_890.12 / (seat + 1) / 50,
      })),
    },
    10,
    {},
    long,
  ),
  shot(
    "begin",
    "Round 1",
    {
      scene: "share",
      gold: 100,
      total: null,
      exceeded: null,
      demands: [0, 1, 2].map((seat) => ({ seat, demand: null, received: null })),
    },
    3,
  ),
  shot(
    "own view",
    "Round 2",
    {
      scene: "share",
      gold: 100,
      total: 92,
      exceeded: false,
      demands: [0, 1, 2].map((seat) => ({
        seat,
        demand: seat === 1 ? 30 : null,
        received: seat === 1 ? 30 : null,
      })),
    },
    3,
  ),
  shot(
    "within",
    "Round 3",
    {
      scene: "share",
      gold: 100,
      total: 95,
      exceeded: false,
      demands: [30, 40, 25].map((demand, seat) => ({ seat, demand, received: demand })),
    },
    3,
  ),
  shot(
    "exceeded, 10 seats",
    "Round 4",
    {
      scene: "share",
      gold: 100,
      total: 138,
      exceeded: true,
      demands: many.map((seat) => ({
        seat,
        demand: seat === 4 ? 0 : seat === 5 ? 1 : 6 + 2 * seat,
        received: 0,
      })),
    },
    10,
    {},
    long,
  ),
  shot(
    "begin",
    "Sale 1",
    {
      scene: "envelopes",
      bids: [0, 1, 2, 3].map((seat) => ({
        seat,
        value: null,
        bid: null,
        won: false,
        profit: null,
      })),
      price: null,
      winner: null,
    },
    4,
  ),
  shot(
    "own view",
    "Sale 1",
    {
      scene: "envelopes",
      bids: [0, 1, 2, 3].map((seat) => ({
        seat,
        value: seat === 1 ? 160 : null,
        bid: seat === 1 ? 120 : null,
        won: false,
        profit: null,
      })),
      price: null,
      winner: null,
    },
    4,
  ),
  shot(
    "end",
    "Sale 2",
    {
      scene: "envelopes",
      bids: [200, 160, 120, 80].map((value, seat) => ({
        seat,
        value,
        bid: [150, 155, 120, 95][seat]!,
        won: seat === 1,
        profit: seat === 1 ? 10 : 0,
      })),
      price: 150,
      winner: 1,
    },
    4,
  ),
  shot(
    "10 seats, long, huge",
    "Sale 3",
    {
      scene: "envelopes",
      bids: many.map((seat) => ({
        seat,
        value: 1_000_000_000 - seat * 80_000_000,
        bid: seat === 6 ? null : 900_000_000 - seat * 60_000_000 + (seat % 2) * 140_000_000,
        won: seat === 0,
        profit: seat === 0 ? -12_000_000 : 0,
      })),
      price: 1_012_000_000,
      winner: 0,
    },
    10,
    {},
    long,
  ),
  shot(
    "begin",
    "Item 1 of 6",
    {
      scene: "rising",
      item: "Thingamajig C",
      place: 1,
      items: 6,
      starting_price: 1000,
      true_value: null,
      highest: null,
      leader: null,
      sold: null,
      bidders: [0, 1, 2].map((seat) => ({
        seat,
        bids: [],
        withdrawn: false,
        budget: 10000,
        profit: 0,
        estimate: 2200,
      })),
      lots: [],
    },
    3,
  ),
  shot(
    "own view, middle",
    "Item 2 of 6, bid round 3",
    {
      scene: "rising",
      item: "Gadget B",
      place: 2,
      items: 6,
      starting_price: 1000,
      true_value: null,
      highest: 1500,
      leader: 2,
      sold: null,
      bidders: [
        {
          seat: 0,
          bids: [1000, 1300, null],
          withdrawn: true,
          budget: null,
          profit: null,
          estimate: null,
        },
        {
          seat: 1,
          bids: [1100, null, 1400],
          withdrawn: false,
          budget: 8200,
          profit: 400,
          estimate: 2200,
        },
        {
          seat: 2,
          bids: [1000, 1200, 1500],
          withdrawn: false,
          budget: null,
          profit: null,
          estimate: null,
        },
      ],
      lots: [{ item: "Thingamajig C", winner: 1, price: 1800, true_value: 2000 }],
    },
    3,
  ),
  shot(
    "sold",
    "Item 3 of 6: the hammer falls",
    {
      scene: "rising",
      item: "Equipment E",
      place: 3,
      items: 6,
      starting_price: 5000,
      true_value: 10000,
      highest: 7600,
      leader: 0,
      sold: true,
      bidders: [
        {
          seat: 0,
          bids: [5000, null, 6500, null, 7600],
          withdrawn: false,
          budget: 2400,
          profit: 2400,
          estimate: 11000,
        },
        {
          seat: 1,
          bids: [5200, 6000, null, 7000],
          withdrawn: true,
          budget: 8200,
          profit: 200,
          estimate: 9500,
        },
        { seat: 2, bids: [], withdrawn: true, budget: 5500, profit: -300, estimate: 9000 },
      ],
      lots: [
        { item: "Thingamajig C", winner: 1, price: 1800, true_value: 2000 },
        { item: "Gadget B", winner: 2, price: 2300, true_value: 2000 },
        { item: "Widget A", winner: null, price: null, true_value: null },
      ],
    },
    3,
  ),
  shot(
    "10 seats, long, huge",
    "Item 9 of 12",
    {
      scene: "rising",
      item: `A detached house with a garden by the sea and ${LONG}`,
      place: 9,
      items: 12,
      starting_price: 450_000_000,
      true_value: 700_000_000,
      highest: 745_000_000,
      leader: 3,
      sold: true,
      bidders: many.map((seat) => ({
        seat,
        bids: Array.from({ length: 14 }, (_, round) =>
          seat === 3
            ? round % 2 === 0 || round === 13
              ? 460_000_000 + round * 21_923_076
              : null
            : round < 3 + seat && (round + seat) % 2 === 1
              ? 450_000_000 + round * 21_000_000 + seat * 900_000
              : null,
        ),
        withdrawn: seat !== 3,
        budget: 2_000_000_000 - seat * 1_000_000,
        profit: seat * 1_000_000 - 4_000_000,
        estimate: 720_000_000 + seat * 5_000_000,
      })),
      lots: [{ item: LONG, winner: 9, price: 500_000_000, true_value: 455_000_000 }],
    },
    10,
    {},
    long,
  ),
  shot(
    "unsold",
    "Item 4 of 6",
    {
      scene: "rising",
      item: "Doodad D",
      place: 4,
      items: 6,
      starting_price: 5000,
      true_value: 5000,
      highest: null,
      leader: null,
      sold: false,
      bidders: [0, 1].map((seat) => ({
        seat,
        bids: [null],
        withdrawn: true,
        budget: 3000,
        profit: 0,
        estimate: null,
      })),
      lots: [],
    },
    2,
  ),
  shot(
    "begin",
    "Sale 1",
    {
      scene: "clock",
      price: null,
      highest_price: 100,
      inside: [0, 1, 2, 3],
      dropped: [],
      values: [{ seat: 0, value: 62 }],
      winner: null,
      paid: null,
    },
    4,
  ),
  shot(
    "middle",
    "Sale 1",
    {
      scene: "clock",
      price: 45,
      highest_price: 100,
      inside: [0, 3],
      dropped: [
        { seat: 1, price: 30 },
        { seat: 2, price: 45 },
      ],
      values: [62, 30, 47, 80].map((value, seat) => ({ seat, value })),
      winner: null,
      paid: null,
    },
    4,
  ),
  shot(
    "end, 10 seats, huge",
    "Sale 2",
    {
      scene: "clock",
      price: 61_000_000,
      highest_price: 100_000_000,
      inside: [9],
      dropped: many.slice(0, 9).map((seat) => ({ seat, price: (seat + 1) * 6_777_777 })),
      values: many.map((seat) => ({ seat, value: (seat + 1) * 7_000_000 })),
      winner: 9,
      paid: 61_000_000,
    },
    10,
    {},
    long,
  ),
  shot(
    "begin",
    "Turn 1",
    {
      scene: "circle",
      shooters: [35, 50, 65, 80].map((hit_rate, seat) => ({ seat, hit_rate, alive: true })),
      shot: null,
    },
    4,
  ),
  shot(
    "hit",
    "Turn 4",
    {
      scene: "circle",
      shooters: [35, 50, 65, 80].map((hit_rate, seat) => ({ seat, hit_rate, alive: seat !== 3 })),
      shot: { by: 0, at: 3, hit: true },
    },
    4,
    { 3: { in_play: false } },
  ),
  shot(
    "own view, holds fire",
    "Turn 2",
    {
      scene: "circle",
      shooters: many
        .slice(0, 5)
        .map((seat) => ({ seat, hit_rate: seat === 1 ? 40 : null, alive: true })),
      shot: { by: 1, at: null, hit: null },
    },
    5,
  ),
  shot(
    "missed, 10 seats",
    "Turn 14",
    {
      scene: "circle",
      shooters: many.map((seat) => ({
        seat,
        hit_rate: 35 + seat * 5,
        alive: seat !== 2 && seat !== 7,
      })),
      shot: { by: 4, at: 9, hit: false },
    },
    10,
    { 2: { in_play: false }, 7: { in_play: false } },
    long,
  ),
  shot(
    "begin",
    "Round 1",
    {
      scene: "crew",
      gold: 100,
      crew: many
        .slice(0, 5)
        .map((seat) => ({ seat, rank: seat + 1, aboard: true, gold: null, vote: null })),
      proposer: 0,
      accepted: null,
    },
    5,
  ),
  shot(
    "proposed",
    "Round 1: the plan",
    {
      scene: "crew",
      gold: 100,
      crew: [98, 0, 1, 0, 1].map((gold, seat) => ({
        seat,
        rank: seat + 1,
        aboard: true,
        gold,
        vote: null,
      })),
      proposer: 0,
      accepted: null,
    },
    5,
  ),
  shot(
    "rejected",
    "Round 1: the votes",
    {
      scene: "crew",
      gold: 100,
      crew: [98, 0, 1, 0, 1].map((gold, seat) => ({
        seat,
        rank: seat + 1,
        aboard: true,
        gold,
        vote: seat === 0 ? null : seat === 2 ? "for" : "against",
      })),
      proposer: 0,
      accepted: false,
    },
    5,
  ),
  shot(
    "accepted, 10 seats",
    "Round 4",
    {
      scene: "crew",
      gold: 1000,
      crew: many.map((seat) => ({
        seat,
        rank: seat + 1,
        aboard: seat > 2,
        gold: seat < 3 ? null : seat === 3 ? 996 : seat % 2 ? 1 : 0,
        vote: seat < 4 ? null : seat % 2 ? "for" : "against",
      })),
      proposer: 3,
      accepted: true,
    },
    10,
    { 0: { in_play: false }, 1: { in_play: false }, 2: { in_play: false } },
    long,
  ),
  shot(
    "begin",
    "Day 1",
    {
      scene: "town",
      supply: null,
      houses: many
        .slice(0, 5)
        .map((seat) => ({
          seat,
          alive: true,
          health: 8,
          most_health: 10,
          balance: 70 + seat * 10,
          dry_days: 1,
          needs: 8 + seat,
          bid: null,
          won: false,
        })),
    },
    5,
  ),
  shot(
    "water",
    "Day 4",
    {
      scene: "town",
      supply: 18,
      houses: [8, 3, 9, 2, 0].map((health, seat) => ({
        seat,
        alive: health > 0,
        health,
        most_health: 10,
        balance: health > 0 ? 120.5 : 0,
        dry_days: seat,
        needs: 8 + seat,
        bid: health > 0 ? 40.25 * seat : null,
        won: seat === 1 || seat === 3,
      })),
    },
    5,
    { 4: { in_play: false } },
  ),
  shot(
    "own view, 10 seats, long, huge",
    "Day 9",
    {
      scene: "town",
      supply: 2_000_000,
      houses: many.map((seat) => ({
        seat,
        alive: seat !== 6,
        health: seat === 3 ? 7 : null,
        most_health: 10,
        balance: seat === 3 ? 123_456_789.25 : null,
        dry_days: seat === 3 ? 1 : null,
        needs: seat === 3 ? 10 : null,
        bid: seat === 3 ? 99_000_000 : null,
        won: seat === 3,
      })),
    },
    10,
    { 6: { in_play: false } },
    long,
  ),
  shot(
    "begin",
    "Six criteria",
    {
      scene: "criteria",
      criteria: ["Rationality", "Consistency with the persona"].map((name) => ({
        name,
        marks: [],
      })),
    },
    5,
  ),
  shot(
    "end",
    "Six criteria",
    {
      scene: "criteria",
      criteria: [
        "Rationality",
        "Quick perception",
        "Long-term planning and a criterion with a very long name",
        "Adaptability",
        "Consistency",
        "Persona",
      ].map((name, index) => ({
        name,
        marks: many
          .slice(0, 5)
          .map((seat) => ({ seat, mark: index === 3 ? 4 : 1 + chance(seat, index, 4) })),
      })),
    },
    5,
  ),
  shot(
    "own view",
    "Six criteria",
    {
      scene: "criteria",
      criteria: ["Rationality", "Consistency"].map((name) => ({
        name,
        marks: [{ seat: 2, mark: 3 }],
      })),
    },
    5,
    {},
    long,
  ),
  shot(
    "10 judges",
    "One criterion",
    {
      scene: "criteria",
      criteria: [{ name: "Planning", marks: many.map((seat) => ({ seat, mark: 3 + (seat % 3) })) }],
    },
    10,
  ),
  shot("empty", "A game without a board", { scene: "facts", facts: [] }, 2),
  shot(
    "facts",
    "A game without a board",
    {
      scene: "facts",
      facts: [
        { name: "round", value: "3 of 10" },
        { name: "dealer", value: "player_1" },
        { name: LONG, value: `${LONG} ${LONG}` },
        { name: "a number", value: "123,456,789,012,345" },
      ],
    },
    2,
  ),
  shot(
    "100 seats",
    "Round 1",
    {
      scene: "line",
      low: 0,
      high: 100,
      dots: Array.from({ length: 100 }, (_, seat) => ({
        seat,
        value: chance(seat, 3, 100),
        won: seat === 40,
      })),
      marks: [{ name: "target", value: 33 }],
      drift: [],
    },
    100,
  ),
  shot(
    "30 seats",
    "Turn 1",
    {
      scene: "circle",
      shooters: Array.from({ length: 30 }, (_, seat) => ({
        seat,
        hit_rate: 20 + seat,
        alive: true,
      })),
      shot: { by: 28, at: 3, hit: true },
    },
    30,
  ),
  shot(
    "itself",
    "Turn 1",
    {
      scene: "circle",
      shooters: [0, 1].map((seat) => ({ seat, hit_rate: 100, alive: seat === 0 })),
      shot: { by: 1, at: 1, hit: true },
    },
    2,
  ),
  shot(
    "begin without estimates, bid rounds of one",
    "Item 1",
    {
      scene: "rising",
      item: "Widget",
      place: 1,
      items: 1,
      starting_price: 0,
      true_value: null,
      highest: 10.5,
      leader: 1,
      sold: null,
      bidders: [0, 1].map((seat) => ({
        seat,
        bids: [seat ? 10.5 : 10],
        withdrawn: false,
        budget: null,
        profit: null,
        estimate: null,
      })),
      lots: [],
    },
    2,
  ),
];
