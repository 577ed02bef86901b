// The table twin of a scene: every number of the picture, unshortened, for those who cannot see it.

import type { Board, Fact, Scene } from "../lib/api";
import { shown } from "../lib/text";
import type { People } from "./people";
import { full } from "./words";

export type Table = { caption: string; columns: string[]; rows: string[][] };
export type Twin = { facts: Fact[]; tables: Table[] };

export function twinOf(board: Board, people: People): Twin {
  const twin = sceneTwin(board.scene, people);
  const tables = [...twin.tables, seatTable(board, people)];
  return { facts: twin.facts, tables: tables.filter((table) => table.rows.length > 0) };
}

function sceneTwin(scene: Scene, people: People): Twin {
  const who = (seat: number) => `${people.letter(seat)} ${people.name(seat)}`;
  const perhaps = (seat: number | null) => (seat === null ? "–" : who(seat));
  switch (scene.scene) {
    case "line":
      return {
        facts: [
          { name: "lowest", value: full(scene.low) },
          { name: "highest", value: full(scene.high) },
          ...scene.marks.map((mark) => ({ name: shown(mark.name), value: full(mark.value) })),
        ],
        tables: [
          {
            caption: "Numbers chosen",
            columns: ["player", "number", "won"],
            rows: scene.dots.map((dot) => [who(dot.seat), full(dot.value), yes(dot.won)]),
          },
          {
            caption: "Targets so far",
            columns: ["round", "target"],
            rows: scene.drift.map((point) => [full(point.round), full(point.target)]),
          },
        ],
      };
    case "room":
      return {
        facts: [
          { name: "players", value: full(scene.seats) },
          { name: "good up to", value: full(scene.line) },
          {
            name: "the bar was",
            value: scene.good === null ? "–" : scene.good ? "good" : "crowded",
          },
        ],
        tables: [
          {
            caption: "Where everybody was",
            columns: ["player", "place"],
            rows: [
              ...scene.inside.map((seat) => [who(seat), "in the bar"]),
              ...scene.outside.map((seat) => [who(seat), "at home"]),
            ],
          },
        ],
      };
    case "table":
      return {
        facts: [
          { name: "bill", value: full(scene.bill) },
          { name: "share of each", value: full(scene.share) },
        ],
        tables: [
          {
            caption: "Orders",
            columns: ["player", "dish", "utility"],
            rows: scene.dishes.map((dish) => [who(dish.seat), word(dish.dish), full(dish.utility)]),
          },
        ],
      };
    case "pot":
      return {
        facts: [
          { name: "multiplier", value: full(scene.multiplier) },
          { name: "pot", value: full(scene.pot) },
        ],
        tables: [
          {
            caption: "Tokens",
            columns: ["player", "given", "kept", "paid"],
            rows: scene.stacks.map((own) => [
              who(own.seat),
              full(own.given),
              full(own.kept),
              full(own.paid),
            ]),
          },
        ],
      };
    case "share":
      return {
        facts: [
          { name: "gold", value: full(scene.gold) },
          { name: "demanded together", value: full(scene.total) },
          { name: "exceeded", value: scene.exceeded === null ? "–" : yes(scene.exceeded) },
        ],
        tables: [
          {
            caption: "Demands",
            columns: ["player", "demanded", "received"],
            rows: scene.demands.map((own) => [who(own.seat), full(own.demand), full(own.received)]),
          },
        ],
      };
    case "envelopes":
      return {
        facts: [
          { name: "price", value: full(scene.price) },
          { name: "winner", value: perhaps(scene.winner) },
        ],
        tables: [
          {
            caption: "Sealed bids",
            columns: ["player", "value", "bid", "won", "profit"],
            rows: scene.bids.map((own) => [
              who(own.seat),
              full(own.value),
              full(own.bid),
              yes(own.won),
              full(own.profit),
            ]),
          },
        ],
      };
    case "rising":
      return risingTwin(scene, who, perhaps);
    case "clock":
      return clockTwin(scene, who, perhaps);
    case "circle":
      return {
        facts: scene.shot
          ? [
              { name: "shooter", value: who(scene.shot.by) },
              { name: "shot at", value: scene.shot.at === null ? "nobody" : who(scene.shot.at) },
              { name: "hit", value: scene.shot.hit === null ? "–" : yes(scene.shot.hit) },
            ]
          : [],
        tables: [
          {
            caption: "Shooters in the order of their turns",
            columns: ["player", "hit rate in percent", "alive"],
            rows: scene.shooters.map((own) => [who(own.seat), full(own.hit_rate), yes(own.alive)]),
          },
        ],
      };
    case "crew":
      return {
        facts: [
          { name: "gold", value: full(scene.gold) },
          { name: "proposer", value: perhaps(scene.proposer) },
          { name: "accepted", value: scene.accepted === null ? "–" : yes(scene.accepted) },
        ],
        tables: [
          {
            caption: "Pirates by rank",
            columns: ["player", "rank", "aboard", "gold", "vote"],
            rows: scene.crew.map((own) => [
              who(own.seat),
              full(own.rank),
              yes(own.aboard),
              full(own.gold),
              word(own.vote),
            ]),
          },
        ],
      };
    case "town":
      return {
        facts: [{ name: "supply of water", value: full(scene.supply) }],
        tables: [
          {
            caption: "Houses",
            columns: [
              "player",
              "alive",
              "health",
              "most health",
              "balance",
              "dry days",
              "needs",
              "bid",
              "got water",
            ],
            rows: scene.houses.map((own) => [
              who(own.seat),
              yes(own.alive),
              full(own.health),
              full(own.most_health),
              full(own.balance),
              full(own.dry_days),
              full(own.needs),
              full(own.bid),
              yes(own.won),
            ]),
          },
        ],
      };
    case "criteria":
      return {
        facts: [],
        tables: [
          {
            caption: "Marks",
            columns: ["criterion", "judge", "mark"],
            rows: scene.criteria.flatMap((criterion) =>
              criterion.marks.map((own) => [shown(criterion.name), who(own.seat), full(own.mark)]),
            ),
          },
        ],
      };
    case "facts":
      return {
        facts: scene.facts.map((fact) => ({ name: shown(fact.name), value: shown(fact.value) })),
        tables: [],
      };
  }
}

