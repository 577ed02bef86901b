//! A session in progress: the one place where a game, its chance, its events,
//! its rule players and the answers from outside come together.
//!
//! The worker, the replay and the benchmarks all play through [`Play`]. Answers
//! may arrive in any order; what is recorded is in seat order, so that the record
//! does not know who was faster.

use std::sync::Arc;

use crate::ask::{Action, Answer, Ask, Foul, Seat};
use crate::chance::{Chance, Draw, Generator};
use crate::event::{Event, EventLog};
use crate::extent::{Bounds, RECORD, TooLarge};
use crate::game::{Game, State};
use crate::measures::Measures;
use crate::moves::Move;
use crate::outside::{OutsideReply, RecordedReply};
use crate::rule_player::RulePlayer;
use crate::view::View;

mod produced;
#[cfg(test)]
mod tests;

use produced::Produced;

/// Letters of a reason for which another process refuses an answer: it is told to the player.
const LONGEST_REASON: usize = 1_000;

/// A session in progress.
pub struct Play {
    game: Arc<dyn Game>,
    state: Box<dyn State>,
    chance: Chance,
    log: EventLog,
    rule_players: Vec<Option<Seated>>,
    open: Vec<Reply>,
    missing: usize,
    moves: Vec<Move>,
    replies: Vec<RecordedReply>,
    turn: u32,
    produced: Produced,
    most: Bounds,
    overflow: Option<TooLarge>,
}

/// A rule player with its own luck.
struct Seated {
    player: Box<dyn RulePlayer>,
    luck: Generator,
}

/// What has come in for one open ask, in the order of the state's asks.
struct Reply {
    answer: Option<Answer>,
    fouls: Vec<Foul>,
}

/// What a play leaves for its record, without copying it.
pub(crate) struct Played {
    pub moves: Vec<Move>,
    pub events: Vec<Event>,
    pub replies: Vec<RecordedReply>,
    pub draws: Vec<Draw>,
}

/// What became of an answer from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Reaction {
    /// It counts.
    Taken,
    /// It was a foul; the seat may answer again.
    Refused {
        /// Why, to be told to the player.
        foul: Foul,
        /// How many more fouls are forgiven.
        fouls_left: u32,
    },
    /// It was one foul too many; the ask is closed without an answer.
    Forfeited {
        /// The last foul.
        foul: Foul,
    },
    /// The seat has no open ask. Nothing changed.
    NotAsked,
}

impl Play {
    /// Starts a session. `rule_players` has one entry per seat: the rule player there,
    /// or `None` where answers come from outside. Plays on by itself until an
    /// outside answer is needed, as far as a record goes.
    pub fn start(
        game: Arc<dyn Game>,
        chance: Chance,
        rule_players: Vec<Option<Box<dyn RulePlayer>>>,
    ) -> Self {
        Self::start_within(&RECORD, game, chance, rule_players)
    }

    /// As [`Self::start`], of a session that may produce only so much. Beyond that it has
    /// ended, with an [`Self::overflow`].
    pub fn start_within(
        most: &Bounds,
        game: Arc<dyn Game>,
        mut chance: Chance,
        rule_players: Vec<Option<Box<dyn RulePlayer>>>,
    ) -> Self {
        let mut log = EventLog::default();
        let state = game.start(&mut chance, &mut log);
        let players = rule_players.into_iter().enumerate();
        let rule_players = players
            .map(|(seat, player)| {
                player.map(|player| Seated {
                    player,
                    luck: chance.for_rule_player(seat),
                })
            })
            .collect();
        let mut play = Self {
            game,
            state,
            chance,
            log,
            rule_players,
            open: Vec::new(),
            missing: 0,
            moves: Vec::new(),
            replies: Vec::new(),
            turn: 0,
            produced: Produced::default(),
            most: *most,
            overflow: None,
        };
        if play.state.has_begun() {
            play.go_on();
        }
        play.run();
        play
    }

    /// The asks that outside players must answer now, in seat order. Empty when
    /// the game has ended.
    pub fn waiting(&self) -> impl Iterator<Item = &Ask> {
        let asks = self.state.asks().iter().zip(&self.open);
        asks.filter(|(_, reply)| reply.answer.is_none())
            .map(|(ask, _)| ask)
    }

    /// Whether the session has ended: its game has, or it has produced too much.
    pub fn is_finished(&self) -> bool {
        let has_ended = self.state.asks().is_empty() && self.state.has_begun();
        has_ended || self.overflow.is_some()
    }

    /// What there is too much of, in a session that has produced more than it may. It has no
    /// result.
    pub fn overflow(&self) -> Option<TooLarge> {
        self.overflow
    }

