//! What the measures need of one session's record, in one shape: residents, and day by day
//! what each of them bid, had and felt. Reads what the game wrote down, in events and at the
//! end.

use agon_engine::record::StoredRecord;
use agon_engine::{Event, Seat, Value};

use super::WATER_ALLOCATION;
use crate::basis::SessionAnswers;

/// One finished session.
pub(super) struct Town<'a> {
    record: &'a StoredRecord,
    /// By seat.
    pub residents: Vec<Resident<'a>>,
    /// The least and the most water of a day.
    pub supply: (i64, i64),
    pub days: Vec<Day>,
    /// Whether enough was answered for the town as a whole to be measured.
    pub is_measured: bool,
}

/// Who lives there.
pub(super) struct Resident<'a> {
    /// As the game calls it; `None` in records of rules without names.
    pub name: Option<&'a str>,
    /// Who plays it.
    pub player: &'a str,
    /// Whether that player answered enough to be measured.
    pub is_measured: bool,
    pub survived: bool,
    /// Bids above its balance.
    pub overbids: u64,
}

/// One day of it.
pub(super) struct Day {
    /// From 1.
    pub day: u32,
    /// By seat; `None` for who was out in the morning.
    pub living: Vec<Option<Evening>>,
    /// The lowest bid that won.
    pub minimum_bid: Option<f64>,
    /// Resource satisfaction of those who lived in the morning (formula 2).
    pub rsr: Option<f64>,
}

/// How a day ended for one who lived to see its morning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evening {
    /// 0 for no bid, `None` for one above the balance.
    pub bid: Option<f64>,
    pub balance: f64,
    /// At least 0.
    pub health: f64,
}

impl<'a> Town<'a> {
    /// `None` for a record of another game, and for one that lacks what every finished
    /// session has.
    pub fn read(record: &'a StoredRecord) -> Option<Self> {
        if record.spec.game != WATER_ALLOCATION {
            return None;
        }
        let of_kind = |kind: &'static str| record.events.iter().filter(move |one| one.kind == kind);
        let briefing = of_kind("briefing").next()?;
        let integer = |name: &str| briefing.get(name)?.integer();
        let supply = (integer("supply_min")?, integer("supply_max")?);
        let ended = Ended { record };
        let survived = record.measures.series.get("survived")?;
        let answers = SessionAnswers::of(record);
        let measured = answers.measured_seats(&record.spec.seats);
        let players = record.spec.seats.iter().enumerate();
        let residents = players.map(|(seat, player)| {
            Some(Resident {
                name: name_of(briefing, seat),
                player: &player.name,
                is_measured: *measured.get(seat)?,
                survived: *survived.get(seat)? > 0.0,
                overbids: ended.overbids(seat),
            })
        });
        let residents: Vec<Resident<'a>> = residents.collect::<Option<_>>()?;
        let results = of_kind("round_result").enumerate();
        let days = results.map(|(place, result)| Day {
            day: result.round,
            minimum_bid: ended.minimum_bid(result.round),
            rsr: ended.series("rsr").get(place).copied(),
            living: (0..residents.len())
                .map(|seat| evening(&ended, result, seat))
                .collect(),
        });
        Some(Self {
            days: days.collect(),
            is_measured: answers.all().suffice(),
            record,
            residents,
            supply,
        })
    }

    /// A number of the session that the game wrote down at the end.
    pub fn part(&self, name: &str) -> Option<f64> {
        self.record.measures.parts.get(name).copied()
    }

    /// The same of a seat; `None` where its player answered too little.
    pub fn number(&self, series: &str, seat: Seat) -> Option<f64> {
        self.residents.get(seat).filter(|one| one.is_measured)?;
        self.record.measures.series.get(series)?.get(seat).copied()
    }
}

/// What the game wrote down about its days when it ended.
struct Ended<'a> {
    record: &'a StoredRecord,
}

impl Ended<'_> {
    fn series(&self, name: &str) -> &[f64] {
        let series = self.record.measures.series.get(name);
        series.map(Vec::as_slice).unwrap_or_default()
    }

    fn minimum_bid(&self, day: u32) -> Option<f64> {
        let mut days = self.series("minimum_bid_days").iter();
        let place = days.position(|on| *on == f64::from(day))?;
        self.series("minimum_bid").get(place).copied()
    }

    fn overbids(&self, seat: Seat) -> u64 {
        let by = self.series("overbid_seats").iter();
        by.filter(|by| **by == seat as f64).count() as u64
    }

    fn is_overbid(&self, day: u32, seat: Seat) -> bool {
        let all = self.series("overbid_days").iter();
        let mut all = all.zip(self.series("overbid_seats"));
        all.any(|(on, by)| *on == f64::from(day) && *by == seat as f64)
    }
}

/// `None` for who was out in the morning.
fn evening(ended: &Ended<'_>, result: &Event, seat: Seat) -> Option<Evening> {
    let health = entry(result, "health", seat)?.max(0.0);
    let bid = entry(result, "bids", seat).unwrap_or(0.0);
    Some(Evening {
        health,
        bid: (!ended.is_overbid(result.round, seat)).then_some(bid),
        balance: entry(result, "balances", seat).unwrap_or(0.0),
    })
}

/// A seat's number in a column of an event.
fn entry(event: &Event, column: &str, seat: Seat) -> Option<f64> {
    event.get(column)?.entry(seat).number()
}

fn name_of(briefing: &Event, seat: Seat) -> Option<&str> {
    match briefing.get("names")? {
        Value::List(names) => names.get(seat)?.text(),
        _ => None,
    }
}