type Named = (seat: number) => string;
type MaybeNamed = (seat: number | null) => string;

function risingTwin(
  scene: Extract<Scene, { scene: "rising" }>,
  who: Named,
  perhaps: MaybeNamed,
): Twin {
  const item = scene.place === 0 ? "none yet" : `${shown(scene.item)}, ${full(scene.place)} of ${full(scene.items)}`;
  return {
    facts: [
      { name: "item", value: item },
      { name: "starting price", value: full(scene.place === 0 ? null : scene.starting_price) },
      { name: "highest bid", value: full(scene.highest) },
      { name: "leader", value: perhaps(scene.leader) },
      { name: "sold", value: scene.sold === null ? "–" : yes(scene.sold) },
      { name: "true value", value: full(scene.true_value) },
    ],
    tables: [
      {
        caption: "Bidders",
        columns: ["player", "bids by round", "withdrawn", "budget", "estimate", "profit"],
        rows: scene.bidders.map((own) => [
          who(own.seat),
          own.bids.map(full).join("; "),
          yes(own.withdrawn),
          full(own.budget),
          full(own.estimate),
          full(own.profit),
        ]),
      },
      {
        caption: "Items so far",
        columns: ["item", "winner", "price", "true value"],
        rows: scene.lots.map((lot) => [
          shown(lot.item),
          perhaps(lot.winner),
          full(lot.price),
          full(lot.true_value),
        ]),
      },
    ],
  };
}

function clockTwin(
  scene: Extract<Scene, { scene: "clock" }>,
  who: Named,
  perhaps: MaybeNamed,
): Twin {
  const seats = [...scene.inside, ...scene.dropped.map((drop) => drop.seat)];
  for (const { seat } of scene.values) if (!seats.includes(seat)) seats.push(seat);
  return {
    facts: [
      { name: "price called", value: full(scene.price) },
      { name: "highest price", value: full(scene.highest_price) },
      { name: "winner", value: perhaps(scene.winner) },
      { name: "paid", value: full(scene.paid) },
    ],
    tables: [
      {
        caption: "Bidders",
        columns: ["player", "inside", "dropped at", "value"],
        rows: seats.map((seat) => [
          who(seat),
          yes(scene.inside.includes(seat)),
          full(scene.dropped.find((drop) => drop.seat === seat)?.price),
          full(scene.values.find((own) => own.seat === seat)?.value),
        ]),
      },
    ],
  };
}

function seatTable(board: Board, people: People): Table {
  return {
    caption: "Players",
    columns: ["player", "in play", "marks", "figures"],
    rows: board.seats.map((seat) => [
      `${people.letter(seat.seat)} ${people.name(seat.seat)}`,
      yes(seat.in_play),
      seat.marks.map(shown).join(", ") || "–",
      [
        ...seat.meters.map(
          (meter) => `${shown(meter.name)} ${full(meter.value)} of ${full(meter.most)}`,
        ),
        ...seat.figures.map((fact) => `${shown(fact.name)} ${shown(fact.value)}`),
      ].join("; ") || "–",
    ]),
  };
}

function yes(is: boolean): string {
  return is ? "yes" : "no";
}

function word(text: string | null): string {
  return text === null ? "–" : shown(text);
}
