//! The measures of the Water Allocation Challenge as text: survival, the town as a whole,
//! day by day what water costs and how scarce it is, and trajectories, setting by setting as
//! far as there is room; the rest is in the JSON.

use crate::gathered::Setting;
use crate::layout::Layout;
use crate::row::{Row, Value};
use crate::table::{
    Cell, Cells, Column, Line, SettingTables, cells_of, columns, evenly, headings, in_json, number,
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

/// The tables of these settings in this layout.
pub(super) fn render(settings: &[Setting], layout: Layout) -> String {
    let sessions = sessions_of(settings, "session");
    let title = format!("Measures of {sessions} of the Water Allocation Challenge");
    let rest = "Every day, session by session, and what tables have no room for";
    let tables = SettingTables { settings, layout };
    paragraphs([
        Some(prose(&title, layout)),
        survival(&tables),
        town(&tables),
        day_by_day(&tables),
        trajectories(&tables),
        Some(in_json(rest, layout)),
    ])
}

const RESIDENTS: [(&str, Cell); 7] = [
    ("player", Cell::Words("players")),
    ("sessions", Cell::Made(marks)),
    (
        "n",
        Cell::Made(|row| part_of(row.count("n"), row.list("survived").len() as u64)),
    ),
    ("survival", Cell::Number("survival_rate", 2)),
    ("last day", Cell::Number("survival_rounds", 1)),
    ("days with water", Cell::Number("days_with_water", 1)),
    ("bids above balance", Cell::Count("overbids")),
];

/// The town as a whole, after how many sessions it is measured in.
const TOWN: [(&str, Cell); 5] = [
    (
        "survivors",
        Cell::Spread("survivors_mean", "survivors_sd", 2),
    ),
    ("rate", Cell::Number("survival_rate", 2)),
    ("RSR start", Cell::Number("rsr_start", 2)),
    (
        "RSR end",
        Cell::Made(|row| {
            let n = row.list("survivors").len() as u64;
            of_values(
                number(row.number("rsr_end"), 2),
                row.count("rsr_end_sessions"),
                n,
            )
        }),
    ),
    ("lowest bid", Cell::Number("minimum_bid_medians", 1)),
];

/// What is shown of each day: the section, the number and its decimals.
const DAYS: [(&str, &str, &str, usize); 5] = [
    ("upper quartile", "minimum_bids", "upper", 1),
    ("median bid", "minimum_bids", "median", 1),
    ("lower quartile", "minimum_bids", "lower", 1),
    ("living", "days", "living", 2),
    ("RSR", "days", "rsr", 2),
];

fn survival(tables: &SettingTables<'_>) -> Option<String> {
    let has_marks = |one: &Setting| one.head.sessions <= MOST_MARKS as u64;
    let has_marks = tables.settings.iter().all(has_marks);
    let title = format!("{SURVIVAL}{}", if has_marks { MARKS } else { "" });
    let mut columns = vec![Column::key("resident"), Column::key("player")];
    columns.push(Column::words("sessions"));
    columns.extend(
        headings(&RESIDENTS)[2..]
            .iter()
            .copied()
            .map(Column::number),
    );
    tables.some_of(&title, columns, MOST_ROWS, |setting| {
        let rows = setting.rows("residents").iter().map(|row| {
            let mut cells = cells_of(row, &RESIDENTS);
            if !has_marks {
                cells[1].clear();
            }
            resident(row, cells)
        });
        rows.collect()
    })
}

fn town(tables: &SettingTables<'_>) -> Option<String> {
    tables.table(TOWNS, columns("n", headings(&TOWN)), |setting| {
        let n = setting.measures.list("survivors").len() as u64;
        let cells = cells_of(&setting.measures, &TOWN);
        vec![Line::all(&part_of(n, setting.head.sessions), cells)]
    })
}

fn day_by_day(tables: &SettingTables<'_>) -> Option<String> {
    let days = tables
        .settings
        .iter()
        .map(|setting| setting.rows("days").len());
    let shown = evenly(days.max()?, MOST_DAYS);
    let days: Vec<u64> = shown.iter().map(|place| *place as u64 + 1).collect();
    let columns = columns("on day", days.iter().map(u64::to_string));
    tables.some_of(DAY_BY_DAY, columns, MOST_ROWS, |setting| {
        let rows = DAYS.iter().map(|(label, section, measure, decimals)| {
            let cells = days.iter().map(|day| {
                let mut rows = setting.rows(section).iter();
                let row = rows.find(|row| row.count("day") == *day);
                number(row.and_then(|row| row.number(measure)), *decimals)
            });
            Line::all(label, cells.collect())
        });
        rows.collect()
    })
}

fn trajectories(tables: &SettingTables<'_>) -> Option<String> {
    let all = tables.settings.iter();
    let all = all.flat_map(|setting| setting.rows("trajectories"));
    let longest = all.map(|row| row.rows("days").len()).max()?;
    let shown = evenly(longest, MOST_DAYS);
    let mut columns = vec![Column::key("resident"), Column::key("measure")];
    let days = shown.iter().map(|place| (place + 1).to_string());
    columns.extend(days.map(Column::number));
    tables.some_of(TRAJECTORIES, columns, MOST_ROWS, |setting| {
        trajectory_rows(setting, &shown)
    })
}

/// A line of a resident, whoever played it.
fn resident(row: &Row, cells: Cells) -> Line {
    let players = row.words("players").into_iter().map(str::to_owned);
    Line::of(row.word("resident"), &players.collect::<Vec<_>>(), cells)
}

/// One letter per session.
fn marks(row: &Row) -> String {
    let marks = row.list("survived").iter().map(|survived| match survived {
        Value::Flag(true) => '+',
        Value::Flag(false) => '.',
        _ => '?',
    });
    marks.collect()
}

/// Bid, balance and health of each resident, one row each.
fn trajectory_rows(setting: &Setting, shown: &[usize]) -> Vec<Line> {
    let residents = setting.rows("residents").iter();
    let residents = residents.zip(setting.rows("trajectories"));
    let rows = residents.flat_map(|(of, row)| {
        let cells = |measure: &str| -> Cells {
            let points = shown.iter().map(|day| row.rows("days").get(*day));
            let numbers = points.map(|point| number(point.and_then(|one| one.number(measure)), 1));
            [measure.to_owned()].into_iter().chain(numbers).collect()
        };
        [
            resident(of, cells("bid")),
            Line::more(cells("balance")),
            Line::more(cells("health")),
        ]
    });
    rows.collect()
}
