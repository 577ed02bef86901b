//! Recorded games of gamma-Bench: one frame for its eight games, which differ
//! only in what a round holds ([`Round`], one file per game).
//!
//! The replay sets what the authors' program did differently from ours by
//! default (`lenient`, the tie rule); nothing else is adjusted.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::about::numbered;
use super::check::Check;
use super::{Reader, Recorded, RecordedError, Replayed, build, compare_draws, read};
use crate::ask::{Action, Ask};
use crate::chance::{Chance, Stream};
use crate::event::{Event, Value};
use crate::game::Game;
use crate::play::{Play, Reaction};
use crate::spec::{PlayerSpec, Settings};

mod battle_royale;
mod diners_dilemma;
mod divide_dollar;
mod el_farol;
mod guess_two_thirds;
mod pirate;
mod public_goods;
mod sealed_bid_auction;

/// One reader per game.
pub(super) const READERS: &[Reader] = &[
    reader::<guess_two_thirds::Guesses>(),
    reader::<el_farol::Choices>(),
    reader::<divide_dollar::Bids>(),
    reader::<public_goods::Contributions>(),
    reader::<diners_dilemma::Dishes>(),
    reader::<sealed_bid_auction::SealedBids>(),
    reader::<battle_royale::Shot>(),
    reader::<pirate::Vote>(),
];

const fn reader<R: Round>() -> Reader {
    Reader {
        game: R::GAME,
        read: read_game::<R>,
    }
}

/// One recorded round of one of the games.
trait Round: DeserializeOwned + Send + Sync + 'static {
    /// Name of the game, in the record and in the registry.
    const GAME: &'static str;

    /// Parameters of the record that follow from others. They are dropped; those
    /// that players were told are compared with what ours are told.
    const DERIVED: &'static [Derived] = &[];

    /// How many turns of ours one recorded round takes.
    const TURNS: u32 = 1;

    /// Checks recorded parameters and adds what the authors' program did
    /// without a parameter.
    ///
    /// # Errors
    /// The parameters are not what the published games had.
    fn settle(_params: &mut Settings) -> Result<(), RecordedError> {
        Ok(())
    }

    /// Adds the draws of this round (from 1) to the script.
    fn script(&self, _round: u32, _script: &mut Vec<Scripted>) {}

    /// The recorded answer to an ask of this round.
    ///
    /// # Errors
    /// The record has none; says why.
    fn answer(&self, ask: &Ask) -> Result<Action, String>;

    /// Compares everything that the record says about this round.
    fn compare(&self, played: &Played<'_>, check: &mut Check);

    /// What the record says each seat had at the end, when it says so.
    fn payoffs(_rounds: &[Self]) -> Option<Vec<f64>> {
        None
    }
}

/// A recorded parameter that is not one of ours.
enum Derived {
    /// It says nothing about play (a seed, a way of writing).
    Ignored(&'static str),
    /// It must equal the fact of this name in our briefing.
    Told(&'static str),
}

impl Derived {
    const fn name(&self) -> &'static str {
        match self {
            Self::Ignored(name) | Self::Told(name) => name,
        }
    }
}

/// A draw that the record states.
type Scripted = (Stream, u32, Value);

/// One of our rounds, for comparison.
struct Played<'a> {
    play: &'a Play,
    params: &'a Settings,
    round: u32,
}

impl<'a> Played<'a> {
    /// The first event of this round of a kind.
    fn event(&self, kind: &'a str) -> Option<&'a Event> {
        self.play
            .log()
            .of_kind(kind)
            .find(|event| event.round == self.round)
    }

    /// A value of such an event, hidden ones included.
    fn value(&self, kind: &'a str, name: &str) -> Option<Value> {
        self.event(kind)?.get(name).cloned()
    }
}

/// A line of the file; what it does not name is about where the game came from.
#[derive(Deserialize)]
struct Line<R> {
    params: Settings,
    rounds: Vec<R>,
    #[serde(rename = "raw_S")]
    raw: BTreeMap<String, f64>,
    score_iclr2025: f64,
    score_arxiv2024: f64,
}

struct GammaGame<R> {
    line: Line<R>,
    params: Settings,
    game: Arc<dyn Game>,
}

fn read_game<R: Round>(text: &str) -> Result<Box<dyn Recorded>, RecordedError> {
    let line: Line<R> = read(text)?;
    let mut params = line.params.clone();
    R::settle(&mut params)?;
    for derived in R::DERIVED {
        params.remove(derived.name());
    }
    params.insert("lenient".to_owned(), json!(true));
    let built = build(R::GAME, &params)?;
    Ok(Box::new(GammaGame {
        line,
        params: built.params,
        game: built.game,
    }))
}

impl<R: Round> Recorded for GammaGame<R> {
    fn replay(&self) -> Replayed {
        let mut check = Check::default();
        let mut script = Vec::new();
        for (round, recorded) in (1..).zip(&self.line.rounds) {
            recorded.script(round, &mut script);
        }
        let seats = self.game.seats();
        let outside = (0..seats).map(|_| None).collect();
        let chance = Chance::scripted(script);
        let mut play = Play::start(Arc::clone(&self.game), chance, outside);
        self.compare_briefing(&play, &mut check);
        let finished = self.feed(&mut play, &mut check);
        self.compare_rounds(&play, &mut check);
        compare_draws(&play, &mut check);
        if finished {
            self.compare_outcome(&play, &mut check);
        }
        Replayed {
            play,
            mismatches: check.finish(),
        }
    }

