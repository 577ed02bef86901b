// What the server answers, by the names that pages use. The types themselves are in `openapi.d.ts`, which
// `npm run types` writes from docs/openapi.json.

import type { components, operations } from "./openapi";

type Schemas = components["schemas"];

/** A named value in words, as a reader would say it. */
export type Fact = Schemas["Stated"];

// Runs.
export type Run = Schemas["Run"];
export type Cell = Schemas["Cell"];
export type RunHead = Schemas["RunHead"];
export type SessionRow = Schemas["SessionRow"];
export type SessionPage = Schemas["SessionPage"];

// Sessions.
export type Seat = Schemas["HeadSeat"];
export type Series = Schemas["Series"];
export type Session = Schemas["SessionHead"];
export type Answer = Schemas["Answer"];
/** What a player concluded: a plan, a belief, a profile. */
export type Note = Schemas["Note"];
/** A step and the table after it. */
export type Step = Schemas["Shown"];
export type Steps = Schemas["Steps"];
/** One call of a model. */
export type Decision = Schemas["Decision"];
export type Message = Schemas["DecisionMessage"];

// The table of a session.
export type Board = Schemas["Board"];
export type BoardSeat = Schemas["BoardSeat"];
export type Scene = Schemas["Scene"];
export type Mark = Schemas["Mark"];

// What is being played.
/** An experiment that is being played, or was. */
export type Sweep = Schemas["Sweep"];
/** An event of the stream of experiments. */
export type SweepsEvent = Schemas["SweepsEvent"];
/** What people may do about an experiment. */
export type SweepAction = operations["post_sweeps_experiment_action"]["parameters"]["path"]["action"];

// Judging.
export type JudgingCriterion = Schemas["JudgingCriterion"];
export type JudgingWanted = Schemas["JudgingWanted"];
export type JudgingDraft = Schemas["JudgingDraft"];

/** Who signed in. */
export type Holder = Schemas["AccessHolder"];
