//! What a game is written with: the contract, and what games share. Imported whole by the
//! files of games.

pub(super) use std::sync::Arc;

pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};

pub(super) use super::shared::columns::{
    column, seats_where, series_of, spread_of, total, value_of,
};
pub(super) use super::shared::defaults::{FOUL_ALLOWANCE, LEVEL, PLAYERS, ROUNDS, SHADE};
pub(super) use super::shared::parameters::parameters;
pub(super) use super::shared::ranking::{TopBids, closest, top_bids};
pub(super) use super::shared::rounds::{Round, RoundRules, Rounds, bounds_over, round_result};
pub(super) use super::shared::{rationality, survival};
pub(super) use crate::arithmetic::{larger, power, smaller};
pub(super) use crate::ask::{Action, Answer, Ask, AskRole, Form, Foul, FoulKind, Seat};
pub(super) use crate::cents::Cents;
pub(super) use crate::chance::{
    BOUNDS, Bell, Chance, Generator, HITS, Ladder, ORDERS, SUPPLIES, TIES, VALUATIONS,
};
pub(super) use crate::disclosure::Disclosure;
pub(super) use crate::event::{Event, EventLog, Value};
pub(super) use crate::game::checks::{
    LARGEST_AMOUNT, LARGEST_RATIO, MOST_ROUNDS, check_max, check_within, ends_a_line, require,
};
pub(super) use crate::game::{
    Equilibrium, ExpectedScore, FactNames, GameInfo, ParameterError, Parameters, Rules, Setup,
    State, Timing,
};
pub(super) use crate::measures::{Measures, mean, share_deviation, standard_deviation};
pub(super) use crate::moves::Move;
pub(super) use crate::names::Name;
pub(super) use crate::rule_player::Strategy;
pub(super) use crate::view::{Sight, View};
