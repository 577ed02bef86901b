// What the server answers, as it is described by /api/v1/openapi.json.

/** A named value in words, as a reader would say it. */
export type Fact = { name: string; value: string };

/** A run, or an experiment of a coordinator. */
export type Run = {
  /** Its address below /runs. */
  run: string;
  experiment: string;
  /** Where its records are, in words. */
  place: string;
  sessions: number;
  games: string[];
  players: string[];
  /** Whether any answer came from a simulated model. */
  simulated: boolean;
};

/** A cell of the grid of a run. */
export type Cell = {
  cell: number;
  game: string;
  setting: Fact[];
  /** The same as axes of the experiment. */
  axes: Record<string, unknown>;
  sessions: number;
  /** Means over its sessions by measure; null where a measure has no value. */
  means: Record<string, number | null>;
  fouls: number;
  forfeits: number;
};

export type RunHead = {
  run: Run;
  cells: Cell[];
  /** Names by which cells can be coloured. */
  measures: string[];
  /** What has to be said of the numbers. */
  notes: string[];
};

export type SessionRow = {
  session: string;
  game: string;
  cell: number;
  setting: Fact[];
  repeat: number;
  /** In its series, from 0. */
  place: number;
  players: string;
  payoffs: string;
  notes: string;
};

export type SessionPage = { sessions: SessionRow[]; next: string | null; total: number };

export type Seat = {
  seat: number;
  /** Its name in the game. */
  name: string;
  /** Its player in the experiment. */
  player: string;
  kind: "rule" | "model";
  /** The strategy of a rule; model and agent of a model. */
  plays: string;
  persona: string | null;
  payoff: number | null;
  fouls: number;
  forfeits: number;
  decisions: number;
};

export type Series = { name: string; values: (number | null)[] };

export type Session = {
  session: string;
  run: string;
  experiment: string;
  game: string;
  /** One sentence of what the game is. */
  about: string;
  setting: Fact[];
  repeat: number;
  place: number;
  rules_version: string;
  prompts_version: string | null;
  simulated: boolean;
  params: Fact[];
  seats: Seat[];
  /** How many steps it has; they count from 0. */
  steps: number;
  /** The first step of each turn or round, for the marks of the scrubber. */
  turns: number[];
  scores: Fact[];
  series: Series[];
  /** Sessions of the same run with the same luck in other cells. */
  paired: SessionRow[];
  /** What has to be said of the record. */
  notes: string[];
};

export type Foul = { kind: string; reason: string; said: string | null };

export type Answer = {
  seat: number;
  ask: string;
  /** Null when it was forfeited. */
  answer: string | null;
  fouls: Foul[];
  /** Indices of the calls of this seat that led to it. */
  decisions: number[];
  /** Who answered in the player's place, if somebody did. */
  stood_in: string | null;
};

/** What a player concluded: a plan, a belief, a profile. */
export type Note = { seat: number; kind: string; text: string };

export type Step = {
  step: number;
  /** 0 before the first. */
  turn: number;
  round: number;
  /** "answers", or the kind of an event ("round_result"). */
  kind: string;
  title: string;
  /** Seats that could see it; null for everybody. */
  to: number[] | null;
  /** One sentence, for readers and screen readers. */
  says: string;
  facts: Fact[];
  /** One value per seat; each seat saw its own. */
  own: { name: string; values: (string | null)[] }[];
  /** Seen by nobody in play. */
  hidden: Fact[];
  answers: Answer[];
  notes: Note[];
  /** The table after this step. */
  board: Board;
};

export type Steps = { steps: Step[]; total: number };

export type Message = { role: string; text: string };

/** One call of a model. */
export type Decision = {
  seat: number;
  index: number;
  purpose: string;
  /** What was sent; null where this version of the program does not come to the same call. */
  messages: Message[] | null;
  /** How many of the messages stood in the call before. */
  known: number;
  /** Whether the messages are proved by the recorded digest. */
  is_same: boolean;
  parameters: Fact[];
  answered_by: string;
  finish_reason: string;
  reasoning: string | null;
  reply: string;
  /** How it was read: the answer, or why it was refused; null where it answers no ask. */
  reading: string | null;
  tokens_in: number | null;
  tokens_out: number | null;
  /** Nobody said how many, or what was said cannot be true. */
  tokens_estimated: boolean;
  /** In dollars. */
  cost: number | null;
  seconds: number | null;
};

/** Who signed in. */
export type Holder = { name: string; team: string | null };

export type Board = { heading: string; scene: Scene; seats: BoardSeat[] };

