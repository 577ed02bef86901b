//! The pure heart of Agon: games, chance, rule players, records and replay.
//!
//! Nothing here waits, reads a clock, a file or a network, or draws randomness
//! that is not derived from a session's seed; collections are ordered. Whoever
//! holds a [`SessionSpec`] and the recorded decisions gets the same record.
//!
//! Reading order: [`game`], [`ask`], [`event`], [`view`], [`chance`], one folder of
//! [`games`], then [`play`], [`record`] and [`series`].

mod arithmetic;
pub mod ask;
pub mod cents;
pub mod chance;
pub mod conformance;
pub mod disclosure;
pub mod event;
pub mod extent;
pub mod game;
pub mod games;
mod info;
pub mod measures;
pub mod moves;
pub mod names;
pub mod numerals;
pub mod outside;
pub mod outside_game;
pub mod play;
pub mod record;
pub mod registry;
pub mod replay;
pub mod rule_player;
pub mod seat_view;
pub mod series;
pub mod session;
pub mod spec;
pub mod versions;
pub mod view;

pub use ask::{Action, Answer, Ask, AskRole, Form, Foul, FoulKind, Seat};
pub use cents::Cents;
pub use chance::{Chance, Generator, Luck};
pub use disclosure::{Disclosure, Told};
pub use event::{Audience, Event, EventLog, Value};
pub use game::{
    Blueprint, Built, FactNames, Game, GameInfo, ParameterError, Parameters, Registration, Rules,
    Setup, State, Timing,
};
pub use measures::Measures;
pub use moves::Move;
pub use names::Name;
pub use outside::{OutsideReply, RecordedReply};
pub use play::{Play, Reaction};
pub use record::{Outcome, Record, RecordedDecision, SeatNote};
pub use rule_player::RulePlayer;
pub use seat_view::SeatView;
pub use series::{Carried, CarriedNote};
pub use spec::{PlayerKind, PlayerSpec, SessionId, SessionSpec};
pub use view::{Sight, View};