    fn params(&self) -> &Settings {
        &self.params
    }

    fn seats(&self) -> Vec<PlayerSpec> {
        numbered(self.game.seats())
    }

    fn adjusted(&self) -> &'static [&'static str] {
        &["lenient", "tie"]
    }
}

impl<R: Round> GammaGame<R> {
    /// Answers every ask from the record; whether the game came to its end.
    fn feed(&self, play: &mut Play, check: &mut Check) -> bool {
        while !play.is_finished() {
            let round = (play.turn() - 1) / R::TURNS;
            check.at(format!("round {}", round + 1));
            let Some(recorded) = self.line.rounds.get(round as usize) else {
                check.fault("the game goes on, but the record ends");
                return false;
            };
            let asks: Vec<Ask> = play.waiting().cloned().collect();
            for ask in asks {
                let (seat, kind) = (ask.seat, &ask.kind);
                let reaction = recorded
                    .answer(&ask)
                    .map(|action| play.answer(seat, Ok(action)));
                let problem = match reaction {
                    Ok(Reaction::Taken) => continue,
                    Ok(Reaction::Refused { foul, .. } | Reaction::Forfeited { foul }) => {
                        format!("the recorded {kind} of player {seat} is a foul: {foul}")
                    }
                    Ok(Reaction::NotAsked) => format!("player {seat} is not asked"),
                    Err(why) => format!("no {kind} of player {seat}: {why}"),
                };
                check.fault(problem);
                return false;
            }
        }
        true
    }

    /// Compares derived parameters with what our players are told.
    fn compare_briefing(&self, play: &Play, check: &mut Check) {
        let played = Played {
            play,
            params: &self.params,
            round: 0,
        };
        for derived in R::DERIVED {
            if let Derived::Told(name) = derived
                && let Some(recorded) = self.line.params.get(*name)
            {
                check.same(
                    &format!("params.{name}"),
                    recorded,
                    played.value("briefing", name),
                );
            }
        }
    }

    /// Compares the rounds that were completed on both sides.
    fn compare_rounds(&self, play: &Play, check: &mut Check) {
        let completed = play.moves().last().map_or(0, |made| made.turn) / R::TURNS;
        for (round, recorded) in (1..).zip(&self.line.rounds) {
            check.at(format!("round {round}"));
            if round <= completed {
                recorded.compare(
                    &Played {
                        play,
                        params: &self.params,
                        round,
                    },
                    check,
                );
            } else if play.is_finished() {
                check.fault("recorded, but the game was over before");
            }
        }
    }

    fn compare_outcome(&self, play: &Play, check: &mut Check) {
        check.at("");
        if let Some(payoffs) = R::payoffs(&self.line.rounds) {
            check.same("payoffs", payoffs, Some(play.payoffs()));
        }
        let measures = play.measures();
        for (name, recorded) in &self.line.raw {
            check.same(name, *recorded, measures.parts.get(name).copied());
        }
        let schemes = [
            ("iclr2025", self.line.score_iclr2025),
            ("arxiv2024", self.line.score_arxiv2024),
        ];
        for (scheme, recorded) in schemes {
            let computed = measures.scores.get(scheme).copied();
            check.same(&format!("score_{scheme}"), recorded, computed);
        }
    }
}

/// The sum of each seat's entries over the rounds.
fn totals<'a>(rounds: impl Iterator<Item = &'a [f64]>) -> Option<Vec<f64>> {
    rounds.map(<[f64]>::to_vec).reduce(|mut sums, entries| {
        for (sum, entry) in sums.iter_mut().zip(entries) {
            *sum += entry;
        }
        sums
    })
}

/// The entry of a seat in a list of recorded answers.
fn entry<T: Clone>(answers: &[T], ask: &Ask) -> Result<T, String> {
    let found = answers.get(ask.seat).cloned();
    found.ok_or_else(|| format!("the record has {} answers", answers.len()))
}

/// Recorded words as a value.
fn words(list: &[String]) -> Value {
    let values: Vec<Value> = list.iter().cloned().map(Value::from).collect();
    values.into()
}
