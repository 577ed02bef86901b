//! Measures of the Water Allocation Challenge of Alympics (Mao et al., arXiv 2311.03220,
//! sections 4 and 5), gathered session by session and grouped by setting: who survives, how
//! scarce water is, what it costs, and how bids, balances and health go from day to day.
//! Definitions with their formulas stand in `docs/measures.md`.

mod published;
mod reading;
mod tables;

use agon_engine::record::StoredRecord;

use crate::accumulator::Accumulator;
use crate::game_report::{Paper, Report};
use crate::gathered::{Gathered, Setting};
use crate::grouping::Statistic::{Count, Deviation, Last, Mean, Of, Share, Total};
use crate::grouping::{Key, Label, Section, all_together, counts};
use crate::layout::Layout;
use crate::observation::{Observation, SessionObservations};
use crate::published::Papers;
use crate::row::{Row, Value, list};
use crate::statistics::quartiles;

/// The game whose records are measured.
const WATER_ALLOCATION: &str = "water_allocation";

/// Measures of any number of sessions; other games are passed over.
pub(crate) type AlympicsReport = Report<Alympics>;

/// The paper.
#[derive(Default)]
pub(crate) struct Alympics;

/// The least and the most water that a day can bring, in units; then the town as a whole, of
/// sessions in which enough was answered, at the end of those in which somebody lived.
const TOWN: Section = Section {
    name: "town",
    labels: &[],
    by: all_together,
    fields: &[
        ("supply_min", Last("supply_min")),
        ("supply_max", Last("supply_max")),
        (
            "survivors",
            Of(&["survivors"], |sums| counts(sums.values("survivors"))),
        ),
        ("survivors_mean", Mean("survivors")),
        ("survivors_sd", Deviation("survivors")),
        ("survival_rate", Mean("survivor_share")),
        ("rsr_start", Mean("rsr_start")),
        ("rsr_end", Mean("rsr_end")),
        ("rsr_end_sessions", Count("rsr_end")),
        ("overbids", Mean("overbids_in_all")),
    ],
};

/// Residents are seats: needs and salaries belong to these, whoever plays them.
const RESIDENTS: Section = Section {
    name: "residents",
    labels: &["seat"],
    by: by_seat,
    fields: &[
        ("n", Count("survived")),
        ("survival_rate", Share("survived")),
        ("survival_rounds", Mean("survival_rounds")),
        ("days_with_water", Mean("days_with_water")),
        ("overbids", Total("overbids")),
    ],
};

/// The lowest bid that won, day by day.
const MINIMUM_BIDS: Section = Section {
    name: "minimum_bids",
    labels: &["day"],
    by: by_day,
    fields: &[
        ("sessions", Count("minimum_bid")),
        (
            "bids",
            Of(&["minimum_bid"], |sums| {
                quartiles(sums.values("minimum_bid")).into()
            }),
        ),
    ],
};

const DAYS: Section = Section {
    name: "days",
    labels: &["day"],
    by: by_day,
    fields: &[
        ("sessions", Count("living")),
        ("living", Mean("living")),
        ("rsr", Mean("rsr")),
    ],
};

/// Means over the sessions in which a resident lived in the morning.
const TRAJECTORIES: Section = Section {
    name: "trajectories",
    labels: &["seat", "day"],
    by: by_seat_and_day,
    fields: &[
        ("sessions", Count("balance")),
        ("bid", Mean("bid")),
        ("balance", Mean("balance")),
        ("health", Mean("health")),
    ],
};

fn by_seat(_: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    Some(vec![seat_label(one)?])
}

/// Days that are left out leave no row.
fn by_day(_: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    let day = one.at.round.filter(|_| one.counts())?;
    one.at.seat.is_none().then(|| vec![day.into()])
}

fn by_seat_and_day(_: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    let day = one.at.round.filter(|_| one.counts())?;
    Some(vec![seat_label(one)?, day.into()])
}

