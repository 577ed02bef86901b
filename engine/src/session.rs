//! Opening a session from its spec, and playing a stored one again.
//!
//! [`open`] is how the worker, the benchmarks and `agon verify` get from a
//! [`SessionSpec`] to a [`Play`]; [`play_again`] feeds a stored record's moves to
//! it, so that a record can be checked without asking anybody.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::ask::{Ask, Foul, Seat};
use crate::chance::Chance;
use crate::extent::{Bounds, RECORD, TooLarge};
use crate::game::{Game, GameInfo, ParameterError};
use crate::outside_game::{self, OutsideGame};
use crate::play::{Play, Reaction};
use crate::record::{StoredMove, StoredRecord};
use crate::registry;
use crate::rule_player::{RulePlayer, StrategyError};
use crate::spec::{PlayerKind, PlayerSpec, SessionSpec};
use crate::versions;

/// The setting of a rule player that names its strategy; all others are the
/// strategy's own.
pub const STRATEGY: &str = "strategy";

/// Starts the session that a spec describes. Rule players sit where the spec
/// says so; the other seats' answers come from outside.
///
/// # Errors
/// The game, a parameter or a strategy does not exist, or the spec was made for
/// other rules.
pub fn open(spec: &SessionSpec) -> Result<Play, OpenError> {
    open_within(&RECORD, spec)
}

/// As [`open`], of a session that may produce only so much.
///
/// # Errors
/// The same.
pub fn open_within(most: &Bounds, spec: &SessionSpec) -> Result<Play, OpenError> {
    start(most, game_of(spec)?, spec)
}

/// The game of a session.
///
/// # Errors
/// This program has no such game, or other rules, or cannot build it from the spec's parameters.
pub fn game_of(spec: &SessionSpec) -> Result<Arc<dyn Game>, OpenError> {
    if let Some(rules) = &spec.outside {
        if registry::find(&spec.game).is_ok() {
            let game = spec.game.clone();
            return Err(OpenError::NotOutside { game });
        }
        return Ok(Arc::new(OutsideGame::of(spec, rules)));
    }
    let registration = registry::find(&spec.game).map_err(OpenError::Game)?;
    let have = versions::rules(registration.info.rules_version);
    if spec.rules_version != have {
        let wanted = spec.rules_version;
        return Err(OpenError::RulesVersion {
            game: registration.info.name.to_string(),
            wanted,
            have,
        });
    }
    let built = registration.build(&spec.params);
    Ok(built.map_err(OpenError::Game)?.game)
}

/// What kind of game a session is of; none for one that this program does not know.
pub fn info_of(spec: &SessionSpec) -> Option<Cow<'static, GameInfo>> {
    match &spec.outside {
        Some(rules) => Some(Cow::Owned(outside_game::info_of(spec, rules))),
        None => registry::find(&spec.game)
            .ok()
            .map(|game| game.info.clone()),
    }
}

/// Starts a session of a game that was built already; only the spec's seats and
/// luck are used.
///
/// # Errors
/// The seats do not fit the game, or a strategy does not exist.
pub fn open_with(game: Arc<dyn Game>, spec: &SessionSpec) -> Result<Play, OpenError> {
    start(&RECORD, game, spec)
}

