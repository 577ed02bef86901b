//! The types of boards, as they are sent to pages: docs/pages.md says where. A seat is its
//! number; amounts are in the game's own unit; what is unknown is null.

use agon_engine::Seat;
use serde::Serialize;
use utoipa::ToSchema;

/// A table at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Board {
    /// Where the session is ("Round 3").
    pub heading: String,
    /// The middle of the table.
    pub scene: Scene,
    /// What is to be seen at each seat, in their order.
    pub seats: Vec<BoardSeat>,
}

/// What is to be seen at a seat.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct BoardSeat {
    /// The seat.
    pub seat: Seat,
    /// Whether it is still in the game.
    pub in_play: bool,
    /// Words about the seat, such as "won".
    pub marks: Vec<String>,
    /// Numbers out of a greatest one, drawn as bars.
    pub meters: Vec<Meter>,
    /// Numbers by name, in words.
    pub figures: Vec<Stated>,
}

/// A number out of a greatest one.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Meter {
    /// What is measured.
    pub name: &'static str,
    /// The number.
    pub value: f64,
    /// The greatest that it can be.
    pub most: f64,
}

/// A named value in words.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Stated {
    /// The name.
    pub name: String,
    /// The value, as a reader would say it.
    pub value: String,
}

/// A place on a line.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Mark {
    /// What is at the place.
    pub name: &'static str,
    /// The place.
    pub value: f64,
}

/// The middle of a table.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "scene", rename_all = "snake_case")]
pub enum Scene {
    /// Guesses on a number line.
    Line {
        /// The least legal guess.
        low: f64,
        /// The greatest.
        high: f64,
        /// Guesses of the last round.
        dots: Vec<Dot>,
        /// Mean and target of it.
        marks: Vec<Mark>,
        /// Targets of all rounds so far.
        drift: Vec<Drift>,
    },
    /// A bar with room for some.
    Room {
        /// Seats of the game.
        seats: usize,
        /// So many may go while it is good to be there.
        line: usize,
        /// Who went.
        inside: Vec<Seat>,
        /// Who stayed at home.
        outside: Vec<Seat>,
        /// Whether it was good to be there.
        good: Option<bool>,
    },
    /// Dishes round a table.
    Table {
        /// By seat.
        dishes: Vec<Dish>,
        /// What all pay together.
        bill: Option<f64>,
        /// What each pays.
        share: Option<f64>,
    },
    /// A common pot.
    Pot {
        /// After it was multiplied.
        pot: Option<f64>,
        /// By how much it is multiplied.
        multiplier: Option<f64>,
        /// By seat.
        stacks: Vec<Stack>,
    },
    /// Demands on a shared sum.
    Share {
        /// The sum.
        gold: f64,
        /// All demands together.
        total: Option<f64>,
        /// Whether they are too much, so that all get nothing.
        exceeded: Option<bool>,
        /// By seat.
        demands: Vec<Demand>,
    },
    /// Sealed bids.
    Envelopes {
        /// By seat.
        bids: Vec<Envelope>,
        /// What the winner pays.
        price: Option<f64>,
        /// Who wins.
        winner: Option<Seat>,
    },
    /// An English auction.
    Rising {
        /// The item under the hammer.
        item: String,
        /// Its place among all, from 1.
        place: usize,
        /// How many items there are.
        items: usize,
        /// Where bids begin.
        starting_price: f64,
        /// What it was worth; after the hammer.
        true_value: Option<f64>,
        /// The highest bid.
        highest: Option<f64>,
        /// Who bid it.
        leader: Option<Seat>,
        /// How it ended; null while it is open.
        sold: Option<bool>,
        /// By seat.
        bidders: Vec<Bidder>,
        /// The items before it and, after the hammer, this one.
        lots: Vec<Lot>,
    },
    /// A rising price.
    Clock {
        /// The price that was called.
        price: Option<f64>,
        /// The highest number there is to show.
        highest_price: f64,
        /// Who is still inside.
        inside: Vec<Seat>,
        /// Who dropped out, and at what price.
        dropped: Vec<Dropped>,
        /// What it is worth to whom.
        values: Vec<Valued>,
        /// Who buys.
        winner: Option<Seat>,
        /// What the winner pays.
        paid: Option<f64>,
    },
    /// Shooters in the order of their turns.
    Circle {
        /// The first to shoot first.
        shooters: Vec<Shooter>,
        /// The last shot.
        shot: Option<Shot>,
    },
    /// Pirates by rank.
    Crew {
        /// What is to be divided.
        gold: f64,
        /// The highest rank first.
        crew: Vec<Pirate>,
        /// Whose proposal it is.
        proposer: Option<Seat>,
        /// Whether it was accepted; null before the vote.
        accepted: Option<bool>,
    },
    /// A town short of water.
    Town {
        /// Water of the day.
        supply: Option<f64>,
        /// By seat.
        houses: Vec<House>,
    },
    /// Criteria with the marks of judges.
    Criteria {
        /// In the order in which they are asked.
        criteria: Vec<Criterion>,
    },
    /// A game without a scene of its own.
    Facts {
        /// What was said last.
        facts: Vec<Stated>,
    },
}

