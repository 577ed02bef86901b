//! Recorded sessions of EconArena's published package: one run each, with the raw
//! replies. A reply is read strictly, as that package reads it: a JSON object with a
//! numeric `choice`; anything else is a foul. Fouls, choices, winners and payoffs
//! must come out as recorded.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::check::Check;
use super::{Reader, Recorded, RecordedError, Scripted, build, forms, read};
use crate::ask::{Action, Foul, FoulKind, Seat};
use crate::chance::{BOUNDS, VALUATIONS};
use crate::event::Value;
use crate::game::Built;
use crate::play::{Play, Reaction};
use crate::spec::Settings;

/// The readers of these games.
pub(super) const READERS: &[Reader] = &[
    Reader {
        game: Contest::GAME,
        read: read_session::<Contest>,
    },
    Reader {
        game: Auction::GAME,
        read: read_session::<Auction>,
    },
];

/// What differs between the games.
trait Kind: DeserializeOwned + Send + Sync + 'static {
    const GAME: &'static str;

    /// What the game is built from.
    fn settings(&self) -> Json;

    /// What chance brought.
    fn draws(&self) -> Vec<Scripted>;

    /// The raw replies, by seat.
    fn replies(&self) -> &[String];

    /// The fouls of the record, by seat.
    fn fouls(&self) -> &[bool];

    /// Compares what the record states with a finished play.
    fn compare(&self, play: &Play, check: &mut Check);
}

struct Session<K> {
    kind: K,
    built: Built,
}

fn read_session<K: Kind>(text: &str) -> Result<Box<dyn Recorded>, RecordedError> {
    let kind: K = read(text)?;
    let settings: Settings = serde_json::from_value(kind.settings()).unwrap_or_default();
    let built = build(K::GAME, &settings)?;
    let seats = built.game.seats();
    for (path, entries) in [
        ("replies", kind.replies().len()),
        ("result.fouls", kind.fouls().len()),
    ] {
        if entries != seats {
            return Err(RecordedError::Field {
                path: path.to_owned(),
                message: format!("{entries} entries for {seats} players"),
            });
        }
    }
    Ok(Box::new(Session { kind, built }))
}

impl<K: Kind> Recorded for Session<K> {
    fn built(&self) -> &Built {
        &self.built
    }

    fn script(&self) -> Vec<Scripted> {
        self.kind.draws()
    }

    fn feed(&self, play: &mut Play, check: &mut Check) -> bool {
        let mut fouls = Vec::new();
        for (seat, reply) in self.kind.replies().iter().enumerate() {
            match play.answer(seat, choice(reply)) {
                Reaction::Taken => fouls.push(false),
                Reaction::Forfeited { .. } => fouls.push(true),
                other => check.fault(format!("seat {seat}: {other:?}")),
            }
        }
        check.same("fouls", self.kind.fouls().to_vec(), Some(fouls));
        if !play.is_finished() {
            check.fault("the game goes on after every reply");
        }
        play.is_finished()
    }

    fn compare_end(&self, play: &Play, check: &mut Check) {
        self.kind.compare(play, check);
    }
}

/// The number that a reply chooses.
fn choice(reply: &str) -> Result<Action, Foul> {
    let opened = reply.match_indices('{').map(|(at, _)| at);
    let mut objects = opened.filter_map(|at| {
        let mut values = serde_json::Deserializer::from_str(&reply[at..]).into_iter::<Json>();
        values.next()?.ok()
    });
    let found = objects.find_map(|object| object.get("choice")?.as_f64());
    found.map(Action::Number).ok_or_else(|| {
        Foul::new(
            FoulKind::Unreadable,
            "the reply has no JSON object with a numeric choice",
        )
    })
}

fn fact(play: &Play, name: &str) -> Option<Value> {
    let event = play.log().of_kind("round_result").next_back()?;
    event.get(name).cloned()
}

/// Compares the choices, and the payoffs of those who made one; the record has none
/// for the others. `said` and `paid` are our names of the two.
fn compare_seats(
    choices: &[Option<f64>],
    payoffs: &[Option<f64>],
    (said, paid): (&str, &str),
    play: &Play,
    check: &mut Check,
) {
    let recorded: Vec<Value> = choices.iter().copied().map(Value::from).collect();
    check.same("choices", recorded, fact(play, said));
    let computed = fact(play, paid).unwrap_or(Value::Nothing);
    check.same("payoffs", payoffs.len(), Some(computed.len()));
    for (seat, payoff) in payoffs.iter().enumerate() {
        let fouled = choices.get(seat).is_none_or(Option::is_none);
        match payoff {
            Some(payoff) => {
                let name = format!("payoffs[{seat}]");
                check.same(&name, *payoff, Some(computed.entry(seat)));
            }
            None if fouled => {}
            None => check.fault(format!("payoffs[{seat}]: none, but there is a choice")),
        }
    }
}

