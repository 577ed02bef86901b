//! The measures of the Water Allocation Challenge as text: survival, the town as a whole,
//! day by day what water costs and how scarce it is, and trajectories, setting by setting as
//! far as there is room; the rest is in the JSON.

use super::{DayRow, MinimumBidRow, ResidentRow, SettingMeasures, TrajectoryPoint};
use crate::table::{
    Cells, Column, Row, SettingTables, columns, count, evenly, in_json, mean_and_spread, number,
    of_values, paragraphs, part_of, sessions_of,
};
use crate::wrapping::prose;

/// Days that have columns; of longer games some are shown, the first and last among them.
const MOST_DAYS: usize = 8;

/// Sessions whose ends are shown one by one.
const MOST_MARKS: usize = 20;

/// Rows of a table that are printed: four towns of five with three rows each. The settings
/// that go beyond are in the JSON.
const MOST_ROWS: usize = 60;

/// What is counted of residents.
const SURVIVAL: &str = "Survival: n, sessions; share of them that a resident survives, mean last day, \
    mean days with water, bids above the balance in all";

/// What single letters mean.
const MARKS: &str = "; session by session, + lived, . did not, ? left out";

/// What is measured of towns.
const TOWNS: &str = "Towns: n, sessions; residents that survive, resource satisfaction rate, mean over \
    days of the median of the lowest bid that won";

/// What is measured day by day.
const DAY_BY_DAY: &str = "Day by day: quartiles of the lowest bid that won, the living and their \
    resource satisfaction rate in the morning";

/// What trajectories show.
const TRAJECTORIES: &str = "Trajectories on some days: mean bid, balance and health in the evening, of \
    sessions in which the resident lived in the morning";

type Tables<'a> = SettingTables<'a, SettingMeasures>;

/// The tables of these settings in at most `width` columns.
pub(super) fn render(settings: &[SettingMeasures], width: u16) -> String {
    let sessions = sessions_of(settings, "session");
    let title = format!("Measures of {sessions} of the Water Allocation Challenge");
    let rest = "Every day, session by session, and what tables have no room for";
    let tables = Tables { settings, width };
    paragraphs([
        Some(prose(&title, width)),
        tables.survival(),
        tables.town(),
        tables.day_by_day(),
        tables.trajectories(),
        Some(in_json(rest, width)),
    ])
}

impl Tables<'_> {
    fn survival(&self) -> Option<String> {
        let has_marks = |one: &SettingMeasures| one.head.sessions <= MOST_MARKS as u64;
        let has_marks = self.settings.iter().all(has_marks);
        let title = format!("{SURVIVAL}{}", if has_marks { MARKS } else { "" });
        let mut columns = vec![Column::key("resident"), Column::key("player")];
        columns.push(Column::words("sessions"));
        let headings = [
            "n",
            "survival",
            "last day",
            "days with water",
            "bids above balance",
        ];
        columns.extend(headings.map(Column::number));
        self.some_of(&title, columns, MOST_ROWS, |setting| {
            let rows = setting.residents.iter().map(|row| {
                let cells = vec![
                    row.players.join(", "),
                    if has_marks { marks(row) } else { String::new() },
                    part_of(row.n, row.survived.len() as u64),
                    number(row.survival_rate, 2),
                    number(row.survival_rounds, 1),
                    number(row.days_with_water, 1),
                    count(row.overbids),
                ];
                Row::of(&row.resident, &row.players, cells)
            });
            rows.collect()
        })
    }

    fn town(&self) -> Option<String> {
        let headings = ["survivors", "rate", "RSR start", "RSR end", "lowest bid"];
        self.table(TOWNS, columns("n", headings), |setting| {
            let n = setting.survivors.len() as u64;
            let cells = vec![
                mean_and_spread(setting.survivors_mean, setting.survivors_sd, 2),
                number(setting.survival_rate, 2),
                number(setting.rsr_start, 2),
                of_values(number(setting.rsr_end, 2), setting.rsr_end_sessions, n),
                number(setting.minimum_bid_medians, 1),
            ];
            vec![Row::all(&part_of(n, setting.head.sessions), cells)]
        })
    }

    fn day_by_day(&self) -> Option<String> {
        let days = self.settings.iter().map(|setting| setting.days.len());
        let shown = evenly(days.max()?, MOST_DAYS);
        let days: Vec<u32> = shown.iter().map(|place| *place as u32 + 1).collect();
        let columns = columns("on day", days.iter().map(u32::to_string));
        self.some_of(DAY_BY_DAY, columns, MOST_ROWS, |setting| {
            let bids = |of: fn(&MinimumBidRow) -> f64| -> Cells {
                let cells = days.iter().map(|day| {
                    let row = setting.minimum_bids.iter().find(|row| row.day == *day);
                    number(row.map(of), 1)
                });
                cells.collect()
            };
            let morning = |of: fn(&DayRow) -> Option<f64>| -> Cells {
                let cells = days.iter().map(|day| {
                    let row = setting.days.iter().find(|row| row.day == *day);
                    number(row.and_then(of), 2)
                });
                cells.collect()
            };
            vec![
                Row::all("upper quartile", bids(|row| row.bids.upper)),
                Row::all("median bid", bids(|row| row.bids.median)),
                Row::all("lower quartile", bids(|row| row.bids.lower)),
                Row::all("living", morning(|row| row.living)),
                Row::all("RSR", morning(|row| row.rsr)),
            ]
        })
    }

    fn trajectories(&self) -> Option<String> {
        let all = self.settings.iter();
        let all = all.flat_map(|setting| &setting.trajectories);
        let longest = all.map(|row| row.days.len()).max()?;
        let shown = evenly(longest, MOST_DAYS);
        let mut columns = vec![Column::key("resident"), Column::key("measure")];
        let days = shown.iter().map(|place| (place + 1).to_string());
        columns.extend(days.map(Column::number));
        self.some_of(TRAJECTORIES, columns, MOST_ROWS, |setting| {
            trajectory_rows(setting, &shown)
        })
    }
}

/// One letter per session.
fn marks(row: &ResidentRow) -> String {
    let marks = row.survived.iter().map(|survived| match survived {
        Some(true) => '+',
        Some(false) => '.',
        None => '?',
    });
    marks.collect()
}

/// Bid, balance and health of each resident, one row each.
fn trajectory_rows(setting: &SettingMeasures, shown: &[usize]) -> Vec<Row> {
    type Of = fn(&TrajectoryPoint) -> Option<f64>;
    let residents = setting.residents.iter().zip(&setting.trajectories);
    let rows = residents.flat_map(|(resident, row)| {
        let cells = |what: &str, of: Of| -> Cells {
            let points = shown.iter().map(|day| row.days.get(*day));
            let numbers = points.map(|point| number(point.and_then(of), 1));
            [what.to_owned()].into_iter().chain(numbers).collect()
        };
        let bids = cells("bid", |point| point.bid);
        [
            Row::of(&resident.resident, &resident.players, bids),
            Row::more(cells("balance", |point| point.balance)),
            Row::more(cells("health", |point| point.health)),
        ]
    });
    rows.collect()
}