export type BoardSeat = {
  seat: number;
  in_play: boolean;
  /** Words such as "leads", "won", "out". */
  marks: string[];
  /** Bars: health of 10. */
  meters: { name: string; value: number; most: number }[];
  figures: Fact[];
};

export type Scene =
  /** Guesses on a number line. */
  | {
      scene: "line";
      low: number;
      high: number;
      dots: { seat: number; value: number; won: boolean }[];
      marks: Mark[];
      /** The targets of the rounds so far. */
      drift: { round: number; target: number }[];
    }
  /** A bar with room for so many. */
  | {
      scene: "room";
      /** Seats of the game. */
      seats: number;
      /** So many may go while it is enjoyable. */
      line: number;
      inside: number[];
      outside: number[];
      good: boolean | null;
    }
  /** Dishes round a table with a shared bill. */
  | {
      scene: "table";
      dishes: { seat: number; dish: string | null; utility: number | null }[];
      bill: number | null;
      share: number | null;
    }
  /** A common pot. */
  | {
      scene: "pot";
      pot: number | null;
      multiplier: number | null;
      stacks: { seat: number; given: number | null; kept: number | null; paid: number | null }[];
    }
  /** Demands on a shared sum. */
  | {
      scene: "share";
      gold: number;
      total: number | null;
      exceeded: boolean | null;
      demands: { seat: number; demand: number | null; received: number | null }[];
    }
  /** Sealed bids. */
  | {
      scene: "envelopes";
      bids: {
        seat: number;
        value: number | null;
        bid: number | null;
        won: boolean;
        profit: number | null;
      }[];
      price: number | null;
      winner: number | null;
    }
  /** An English auction. */
  | {
      scene: "rising";
      item: string;
      /** From 1. */
      place: number;
      items: number;
      starting_price: number;
      /** After the hammer only. */
      true_value: number | null;
      highest: number | null;
      leader: number | null;
      sold: boolean | null;
      /** Bids of this item by round; null where a seat did not bid. */
      bidders: {
        seat: number;
        bids: (number | null)[];
        withdrawn: boolean;
        budget: number | null;
        profit: number | null;
        estimate: number | null;
      }[];
      lots: {
        item: string;
        winner: number | null;
        price: number | null;
        true_value: number | null;
      }[];
    }
  /** A rising price clock. */
  | {
      scene: "clock";
      price: number | null;
      highest_price: number;
      inside: number[];
      dropped: { seat: number; price: number }[];
      values: { seat: number; value: number }[];
      winner: number | null;
      paid: number | null;
    }
  /** Shooters in a circle, in the order of their turns. */
  | {
      scene: "circle";
      shooters: { seat: number; hit_rate: number | null; alive: boolean }[];
      shot: { by: number; at: number | null; hit: boolean | null } | null;
    }
  /** Pirates by rank, the highest first. */
  | {
      scene: "crew";
      gold: number;
      crew: { seat: number; rank: number; aboard: boolean; gold: number | null; vote: string | null }[];
      proposer: number | null;
      accepted: boolean | null;
    }
  /** Houses of a town that share water. */
  | {
      scene: "town";
      supply: number | null;
      houses: {
        seat: number;
        alive: boolean;
        health: number | null;
        most_health: number;
        balance: number | null;
        dry_days: number | null;
        needs: number | null;
        bid: number | null;
        won: boolean;
      }[];
    }
  /** Criteria with the marks of judges. */
  | { scene: "criteria"; criteria: { name: string; marks: { seat: number; mark: number }[] }[] }
  /** A game without a board of its own. */
  | { scene: "facts"; facts: Fact[] };

export type Mark = { name: string; value: number };

/** What people may do about an experiment. */
export type SweepAction = "pause" | "resume" | "cancel" | "retry";

/** An experiment that is being played, or was. */
export type Sweep = {
  experiment: string;
  team: string;
  state: "running" | "paused" | "cancelled" | "done";
  /** Why it does not go on, where it does not. */
  reason: string | null;
  sessions: number;
  done: number;
  running: number;
  waiting: number;
  set_aside: number;
  workers: number | null;
  /** Sessions per minute, over the last half minute. */
  per_minute: number | null;
  seconds_left: number | null;
  /** Calls of all experiments that wait for quota. */
  waiting_for_quota: number | null;
  /** In dollars. */
  cost: number | null;
  budget: number | null;
  faults: { reason: string; sessions: number; examples: string[] }[];
  /** The address of its sessions, once one is finished. */
  run: string | null;
};
