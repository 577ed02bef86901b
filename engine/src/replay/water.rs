//! Recorded games of the Water Allocation Challenge (Alympics): the recorded supplies
//! and bids are fed in; mornings, allocation, balances, health, counts, eliminations
//! and survivors are compared day by day. In the recorded games a bid of 0 won what
//! nobody else took. Records of the early tie rule, which could serve one resident
//! twice on a day, are compared up to the first such day.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::about::named;
use super::check::Check;
use super::{ReadReply, Reader, Recorded, RecordedError, Reread, Scripted, build, forms, read};
use crate::ask::{Action, Seat};
use crate::cents::Cents;
use crate::chance::SUPPLIES;
use crate::event::{Event, Value};
use crate::game::Built;
use crate::games::water_allocation::{WaterParams, ask};
use crate::play::{Play, Reaction};
use crate::spec::{PlayerSpec, Settings};

/// The name of these games, in the record and in the registry.
const GAME: &str = "water_allocation";

/// The reader of these games.
pub(super) const READERS: &[Reader] = &[Reader {
    game: GAME,
    read: read_game,
}];

/// A line of the file; what it does not name is about where it came from.
#[derive(Deserialize)]
struct Line {
    id: String,
    params: Params,
    days: Vec<Day>,
    survivors: Vec<String>,
    last_day: u32,
    tie_rule: TieRule,
}