fn start(most: &Bounds, game: Arc<dyn Game>, spec: &SessionSpec) -> Result<Play, OpenError> {
    let (seats, players) = (game.seats(), spec.seats.len());
    if seats != players {
        return Err(OpenError::Seats { seats, players });
    }
    let players = spec.seats.iter().enumerate();
    let rule_players = players
        .map(|(seat, player)| rule_player_at(&*game, seat, player))
        .collect::<Result<_, _>>()?;
    let chance = Chance::seeded(spec.luck);
    Ok(Play::start_within(most, game, chance, rule_players))
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The game cannot be built from the spec's parameters.
    #[error("the game cannot be set up")]
    Game(#[source] ParameterError),
    /// The spec was made for other rules than this program has.
    #[error("the session is for rules {wanted} of {game}, this program has rules {have}")]
    RulesVersion {
        /// The game.
        game: String,
        /// What the spec asks for.
        wanted: u32,
        /// What there is.
        have: u32,
    },
    /// The spec says that a game of this program is played elsewhere.
    #[error("{game} is a game of this program and not played elsewhere")]
    NotOutside {
        /// The game.
        game: String,
    },
    /// Players and seats do not match.
    #[error("the game has {seats} seats, but {players} players are given")]
    Seats {
        /// Seats of the game.
        seats: usize,
        /// Players of the spec.
        players: usize,
    },
    /// A rule player cannot be made.
    #[error("the rule player at seat {seat} cannot be made")]
    Strategy {
        /// Where.
        seat: Seat,
        /// Why.
        #[source]
        source: StrategyError,
    },
    /// A rule player without a strategy.
    #[error("the rule player at seat {seat} needs a strategy by name")]
    NoStrategy {
        /// Where.
        seat: Seat,
    },
}

fn rule_player_at(
    game: &dyn Game,
    seat: Seat,
    player: &PlayerSpec,
) -> Result<Option<Box<dyn RulePlayer>>, OpenError> {
    if player.kind != PlayerKind::Rule {
        return Ok(None);
    }
    let strategy = player.settings.get(STRATEGY).and_then(Value::as_str);
    let strategy = strategy.ok_or(OpenError::NoStrategy { seat })?;
    let own = player.settings.iter().filter(|(name, _)| *name != STRATEGY);
    let settings: Map<String, Value> = own
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let rule_player = game.rule_player(strategy, &settings, seat);
    rule_player
        .map(Some)
        .map_err(|source| OpenError::Strategy { seat, source })
}

/// Plays a stored session again: rule players play, the answers from outside
/// (and their fouls) are the recorded moves.
///
/// # Errors
/// The spec cannot be opened, or the recorded moves are not an answer to what
/// this program asks.
pub fn play_again(stored: &StoredRecord) -> Result<Play, AgainError> {
    let mut play = open(&stored.spec)?;
    feed(&mut play, stored)?;
    Ok(play)
}

/// Feeds the moves of a record, and what it was told by another process, to a play until it ends.
///
/// # Errors
/// They do not fit what the play asks.
pub fn feed(play: &mut Play, stored: &StoredRecord) -> Result<(), AgainError> {
    let said = stored.said().map_err(AgainError::Told)?;
    let (mut moves, mut said) = (stored.moves.iter(), said.into_iter());
    while !play.is_finished() {
        let turn = play.turn();
        if play.awaited_reply().is_some() {
            let missing = || AgainError::Told(format!("the record says nothing after turn {turn}"));
            let next = said.next().filter(|(after, _)| *after == turn);
            let (_, reply) = next.ok_or_else(missing)?;
            match reply.refused.is_empty() {
                true => play.reply(reply).map(drop).map_err(AgainError::Told)?,
                false => play.keep_refusal(&reply),
            }
            continue;
        }
        let asks: Vec<Ask> = play.waiting().cloned().collect();
        for ask in asks {
            let wanted = |made: &&StoredMove| made.turn == turn && made.seat == ask.seat;
            let missing = AgainError::Missing {
                turn,
                seat: ask.seat,
            };
            let made = moves.by_ref().find(wanted).ok_or(missing)?;
            hand_in(play, &ask, made)?;
        }
    }
    play.overflow().map_or(Ok(()), |much| Err(much.into()))
}

/// Why a stored session cannot be played again.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// Its spec cannot be opened.
    #[error("the session cannot be opened")]
    Open(#[from] OpenError),
    /// It comes to more than a record may hold.
    #[error("the session is too large for a record")]
    TooLarge(#[from] TooLarge),
    /// What another process said is not what the game waits for.
    #[error("what the game was told does not fit: {0}")]
    Told(String),
    /// An ask is open that the record has no move for.
    #[error("turn {turn}: the record has no move of seat {seat}")]
    Missing {
        /// Which turn.
        turn: u32,
        /// Whose move.
        seat: Seat,
    },
    /// The recorded move does not close the ask.
    #[error("turn {turn}: the recorded move of seat {seat} does not count: {why}")]
    Refused {
        /// Which turn.
        turn: u32,
        /// Whose move.
        seat: Seat,
        /// What happened to it.
        why: String,
    },
}

fn hand_in(play: &mut Play, ask: &Ask, made: &StoredMove) -> Result<(), AgainError> {
    let seat = ask.seat;
    let refused = |why: String| AgainError::Refused {
        turn: made.turn,
        seat,
        why,
    };
    if made.ask != ask.kind {
        return Err(refused(format!(
            "it answers {}, not {}",
            made.ask, ask.kind
        )));
    }
    let mut forfeited = false;
    for foul in &made.fouls {
        forfeited = match play.answer(seat, Err(foul.clone())) {
            Reaction::Refused { .. } => false,
            Reaction::Forfeited { .. } => true,
            other => return Err(refused(format!("a foul led to {other:?}"))),
        };
    }
    if forfeited != made.forfeited {
        let count = made.fouls.len();
        return Err(refused(format!("{count} fouls, forfeited: {forfeited}")));
    }
    if forfeited {
        return Ok(());
    }
    let action = ask
        .form
        .read(&made.action)
        .map_err(|foul: Foul| refused(foul.reason))?;
    match play.answer(seat, Ok(action)) {
        Reaction::Taken => Ok(()),
        other => Err(refused(format!("it led to {other:?}"))),
    }
}