    /// Hands in an outside seat's answer, or the foul that reading its reply
    /// ended in. When it was the last one missing, the game moves on.
    pub fn answer(&mut self, seat: Seat, offer: Result<Action, Foul>) -> Reaction {
        let asks = self.state.asks();
        let position = asks.iter().position(|ask| ask.seat == seat);
        let open = position.filter(|at| self.open[*at].answer.is_none());
        let Some(position) = open else {
            return Reaction::NotAsked;
        };
        let ask = &asks[position];
        let checked = offer.and_then(|action| {
            self.state.check(ask, &action)?;
            Ok(action)
        });
        let reply = &mut self.open[position];
        let reaction = match checked {
            Ok(action) => {
                reply.answer = Some(Answer::Given(action));
                Reaction::Taken
            }
            Err(foul) => {
                reply.fouls.push(foul.clone());
                let used = reply.fouls.len() as u32;
                if used <= ask.foul_allowance {
                    let fouls_left = ask.foul_allowance - used;
                    return Reaction::Refused { foul, fouls_left };
                }
                reply.answer = Some(Answer::Forfeited);
                Reaction::Forfeited { foul }
            }
        };
        self.missing -= 1;
        self.run();
        reaction
    }

    /// Whether an answer to a seat's open ask would count; changes nothing.
    ///
    /// # Errors
    /// The foul that it would be. A seat without an open ask has nothing to foul.
    pub fn check(&self, seat: Seat, action: &Action) -> Result<(), Foul> {
        let ask = self.waiting().find(|ask| ask.seat == seat);
        ask.map_or(Ok(()), |ask| self.state.check(ask, action))
    }