fn seat_label(one: &Observation<'_>) -> Option<Label> {
    i64::try_from(one.at.seat?).ok().map(Label::Number)
}

/// Who a resident is, and whether it lived at the end, session by session.
#[derive(Default)]
pub(crate) struct Resident {
    name: String,
    players: Vec<String>,
    survived: Vec<Value>,
}

impl Paper for Alympics {
    const GAMES: &'static [&'static str] = &[WATER_ALLOCATION];

    const PAPERS: &'static Papers = &published::PAPERS;

    const SECTIONS: &'static [&'static Section] =
        &[&TOWN, &RESIDENTS, &MINIMUM_BIDS, &DAYS, &TRAJECTORIES];

    /// By seat.
    type Kept = Vec<Resident>;

    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>> {
        reading::observe(record)
    }

    fn keep(gathered: &mut Gathered<Vec<Resident>>, session: &SessionObservations<'_>) {
        let names = reading::names(session.record);
        for one in session.iter().filter(|one| one.measure == "survived") {
            let Some(seat) = one.at.seat else { continue };
            let seats = gathered.kept.len().max(seat + 1);
            gathered.kept.resize_with(seats, Resident::default);
            let resident = &mut gathered.kept[seat];
            resident.name = names
                .get(seat)
                .map_or_else(|| format!("seat {seat}"), Clone::clone);
            let player = session.player(seat).unwrap_or_default();
            if !resident.players.iter().any(|known| known == player) {
                resident.players.push(player.to_owned());
            }
            let survived = one.counts().then_some(one.value > 0.0);
            resident.survived.push(survived.into());
        }
    }

    fn measures(&self, gathered: &Gathered<Vec<Resident>>) -> Row {
        let (supply, town) = gathered.all(TOWN.name).split(2);
        let supply = ["supply_min", "supply_max"].map(|end| supply.get(end).clone());
        let minimum_bids = minimum_bids(gathered);
        let mut medians = Accumulator::default();
        for row in &minimum_bids {
            medians.add_known(row.number("median"));
        }
        Row::default()
            .with("supply", Value::List(supply.into()))
            .with(RESIDENTS.name, residents(gathered))
            .and(town)
            .with(MINIMUM_BIDS.name, minimum_bids)
            .with("minimum_bid_medians", medians.mean())
            .with(DAYS.name, gathered.rows(DAYS.name))
            .with(TRAJECTORIES.name, trajectories(gathered))
    }

    fn tables(settings: &[Setting], layout: Layout) -> String {
        tables::render(settings, layout)
    }
}

fn residents(gathered: &Gathered<Vec<Resident>>) -> Vec<Row> {
    let rows = gathered.rows(RESIDENTS.name).into_iter();
    let rows = rows.zip(&gathered.kept).map(|(row, resident)| {
        let (seat, measures) = row.split(1);
        seat.with("resident", resident.name.clone())
            .with("players", list(resident.players.iter().cloned()))
            .with("survived", Value::List(resident.survived.clone()))
            .and(measures)
    });
    rows.collect()
}

/// Days without a winner in any session are left out.
fn minimum_bids(gathered: &Gathered<Vec<Resident>>) -> Vec<Row> {
    let mut rows = gathered.rows(MINIMUM_BIDS.name);
    rows.sort_by_key(|row| row.count("day"));
    let rows = rows.into_iter().filter_map(|row| {
        let quartiles = row.inner("bids");
        quartiles.number("median")?;
        Some(row.split(2).0.and(quartiles))
    });
    rows.collect()
}

fn trajectories(gathered: &Gathered<Vec<Resident>>) -> Vec<Row> {
    let days = gathered.rows(TRAJECTORIES.name);
    let rows = gathered.rows(RESIDENTS.name).into_iter().map(|resident| {
        let own = days
            .iter()
            .filter(|day| day.get("seat") == resident.get("seat"));
        let own: Vec<Row> = own.map(|day| day.clone().split(1).1).collect();
        resident.split(1).0.with("days", own)
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
