//! Recorded games of gamma-Bench: one frame for its eight games, which differ
//! only in what a round holds ([`Round`], one file per game).
//!
//! The replay sets what the authors' program did differently from ours by
//! default (`lenient`, the tie rule); nothing else is adjusted.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::check::Check;
use super::{Reader, Recorded, RecordedError, Scripted, build, read};
use crate::ask::{Action, Ask};
use crate::event::Value;
use crate::game::Built;
use crate::play::{Play, Reaction};
use crate::spec::Settings;

mod sequential;
mod simultaneous;

use sequential::{Shot, Vote};
use simultaneous::{Bids, Choices, Contributions, Dishes, Guesses, SealedBids};

/// One reader per game.
pub(super) const READERS: &[Reader] = &[
    reader::<Guesses>(),
    reader::<Choices>(),
    reader::<Bids>(),
    reader::<Contributions>(),
    reader::<Dishes>(),
    reader::<SealedBids>(),
    reader::<Shot>(),
    reader::<Vote>(),
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

/// The form of a recorded round, and of the `outcome` in it. A field with a name behind it must equal what our event of
/// that round calls so.
macro_rules! round {
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[$given:meta])* $field:ident: $type:ty $(= $ours:literal)?,)*
        }
        $outcome:ident {
            $($(#[$meaning:meta])* $result:ident: $of:ty $(= $computed:literal)?,)*
        }
    ) => {
        forms! {
            $(#[$about])*
            struct $name {
                $($(#[$given])* $field: $type,)*
                outcome: $outcome,
            }

            struct $outcome {
                $($(#[$meaning])* $result: $of,)*
            }
        }

        impl $name {
            fn compare_named(&self, computed: impl Fn(&str) -> Option<Value>, check: &mut Check) {
                $($(check.same(stringify!($field), self.$field.clone(), computed($ours));)?)*
                let Self { outcome, .. } = self;
                $($(check.same(stringify!($result), outcome.$result.clone(), computed($computed));)?)*
            }
        }
    };
}

use round;

/// One of our rounds, for comparison.
struct Played<'a> {
    play: &'a Play,
    params: &'a Settings,
    round: u32,
}

impl Played<'_> {
    /// A value of the first event of this round of a kind, hidden ones included.
    fn value(&self, kind: &str, name: &str) -> Option<Value> {
        let event = self.play.log().of_round(kind, self.round)?;
        event.get(name).cloned()
    }
}

/// A line of the file; what it does not name is about where the game came from.
#[derive(Deserialize)]
struct Line<R> {
    params: Settings,
    rounds: Vec<R>,
    #[serde(rename = "raw_S")]
    raw: BTreeMap<String, f64>,
    /// Null in raw results of the authors, which have no scores.
    #[serde(deserialize_with = "Option::deserialize")]
    score_iclr2025: Option<f64>,
    #[serde(deserialize_with = "Option::deserialize")]
    score_arxiv2024: Option<f64>,
}

struct GammaGame<R> {
    line: Line<R>,
    built: Built,
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
    Ok(Box::new(GammaGame { line, built }))
}

impl<R: Round> Recorded for GammaGame<R> {
    fn built(&self) -> &Built {
        &self.built
    }

    fn script(&self) -> Vec<Scripted> {
        let mut script = Vec::new();
        for (round, recorded) in (1..).zip(&self.line.rounds) {
            recorded.script(round, &mut script);
        }
        script
    }

    fn feed(&self, play: &mut Play, check: &mut Check) -> bool {
        self.compare_briefing(play, check);
        let is_finished = self.answer_all(play, check);
        self.compare_rounds(play, check);
        is_finished
    }

    fn compare_end(&self, play: &Play, check: &mut Check) {
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
            let Some(recorded) = recorded else { continue };
            let computed = measures.scores.get(scheme).copied();
            check.same(&format!("score_{scheme}"), recorded, computed);
        }
    }

    fn adjusted(&self) -> &'static [&'static str] {
        &["lenient", "tie"]
    }
}

impl<R: Round> GammaGame<R> {
    /// Answers every ask from the record; whether the game came to its end.
    fn answer_all(&self, play: &mut Play, check: &mut Check) -> bool {
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
        let played = self.played(play, 0);
        for derived in R::DERIVED {
            if let Derived::Told(name) = derived
                && let Some(recorded) = self.line.params.get(*name)
            {
                let told = played.value("briefing", name);
                check.same(&format!("params.{name}"), recorded, told);
            }
        }
    }

    fn played<'a>(&'a self, play: &'a Play, round: u32) -> Played<'a> {
        Played {
            play,
            params: &self.built.params,
            round,
        }
    }

    /// Compares the rounds that were completed on both sides.
    fn compare_rounds(&self, play: &Play, check: &mut Check) {
        let completed = play.moves().last().map_or(0, |made| made.turn) / R::TURNS;
        for (round, recorded) in (1..).zip(&self.line.rounds) {
            check.at(format!("round {round}"));
            if round <= completed {
                recorded.compare(&self.played(play, round), check);
            } else if play.is_finished() {
                check.fault("recorded, but the game was over before");
            }
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