    /// What a seat may know.
    pub fn view(&self, seat: Seat) -> View<'_> {
        View::new(seat, self.log.all())
    }

    /// The game.
    pub fn game(&self) -> &Arc<dyn Game> {
        &self.game
    }

    /// All events so far; for records and measures, not for players.
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// All moves so far.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The session's chance, with its draws.
    pub fn chance(&self) -> &Chance {
        &self.chance
    }

    /// Each seat's payoff so far.
    pub fn payoffs(&self) -> Vec<f64> {
        self.state.payoffs()
    }

    /// What the game computes from its events and moves; final once it has ended.
    pub fn measures(&self) -> Measures {
        let told = self.state.measures();
        told.unwrap_or_else(|| self.game.measures(&self.log, &self.moves))
    }

    /// Which set of simultaneous asks is open, from 1.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// The answers, in the order of the asks, that lead to what another process must say; none of
    /// them for the start. `None` while an answer is missing, and always in a game that this
    /// process plays.
    pub fn awaited_reply(&self) -> Option<Vec<Answer>> {
        if self.is_finished() || self.missing > 0 || self.state.is_ready() {
            return None;
        }
        self.open.iter().map(|reply| reply.answer.clone()).collect()
    }

    /// Hands in what [`Self::awaited_reply`] asked for, and plays on; says what became of the
    /// answers that it refuses. Nothing changes when nothing is awaited.
    ///
    /// # Errors
    /// No game can go on so; says why. Nothing has changed.
    pub fn reply(&mut self, reply: OutsideReply) -> Result<Vec<(Seat, Reaction)>, String> {
        if self.awaited_reply().is_none() {
            return Ok(Vec::new());
        }
        let recorded = RecordedReply::new(self.turn, &reply);
        let reactions = if reply.refused.is_empty() {
            self.state.hand_in(reply)?;
            Vec::new()
        } else {
            self.refuse(&reply)?
        };
        self.produced.reply(&recorded);
        self.replies.push(recorded);
        self.overflow = self.produced.extent.within(&self.most).err();
        self.run();
        Ok(reactions)
    }

    /// Takes back answers that another process refuses. A rule player is not asked again.
    fn refuse(&mut self, reply: &OutsideReply) -> Result<Vec<(Seat, Reaction)>, String> {
        let OutsideReply {
            refused: _,
            events,
            asks,
            payoffs,
            draws,
            measures,
        } = reply;
        let is_short = events.is_empty() && asks.is_empty() && payoffs.is_empty();
        if !(is_short && draws.is_empty() && measures.is_none()) {
            return Err("a reply that refuses answers says nothing else".to_owned());
        }
        let asks = self.state.asks();
        let place_of = |seat: Seat| asks.iter().position(|ask| ask.seat == seat);
        for (at, refusal) in reply.refused.iter().enumerate() {
            let seat = refusal.seat;
            if refusal.reason.is_empty() || refusal.reason.len() > LONGEST_REASON {
                return Err(format!(
                    "seat {seat} is refused for a reason that has not 1 to {LONGEST_REASON} letters"
                ));
            }
            let given = place_of(seat).and_then(|place| self.open[place].answer.as_ref());
            let is_twice = reply.refused[..at].iter().any(|other| other.seat == seat);
            if !matches!(given, Some(Answer::Given(_))) || is_twice {
                return Err(format!("seat {seat} has no answer that could be refused"));
            }
        }
        let mut reactions = Vec::new();
        for refusal in &reply.refused {
            let Some(place) = place_of(refusal.seat) else {
                continue;
            };
            let ask = &asks[place];
            let foul = Foul::new(refusal.kind, refusal.reason.clone());
            let open = &mut self.open[place];
            open.fouls.push(foul.clone());
            let used = open.fouls.len() as u32;
            let is_rule = matches!(self.rule_players.get(ask.seat), Some(Some(_)));
            let reaction = if is_rule || used > ask.foul_allowance {
                open.answer = Some(Answer::Forfeited);
                Reaction::Forfeited { foul }
            } else {
                open.answer = None;
                self.missing += 1;
                let fouls_left = ask.foul_allowance - used;
                Reaction::Refused { foul, fouls_left }
            };
            reactions.push((ask.seat, reaction));
        }
        Ok(reactions)
    }

    /// Keeps a recorded refusal of answers that are not put again: their fouls were handed in.
    pub(crate) fn keep_refusal(&mut self, reply: &OutsideReply) {
        let asks = self.state.asks().iter().zip(&mut self.open);
        for (ask, open) in asks {
            let is_rule = matches!(self.rule_players.get(ask.seat), Some(Some(_)));
            let refused = reply
                .refused
                .iter()
                .find(|refusal| refusal.seat == ask.seat);
            if let Some(refusal) = refused.filter(|_| is_rule) {
                open.fouls
                    .push(Foul::new(refusal.kind, refusal.reason.clone()));
                open.answer = Some(Answer::Forfeited);
            }
        }
        let recorded = RecordedReply::new(self.turn, reply);
        self.produced.reply(&recorded);
        self.replies.push(recorded);
    }

    /// What another process said, as records keep it.
    pub fn replies(&self) -> &[RecordedReply] {
        &self.replies
    }

    /// Everything that was said and done, when nothing more is asked of the play.
    pub(crate) fn into_played(self) -> Played {
        Played {
            moves: self.moves,
            events: self.log.into_all(),
            replies: self.replies,
            draws: self.chance.into_draws(),
        }
    }

    /// Plays turns for as long as rule players answer everything.
    fn run(&mut self) {
        while !self.is_finished() && self.missing == 0 && self.state.is_ready() {
            self.close_turn();
        }
    }

    /// Hands the answers to the game and goes on.
    fn close_turn(&mut self) {
        let mut answers = Vec::with_capacity(self.open.len());
        self.moves.reserve(self.open.len());
        for (ask, reply) in self.state.asks().iter().zip(self.open.drain(..)) {
            // `missing` counts the unanswered ones and is 0 here.
            let answer = reply.answer.unwrap_or(Answer::Forfeited);
            self.moves.push(Move {
                turn: self.turn,
                seat: ask.seat,
                ask: ask.kind.clone(),
                action: answer.action().cloned(),
                forfeited: answer == Answer::Forfeited,
                fouls: reply.fouls,
            });
            answers.push(answer);
        }
        self.state
            .advance(&answers, &mut self.chance, &mut self.log);
        self.go_on();
    }

    /// Opens the next turn, unless there is too much already.
    fn go_on(&mut self) {
        let (events, draws) = (self.log.all(), self.chance.draws());
        self.produced.count(&self.moves, events, draws);
        self.overflow = self.produced.extent.within(&self.most).err();
        if self.overflow.is_none() {
            self.open_turn();
        }
    }

    /// Lets rule players answer the open asks and counts what is left.
    fn open_turn(&mut self) {
        self.missing = 0;
        self.turn += 1;
        let asks = self.state.asks();
        self.open.reserve(asks.len());
        for ask in asks {
            let player = self.rule_players.get_mut(ask.seat).and_then(Option::as_mut);
            let reply = match player {
                Some(player) => rule_reply(&*self.state, ask, &self.log, player),
                None => {
                    self.missing += 1;
                    Reply {
                        answer: None,
                        fouls: Vec::new(),
                    }
                }
            };
            self.open.push(reply);
        }
    }
}

fn rule_reply(state: &dyn State, ask: &Ask, log: &EventLog, player: &mut Seated) -> Reply {
    let view = View::new(ask.seat, log.all());
    let action = player.player.act(ask, &view, &mut player.luck);
    match state.check(ask, &action) {
        Ok(()) => Reply {
            answer: Some(Answer::Given(action)),
            fouls: Vec::new(),
        },
        Err(foul) => Reply {
            answer: Some(Answer::Forfeited),
            fouls: vec![foul],
        },
    }
}
