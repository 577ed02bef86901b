//! What the measures need of one session's record, in one shape for guesses and auctions:
//! what everybody said round by round, and who plays by which method. Reads what the game
//! wrote down, in events and at the end.

use agon_engine::record::StoredRecord;
use agon_engine::{Event, Seat};
use serde_json::Value;

use super::{GUESS_TO_SURVIVE, SURVIVAL_AUCTION};
use crate::axes::{LABEL, axes, in_words};
use crate::basis::SessionAnswers;

/// The kind of note in which a player predicts its rivals.
pub(super) const PREDICTION: &str = "prediction";

/// The paper's methods (section 3.2), as published tables call them.
pub(super) const METHODS: [&str; 8] = [
    "direct",
    "chain-of-thought",
    "persona",
    "reflexion",
    "self-refine",
    "prediction-cot",
    "k-level",
    "k-level-3",
];

/// The depth of `k-level` where nothing is said.
const USUAL_DEPTH: u64 = 2;

/// One finished session.
pub(super) struct Played<'a> {
    pub record: &'a StoredRecord,
    /// Names by seat.
    pub players: Vec<&'a str>,
    /// Rounds that it could have.
    pub rounds: u32,
    pub is_auction: bool,
    /// Whether it is an auction with the paper's rules: water for exactly one of equals.
    pub is_survival_auction: bool,
    results: Vec<&'a Event>,
    /// By seat, whether its player answered enough to be measured.
    measured: Vec<bool>,
}

impl<'a> Played<'a> {
    /// `None` for a record that is not measured here, and for one that lacks what every
    /// finished session has.
    pub fn read(record: &'a StoredRecord) -> Option<Self> {
        let spec = &record.spec;
        let is_auction = spec.game == SURVIVAL_AUCTION;
        let is_survival_auction = is_auction && is_survival_auction(record);
        let predicts = || record.notes.iter().any(|note| note.note == PREDICTION);
        if is_auction && !is_survival_auction && !predicts()
            || !is_auction && spec.game != GUESS_TO_SURVIVE
        {
            return None;
        }
        let results = record.events.iter();
        let results: Vec<&Event> = results.filter(|one| one.kind == "round_result").collect();
        if results.is_empty() {
            return None;
        }
        Some(Self {
            record,
            players: spec.seats.iter().map(|seat| &*seat.name).collect(),
            rounds: u32::try_from(spec.params.get("rounds")?.as_u64()?).ok()?,
            is_auction,
            is_survival_auction,
            results,
            measured: SessionAnswers::of(record).measured_seats(&spec.seats),
        })
    }

    /// What a seat said in a round; `None` where it gave no answer or was out, and for a
    /// bid above its balance.
    pub fn said(&self, round: u32, seat: Seat) -> Option<f64> {
        let column = if self.is_auction { "bids" } else { "choices" };
        let overbids = self
            .series("overbid_days")
            .zip(self.series("overbid_seats"));
        let is_overbid = overbids.is_some_and(|(days, seats)| {
            let mut all = days.iter().zip(seats);
            all.any(|(on, by)| *on == f64::from(round) && *by == seat as f64)
        });
        if is_overbid {
            return None;
        }
        let result = self.results.iter().find(|one| one.round == round)?;
        result.get(column)?.entry(seat).number()
    }

    /// Whether the player of a seat answered enough to be measured.
    pub fn is_measured(&self, seat: Seat) -> bool {
        self.measured.get(seat).copied().unwrap_or(false)
    }

    /// A number of a seat that the game wrote down at the end.
    pub fn number(&self, series: &str, seat: Seat) -> Option<f64> {
        self.series(series)?.get(seat).copied()
    }

    /// The same of a series that has entries for some seats only, listed beside it.
    pub fn number_of_some(&self, series: &str, seats: &str, seat: Seat) -> Option<f64> {
        let mut entries = self.series(seats)?.iter().zip(self.series(series)?);
        let entry = entries.find(|(of, _)| **of == seat as f64);
        entry.map(|(_, number)| *number)
    }

    fn series(&self, name: &str) -> Option<&'a Vec<f64>> {
        self.record.measures.series.get(name)
    }

    /// Share of the session's rounds that a seat won (formula 9).
    pub fn win_rate(&self, seat: Seat) -> Option<f64> {
        if self.is_auction {
            let won = self.number("days_with_water", seat)?;
            (self.rounds > 0).then(|| won / f64::from(self.rounds))
        } else {
            self.number("wins", seat)
        }
    }

    /// How the first seat plays: its name where that is a method, or else an axis over
    /// this seat or its player that is one, or else its agent, or else its name. Axes over
    /// others say how its opponents play.
    pub fn method(&self) -> String {
        let spec = &self.record.spec;
        let name = self.players.first().copied().unwrap_or_default();
        let player = format!("players.{name}");
        let of_axes =
            axes(spec).filter(|(axis, _)| inside(axis, "seats[0]") || inside(axis, &player));
        let of_axes = of_axes.filter_map(|(_, value)| method(&in_words(value)));
        let settings = spec.seats.first().map(|seat| &seat.settings);
        let depth = settings.and_then(|settings| settings.get("depth")?.as_u64());
        let deepened = |method: String| match depth {
            Some(depth) if method == "k-level" && depth != USUAL_DEPTH => {
                format!("{method}-{depth}")
            }
            _ => method,
        };
        let of_axes = of_axes.map(deepened);
        let agent = || method(settings?.get("agent")?.as_str()?).map(deepened);
        let mut known = method(name).into_iter().chain(of_axes);
        let known = known.next().or_else(agent);
        known.unwrap_or_else(|| name.to_owned())
    }

    /// How all other seats play: the label, or else their names.
    pub fn opponents(&self) -> String {
        if let Some(label) = self.record.spec.setting.get(LABEL) {
            return normal(&in_words(label));
        }
        let mut names: Vec<String> = Vec::new();
        for name in self.players.iter().skip(1).map(|name| normal(name)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }
}

/// Whether a path is this one, or leads further into it.
fn inside(path: &str, outer: &str) -> bool {
    let rest = path.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Water for exactly one of residents that need the same.
fn is_survival_auction(record: &StoredRecord) -> bool {
    let params = &record.spec.params;
    let integer = |name: &str| params.get(name).and_then(Value::as_i64);
    let needs = params.get("requirements").and_then(Value::as_array);
    let needs: Option<Vec<i64>> = needs.and_then(|all| all.iter().map(Value::as_i64).collect());
    let Some((needs, least, most)) = needs
        .zip(integer("supply_min"))
        .zip(integer("supply_max"))
        .map(|((needs, least), most)| (needs, least, most))
    else {
        return false;
    };
    let same = |need: &i64| needs.iter().all(|other| other == need);
    let need = needs.first().filter(|need| same(need));
    need.is_some_and(|need| least >= *need && most < 2 * need)
}

/// The published word for a method, whoever wrote it; `None` for other words.
fn method(word: &str) -> Option<String> {
    let word = match &*normal(word) {
        "prediction-chain-of-thought" => "prediction-cot".to_owned(),
        word => word.to_owned(),
    };
    let numbered = word.strip_prefix("k-level-").is_some_and(|depth| {
        !depth.is_empty() && depth.chars().all(|digit| digit.is_ascii_digit())
    });
    (numbered || METHODS.contains(&&*word)).then_some(word)
}

/// Words of one spelling.
fn normal(word: &str) -> String {
    word.to_lowercase().replace(['_', ' '], "-")
}
