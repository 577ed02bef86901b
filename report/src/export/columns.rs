//! The tables of exports and their columns, with types, units and meanings. A column is added at the
//! end of its table, here and in `rows.rs`.

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// A whole number of 64 bits.
    Integer,
    /// A real number of 64 bits.
    Number,
    /// True or false.
    Flag,
}

/// A column of a table.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in files.
    pub name: &'static str,
    /// What its cells are.
    pub kind: Type,
    /// What it means, with the unit where there is one.
    pub about: &'static str,
}

/// A table of an export.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

const fn text(name: &'static str, about: &'static str) -> Column {
    column(name, Type::Text, about)
}

const fn integer(name: &'static str, about: &'static str) -> Column {
    column(name, Type::Integer, about)
}

const fn number(name: &'static str, about: &'static str) -> Column {
    column(name, Type::Number, about)
}

const fn flag(name: &'static str, about: &'static str) -> Column {
    column(name, Type::Flag, about)
}

const fn column(name: &'static str, kind: Type, about: &'static str) -> Column {
    Column { name, kind, about }
}

const SESSION: Column = text("session", "id of the session, the key of all tables");
const GAME: Column = text("game", "registered name of the game");
const SEAT: Column = integer("seat", "seat, from 0");
const PLAYER: Column = text("player", "name of the player in the seat");
const ROUND: Column = integer(
    "round",
    "round, run or day as the game counts them, or how many items were over",
);
const SIMULATED: Column = flag(
    "simulated",
    "whether a simulated model answered anything in the session",
);
const FORFEITED: Column = flag(
    "forfeited",
    "whether more than half of the answers behind the row were forfeited or given by a stand-in",
);

/// All tables.
pub static TABLES: [Table; 6] = [
    Table {
        name: "sessions",
        about: "one row per session",
        columns: &[
            SESSION,
            text("experiment", "name of the experiment"),
            GAME,
            text(
                "setting",
                "axes of the setting with their values, as a JSON object",
            ),
            text("params", "all parameters of the game, as a JSON object"),
            integer("seed", "seed of the experiment"),
            integer("repeat", "repeat of the setting, from 0"),
            integer("place", "place in its series, from 0"),
            text(
                "cluster",
                "what is independent of other rows: the series, or else the session; resample these",
            ),
            integer("rules_version", "version of the game's rules"),
            text(
                "prompts_version",
                "version of the built-in prompts; null without a model",
            ),
            text(
                "prompt_bundle",
                "digest of templates that replaced built-in ones, if any did",
            ),
            text("players", "who sat there, in words"),
            text("models", "models of the players, separated by blanks"),
            text(
                "answered_by",
                "models as the providers said that they answered, separated by blanks",
            ),
            text(
                "endpoints",
                "where answers came from, separated by semicolons",
            ),
            SIMULATED,
            FORFEITED,
            integer("asks", "asks that were answered or forfeited"),
            integer("forfeits", "asks that were forfeited"),
            integer("by_stand_in", "asks that a stand-in answered"),
            integer("fouls", "refused answers"),
            integer("decisions", "answers from outside, re-asks among them"),
            integer("input_tokens", "tokens sent; 0 where nobody counted"),
            integer("output_tokens", "tokens received; 0 where nobody counted"),
            number(
                "cost_dollars",
                "US dollars; at least, where unpriced_decisions is not 0; null where no price is known",
            ),
            integer("unpriced_decisions", "decisions of unknown price"),
            integer(
                "estimated_decisions",
                "decisions whose tokens are estimates, because nobody said or it cannot be true",
            ),
            number(
                "seconds",
                "seconds from the lease to the record; 0 where nobody measured",
            ),
            integer(
                "attempt",
                "which try it was, from 1; 0 where nobody counted",
            ),
            number(
                "mean_payoff",
                "mean payoff of a seat, in the unit of the game",
            ),
            text(
                "notes",
                "what must be said of its numbers, in words; null where nothing must",
            ),
        ],
    },
    Table {
        name: "seats",
        about: "one row per seat of a session",
        columns: &[
            SESSION,
            GAME,
            SEAT,
            PLAYER,
            text("kind", "what plays: rule or model"),
            text("model", "model of the player"),
            text("agent", "how a model player thinks"),
            text("strategy", "strategy of a rule player"),
            text("settings", "all settings of the player, as a JSON object"),
            number(
                "payoff",
                "what the game paid, in its unit, whoever answered",
            ),
            integer("asks", "asks that were answered or forfeited"),
            integer("fouls", "refused answers"),
            integer("forfeits", "asks that were forfeited"),
            integer("by_stand_in", "asks that a stand-in answered"),
            FORFEITED,
        ],
    },
    Table {
        name: "rounds",
        about: "one row per observation that belongs to a round",
        columns: &[
            SESSION,
            GAME,
            ROUND,
            SEAT,
            PLAYER,
            text("measure", "what is measured; docs/measures.md says how"),
            text(
                "category",
                "what it belongs to, such as the name of a series",
            ),
            number("value", "the number, in the unit of the measure"),
            FORFEITED,
        ],
    },
    Table {
        name: "actions",
        about: "one row per ask that was answered or forfeited",
        columns: &[
            SESSION,
            GAME,
            integer("turn", "set of simultaneous asks, from 1"),
            SEAT,
            PLAYER,
            text("ask", "what was asked for"),
            text(
                "action",
                "the answer as JSON; null for a pass and for a forfeit",
            ),
            number("number", "the answer where it is a single number"),
            flag("forfeited", "whether the ask was forfeited"),
            integer("fouls", "refused answers before it"),
            text("first_foul", "class of the first of these"),
        ],
    },
    Table {
        name: "decisions",
        about: "one row per answer from outside",
        columns: &[
            SESSION,
            GAME,
            SEAT,
            PLAYER,
            integer("index", "place among the seat's decisions, from 0"),
            text("purpose", "what the call was for"),
            text("request", "digest of the request"),
            text(
                "model",
                "model that was asked: the player's, or a fall-back",
            ),
            text("answered_by", "model that says it answered"),
            text("finish_reason", "why the reply ended"),
            number("temperature", "sampling temperature that was sent"),
            integer("max_output_tokens", "most tokens to write that was sent"),
            text("reply_format", "how the form of the reply was enforced"),
            text(
                "not_sent",
                "settings that the provider does not take, separated by blanks",
            ),
            text("reply", "the raw reply"),
            text(
                "reasoning",
                "what the model thought, where its provider shows it",
            ),
            text(
                "logprobs",
                "how likely the reply's tokens were, as JSON, where the player asks for it",
            ),
            SIMULATED,
        ],
    },
    Table {
        name: "observations",
        about: "one row per number that is measured",
        columns: &[
            SESSION,
            GAME,
            text("measure", "what is measured; docs/measures.md says how"),
            text(
                "grain",
                "what it is of: session, seat, round, seat_round, item, seat_item or pair",
            ),
            SEAT,
            PLAYER,
            integer("about", "the other seat that it is about"),
            ROUND,
            text("item", "what was sold or rated"),
            integer("lot", "place of the item in the order of sale, from 0"),
            integer("price", "starting price of the item"),
            text(
                "category",
                "a word that it belongs to: a scheme, a series, what the seat is out for",
            ),
            number("value", "the number, in the unit of the measure"),
            SIMULATED,
            FORFEITED,
        ],
    },
];