forms! {
    struct Params {
        low: i64,
        high: i64,
        /// Whether residents had personas; says nothing about the rules.
        #[serde(rename = "persona")]
        _persona: bool,
        players: Vec<Resident>,
        start_hp: i64,
        max_hp: i64,
        days: u32,
    }

    struct Resident {
        name: String,
        requirement: i64,
        salary: i64,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TieRule {
    LowerRequirement,
    /// A fault of early games: after a tie the same resident could be served again.
    FirstEqualBidderAgain,
}

forms! {
    struct Day {
        day: u32,
        supply: i64,
        before: BTreeMap<String, Status>,
        bids: BTreeMap<String, Cents>,
        /// Replies in full; the bids were taken from them. Absent where only numbers were kept.
        #[serde(default)]
        texts: BTreeMap<String, String>,
        winners: Vec<String>,
        after: BTreeMap<String, Status>,
        eliminated: Vec<String>,
    }

    struct Status {
        /// Sums of real numbers, which may be off by less than a cent.
        balance: f64,
        hp: i64,
        no_drink: i64,
    }
}

struct Town {
    line: Line,
    built: Built,
    /// How many days can be compared in full; the bids of a later one have no
    /// outcome that the rules could give.
    sound_days: usize,
}

fn read_game(text: &str) -> Result<Box<dyn Recorded>, RecordedError> {
    let line: Line = read(text)?;
    let built = build(GAME, &settings(&line.params))?;
    let faulty = |day: &Day| {
        let twice = (1..day.winners.len()).any(|at| day.winners[..at].contains(&day.winners[at]));
        line.tie_rule == TieRule::FirstEqualBidderAgain && twice
    };
    let sound_days = line.days.iter().take_while(|day| !faulty(day)).count();
    Ok(Box::new(Town {
        line,
        built,
        sound_days,
    }))
}

/// A reply by itself, with the bid that was taken from it.
#[derive(Deserialize)]
pub(super) struct Reply {
    game: String,
    day: u32,
    player: String,
    bid: Cents,
    text: String,
}

impl Reply {
    pub(super) fn reread(&self, read: &mut ReadReply<'_>) -> Reread {
        let Self {
            game, day, player, ..
        } = self;
        Reread {
            place: format!("{game}, day {day}, {player}"),
            used: self.bid.into(),
            read: read(&ask(&WaterParams::default(), 0), &self.text),
        }
    }
}

/// The recorded parameters as ours; what they do not name was as by default.
fn settings(params: &Params) -> Settings {
    let residents = &params.players;
    let needs: Vec<i64> = residents.iter().map(|one| one.requirement).collect();
    let names: Vec<&str> = residents.iter().map(|one| &*one.name).collect();
    let salaries: Vec<i64> = residents.iter().map(|one| one.salary).collect();
    let settings = json!({
        "players": residents.len(),
        "rounds": params.days,
        "names": names,
        "requirements": needs,
        "salaries": salaries,
        "supply_min": params.low,
        "supply_max": params.high,
        "health_start": params.start_hp,
        "health_max": params.max_hp,
        "zero_bids_win": true,
    });
    serde_json::from_value(settings).unwrap_or_default()
}

impl Recorded for Town {
    fn built(&self) -> &Built {
        &self.built
    }

    fn script(&self) -> Vec<Scripted> {
        let days = self.line.days.iter().take(self.sound_days + 1);
        days.map(|day| (SUPPLIES, day.day, day.supply.into()))
            .collect()
    }

    fn feed(&self, play: &mut Play, check: &mut Check) -> bool {
        for (number, day) in (1..).zip(&self.line.days) {
            check.at(format!("day {number}"));
            check.same("day", i64::from(day.day), Some(i64::from(number)));
            if !self.day(number, day, play, check) {
                break;
            }
        }
        self.sound_days == self.line.days.len()
    }

    fn compare_end(&self, play: &Play, check: &mut Check) {
        if !play.is_finished() {
            check.fault("the game goes on, but the record ends");
            return;
        }
        let last = play.log().of_kind("round_result").next_back();
        let day = last.map(|event| i64::from(event.round));
        check.same("last_day", i64::from(self.line.last_day), day);
        let survivors = self.seats("survivors", &self.line.survivors, check);
        let living = last.and_then(|event| event.get("living")).cloned();
        check.same("survivors", survivors, living);
    }

    fn adjusted(&self) -> &'static [&'static str] {
        &["zero_bids_win"]
    }

    fn seats(&self) -> Vec<PlayerSpec> {
        let residents = self.line.params.players.iter();
        residents.map(|resident| named(&resident.name)).collect()
    }

    fn reread(&mut self, read: &mut ReadReply<'_>) -> Vec<Reread> {
        let mut all = Vec::new();
        for day in &mut self.line.days {
            for (name, text) in &day.texts {
                // A bid that the record lacks is a mismatch of its own.
                let Some(bid) = day.bids.get_mut(name) else {
                    continue;
                };
                let used = Action::from(*bid);
                let read = read(&ask(&WaterParams::default(), 0), text);
                if let Some(now) = read.as_ref().ok().and_then(Action::amount) {
                    *bid = now;
                }
                all.push(Reread {
                    place: format!("{}, day {}, {name}", self.line.id, day.day),
                    used,
                    read,
                });
            }
        }
        all
    }

    fn record_fault(&self) -> Option<String> {
        let day = self.line.days.get(self.sound_days)?;
        Some(format!(
            "day {} gives water to one resident twice; compared up to its morning",
            day.day
        ))
    }
}

impl Town {
    /// Plays and compares a day; whether the next one can be.
    fn day(&self, number: u32, day: &Day, play: &mut Play, check: &mut Check) -> bool {
        let Some(morning) = play.log().of_round("day_opened", number) else {
            check.fault("recorded, but the game was over");
            return false;
        };
        check.same("supply", day.supply, morning.get("supply").cloned());
        self.compare_status("before", &day.before, None, morning, check);
        if number as usize > self.sound_days {
            return false;
        }
        if let Err(why) = self.bid(day, play) {
            check.fault(why);
            return false;
        }
        let Some(result) = play.log().of_round("round_result", number) else {
            check.fault("the day did not end");
            return false;
        };
        let computed = |name: &str| result.get(name).cloned();
        let winners = self.seats("winners", &day.winners, check);
        check.same("winners", winners, computed("winners"));
        let eliminated = self.seats("eliminated", &day.eliminated, check);
        check.same("eliminated", eliminated.clone(), computed("eliminated"));
        let lost = eliminated.into_iter().zip(result.numbers("lost_balances"));
        self.compare_status("after", &day.after, Some(&lost.collect()), result, check);
        true
    }

    /// Feeds every recorded bid of a day.
    fn bid(&self, day: &Day, play: &mut Play) -> Result<(), String> {
        let asked: Vec<Seat> = play.waiting().map(|ask| ask.seat).collect();
        if asked.len() != day.bids.len() {
            let bids = day.bids.len();
            return Err(format!("recorded {bids} bids, but {} live", asked.len()));
        }
        for seat in asked {
            let name = &self.line.params.players[seat].name;
            let bid = day.bids.get(name);
            let bid =
                bid.ok_or_else(|| format!("{name} lives, but the record has no bid of it"))?;
            match play.answer(seat, Ok((*bid).into())) {
                Reaction::Taken => {}
                other => return Err(format!("{name}: {bid} is no bid: {other:?}")),
            }
        }
        Ok(())
    }

    /// The seats of these names, in their order.
    fn seats(&self, what: &str, names: &[String], check: &mut Check) -> Vec<Seat> {
        let mut seats = Vec::new();
        for name in names {
            let residents = &self.line.params.players;
            match residents.iter().position(|resident| resident.name == *name) {
                Some(seat) => seats.push(seat),
                None => check.fault(format!("{what}: there is no resident {name}")),
            }
        }
        seats
    }

    /// Compares everybody's balance, health and count. `lost`: what the record
    /// still shows of those just eliminated.
    fn compare_status(
        &self,
        when: &str,
        recorded: &BTreeMap<String, Status>,
        lost: Option<&BTreeMap<Seat, f64>>,
        event: &Event,
        check: &mut Check,
    ) {
        let residents = &self.line.params.players;
        for name in recorded.keys() {
            if !residents.iter().any(|resident| resident.name == *name) {
                check.fault(format!("{when}: there is no resident {name}"));
            }
        }
        for (seat, resident) in residents.iter().enumerate() {
            let status = recorded.get(&resident.name);
            let lost = lost.and_then(|lost| lost.get(&seat));
            let balance = lost.map_or_else(|| event.entry("balances", seat), |lost| (*lost).into());
            let number = |read: fn(&Status) -> i64| Value::from(status.map(read));
            let recorded_balance = Value::from(status.map(|status| status.balance));
            for (what, recorded, computed) in [
                ("balance", recorded_balance, balance),
                (
                    "hp",
                    number(|status| status.hp),
                    event.entry("health", seat),
                ),
                (
                    "no_drink",
                    number(|status| status.no_drink),
                    event.entry("dry_days", seat),
                ),
            ] {
                let what = format!("{when}: {what} of {}", resident.name);
                check.same(&what, recorded, Some(computed));
            }
        }
    }
}