/// A guess.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Dot {
    pub seat: Seat,
    pub value: f64,
    pub won: bool,
}

/// The target of a round.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Drift {
    pub round: u32,
    pub target: f64,
}

/// What a seat ordered.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Dish {
    pub seat: Seat,
    pub dish: Option<String>,
    pub utility: Option<f64>,
}

/// Tokens of a seat: what it kept and what the pot paid it are what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Stack {
    pub seat: Seat,
    pub given: Option<f64>,
    pub kept: Option<f64>,
    pub paid: Option<f64>,
}

/// A demand.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Demand {
    pub seat: Seat,
    pub demand: Option<f64>,
    pub received: Option<f64>,
}

/// A sealed bid beside what the item is worth to its bidder.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Envelope {
    pub seat: Seat,
    pub value: Option<f64>,
    pub bid: Option<f64>,
    pub won: bool,
    pub profit: Option<f64>,
}

/// A bidder of an English auction; `bids` are those on this item by round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Bidder {
    pub seat: Seat,
    pub bids: Vec<Option<f64>>,
    pub withdrawn: bool,
    pub budget: Option<f64>,
    pub profit: Option<f64>,
    pub estimate: Option<f64>,
}

/// An item that is over; without a winner it was not sold.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Lot {
    pub item: String,
    pub winner: Option<Seat>,
    pub price: Option<f64>,
    pub true_value: Option<f64>,
}

/// Who dropped out at what price.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Dropped {
    pub seat: Seat,
    pub price: f64,
}

/// What an item is worth to a seat.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Valued {
    pub seat: Seat,
    pub value: f64,
}

/// A shooter; the hit rate is in percent.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Shooter {
    pub seat: Seat,
    pub hit_rate: Option<f64>,
    pub alive: bool,
}

/// A shot; at nobody if `at` is null.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Shot {
    pub by: Seat,
    pub at: Option<Seat>,
    pub hit: Option<bool>,
}

/// A pirate, with what the proposal gives it and how it voted.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Pirate {
    pub seat: Seat,
    pub rank: usize,
    pub aboard: bool,
    pub gold: Option<f64>,
    pub vote: Option<String>,
}

/// A house of the town.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct House {
    pub seat: Seat,
    pub alive: bool,
    pub health: Option<f64>,
    pub most_health: f64,
    pub balance: Option<f64>,
    pub dry_days: Option<f64>,
    pub needs: Option<f64>,
    pub bid: Option<f64>,
    pub won: bool,
}

/// A criterion with the marks that were given.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Criterion {
    pub name: String,
    pub marks: Vec<Marked>,
}

/// A mark of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Marked {
    pub seat: Seat,
    pub mark: f64,
}

impl BoardSeat {
    /// A seat that plays, with nothing to be seen at it.
    pub(super) fn playing(seat: Seat) -> Self {
        Self {
            seat,
            in_play: true,
            ..Self::default()
        }
    }

    /// The same with a number, if it is known.
    pub(super) fn figure(mut self, name: &str, value: Option<f64>) -> Self {
        if let Some(value) = value {
            self.figures.push(Stated {
                name: name.to_owned(),
                value: crate::story::number(value),
            });
        }
        self
    }

    /// The same with a bar, if its number is known.
    pub(super) fn meter(mut self, name: &'static str, value: Option<f64>, most: f64) -> Self {
        if let Some(value) = value {
            self.meters.push(Meter { name, value, most });
        }
        self
    }

    /// The same with a word, if it is so.
    pub(super) fn mark(mut self, word: &str, is_so: bool) -> Self {
        if is_so {
            self.marks.push(word.to_owned());
        }
        self
    }
}