/// What our players are told at the beginning.
fn briefed(play: &Play, name: &str) -> Option<Value> {
    let briefing = play.log().of_kind("briefing").next()?;
    briefing.get(name).cloned()
}

/// A recorded beauty contest.
#[derive(Deserialize)]
struct Contest {
    params: ContestParams,
    replies: Vec<String>,
    result: ContestResult,
}

forms! {
    struct ContestParams {
        players: usize,
        upper_bound: i64,
        prize: f64,
    }

    struct ContestResult {
        upper_bound: i64,
        choices: Vec<Option<f64>>,
        status: bool,
        fouls: Vec<bool>,
        winners: Vec<Seat>,
        payoffs: Vec<Option<f64>>,
    }
}

impl Kind for Contest {
    const GAME: &'static str = "beauty_contest";

    fn settings(&self) -> Json {
        let params = &self.params;
        json!({
            "players": params.players, "prize": params.prize,
            "bound_min": params.upper_bound, "bound_max": params.upper_bound,
        })
    }

    fn draws(&self) -> Vec<Scripted> {
        vec![(BOUNDS, 0, self.params.upper_bound.into())]
    }

    fn replies(&self) -> &[String] {
        &self.replies
    }

    fn fouls(&self) -> &[bool] {
        &self.result.fouls
    }

    fn compare(&self, play: &Play, check: &mut Check) {
        let result = &self.result;
        check.same("upper_bound", result.upper_bound, briefed(play, "bound"));
        check.same("status", !result.status, fact(play, "void"));
        check.same("winners", result.winners.clone(), fact(play, "winners"));
        let ours = ("choices", "payoffs");
        compare_seats(&result.choices, &result.payoffs, ours, play, check);
    }
}

/// A recorded second-price auction.
#[derive(Deserialize)]
struct Auction {
    params: AuctionParams,
    private_values: Vec<i64>,
    replies: Vec<String>,
    result: AuctionResult,
}

forms! {
    struct AuctionParams {
        players: usize,
        assets: i64,
        value_mean: f64,
        value_std: f64,
    }

    struct AuctionResult {
        budget: i64,
        private_values: Vec<i64>,
        choices: Vec<Option<f64>>,
        status: bool,
        fouls: Vec<bool>,
        winner: Option<Seat>,
        payoffs: Vec<Option<f64>>,
    }
}

impl Kind for Auction {
    const GAME: &'static str = "second_price_auction";

    fn settings(&self) -> Json {
        let params = &self.params;
        json!({
            "players": params.players, "assets": params.assets,
            "value_mean": params.value_mean, "value_sd": params.value_std,
        })
    }

    fn draws(&self) -> Vec<Scripted> {
        vec![(VALUATIONS, 0, self.private_values.clone().into())]
    }

    fn replies(&self) -> &[String] {
        &self.replies
    }

    fn fouls(&self) -> &[bool] {
        &self.result.fouls
    }

    fn compare(&self, play: &Play, check: &mut Check) {
        let result = &self.result;
        check.same("budget", result.budget, briefed(play, "assets"));
        let values = result.private_values.clone();
        check.same("private_values", values, briefed(play, "private_value"));
        check.same("status", !result.status, fact(play, "void"));
        check.same("winner", result.winner, fact(play, "winner"));
        let ours = ("bids", "payoff");
        compare_seats(&result.choices, &result.payoffs, ours, play, check);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_number_in_an_object() {
        for (reply, number) in [
            ("{\"choice\": 3.5}", 3.5),
            (
                "Sure: ```json\n{\"reason\": \"r\", \"choice\": 4}\n``` bye",
                4.0,
            ),
            ("{oops {\"choice\": 0}", 0.0),
        ] {
            assert_eq!(choice(reply), Ok(Action::Number(number)), "{reply}");
        }
    }

    #[test]
    fn anything_else_is_a_foul() {
        for reply in [
            "",
            "choice = 3",
            "{\"choice\": }",
            "{\"choice\": \"3\"}",
            "{\"choice\": null}",
            "{\"reason\": \"3\"}",
            "[3]",
        ] {
            assert!(choice(reply).is_err(), "{reply}");
        }
    }
}
