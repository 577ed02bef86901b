//! Published figures with one's own below them; facts, not targets. Each preset names its
//! table under `[report] compare`. Figures, and findings where papers have pictures only, are
//! files in `data/`, row by row with their source. Every report says what its tables are.

use csv::StringRecord;

use crate::basis::{Basis, PublishedTerms, explained};
use crate::gathered::Setting;
use crate::layout::Layout;
use crate::table::{Column, NONE, TextTable, number, paragraphs};
use crate::wrapping::prose;

/// Columns of a sheet of measures before these: condition and player.
const KEYS: usize = 2;

/// What must be known of every comparison.
const OURS: &str = "The wording of prompts is ours, not the paper's; what else differs is said in \
    docs/fidelity.md.";

/// The title of a comparison, with what must be known of all of them.
pub(crate) fn titled(title: &str, layout: Layout) -> String {
    prose(&format!("{title}. {OURS}"), layout)
}

/// The condition whose figures are published means over all others.
const AVERAGE: &str = "average";

/// What the papers of a report published.
pub(crate) struct Papers {
    pub tables: &'static [Published],
    /// The parameters with which the games of all tables were played.
    pub terms: PublishedTerms,
    /// What they found, in our words, table by table.
    pub findings: &'static str,
}

/// One published table.
pub(crate) struct Published {
    /// What an experiment calls it.
    pub name: &'static str,
    /// What it holds, and where it is published.
    pub title: &'static str,
    /// The parameters with which its games were played, beside those of the paper.
    pub terms: PublishedTerms,
    /// Its figures; none where nothing but pictures is published.
    pub sheets: &'static [Sheet],
}

/// Figures that belong in one table.
pub(crate) struct Sheet {
    /// What is said above them; empty where the title says it.
    pub title: &'static str,
    pub columns: Columns,
    /// Rows below their headings, the last column their source. The first heading says what
    /// conditions are of.
    pub rows: &'static str,
}

impl Sheet {
    /// Figures of conditions and players, under no heading of their own.
    pub const fn measures(rows: &'static str) -> Self {
        Self {
            title: "",
            columns: Columns::Measures,
            rows,
        }
    }

    /// The same sheet with these rows.
    pub const fn rows(&self, rows: &'static str) -> Self {
        Self {
            title: self.title,
            columns: self.columns,
            rows,
        }
    }
}

/// What the columns of a sheet are.
#[derive(Clone, Copy)]
pub(crate) enum Columns {
    /// Condition, player, and a measure each.
    Measures,
    /// The same, of all settings taken together and not of each.
    MeasuresOfAll,
    /// Condition, and for each player this measure.
    Players(&'static str),
}

/// A measure of settings by the heading that published figures have: decimals to show, and
/// the number of one player with what it weighs in a mean over settings.
pub(crate) type Measure = (
    &'static str,
    usize,
    fn(&Setting, &str) -> Option<(f64, f64)>,
);

/// Settings whose measures stand beside published ones.
pub(crate) trait Compared: 'static {
    /// What columns of published figures are among one's own measures.
    const MEASURES: &'static [Measure];

    /// Which published condition a setting belongs to, by what conditions are of.
    fn condition(setting: &Setting, key: &str) -> String;

    /// Names of those who have figures of their own in a setting.
    fn names(setting: &Setting) -> Vec<&str>;

    /// What the figures of such a name rest on.
    fn basis<'a>(setting: &'a Setting, name: &str) -> &'a Basis {
        setting.head.basis(name)
    }
}

impl Papers {
    /// What experiments call the tables.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tables.iter().map(|table| table.name)
    }

    /// What is published in words, with sources.
    fn findings(&self, name: &str, layout: Layout) -> Option<String> {
        let mut reader = csv::Reader::from_reader(self.findings.as_bytes());
        let columns = ["published finding", "source"].map(Column::words);
        let mut table = TextTable::new(columns.into());
        for row in reader.records() {
            let row = row.ok()?;
            if row.get(0) == Some(name) {
                table.row(row.iter().skip(1).map(str::to_owned));
            }
        }
        (!table.is_empty()).then(|| table.fitted(layout))
    }
}

/// The published table of this name, each of its conditions followed by what these settings
/// have for it, or `all` of them taken together, and the findings; `None` when there is no such
/// table.
pub(crate) fn beside<S: Compared>(
    papers: &Papers,
    settings: &[Setting],
    all: &[Setting],
    name: &str,
    layout: Layout,
) -> Option<String> {
    let published = papers.tables.iter().find(|table| table.name == name)?;
    let mut parts = vec![Some(titled(published.title, layout))];
    for sheet in published.sheets {
        let own = match sheet.columns {
            Columns::MeasuresOfAll => all,
            Columns::Measures | Columns::Players(_) => settings,
        };
        let compared = compared::<S>(sheet, [published.terms, papers.terms], own, layout);
        let titled = compared.map(|table| match sheet.title {
            "" => table,
            title => format!("{}\n\n{table}", prose(title, layout)),
        });
        parts.push(titled);
    }
    parts.push(papers.findings(name, layout));
    parts.push(explained(
        settings.iter().flat_map(|one| one.head.notes()),
        layout,
    ));
    Some(paragraphs(parts))
}

fn compared<S: Compared>(
    sheet: &Sheet,
    terms: [PublishedTerms; 2],
    settings: &[Setting],
    layout: Layout,
) -> Option<String> {
    let mut reader = csv::Reader::from_reader(sheet.rows.as_bytes());
    let headings = reader.headers().ok()?.clone();
    let published: Vec<StringRecord> = reader.records().collect::<Result<_, _>>().ok()?;
    let key = headings.get(0)?;
    let keys = sheet.columns.keys();
    let shown = headings.len().checked_sub(1)?;
    let measured: Vec<&str> = headings.iter().take(shown).skip(keys).collect();
    let mut conditions: Vec<String> = Vec::new();
    let of_rows = published.iter().filter_map(|row| row.get(0));
    let of_rows: Vec<&str> = of_rows.collect();
    let of_settings = settings.iter().map(|one| S::condition(one, key));
    let all = of_rows.iter().map(|row| (*row).to_owned());
    for condition in all.chain(of_settings) {
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    let mut columns = vec![Column::key("")];
    columns.extend(headings.iter().take(keys).map(Column::key));
    columns.extend(measured.iter().copied().map(Column::number));
    columns.push(Column::notes());
    let mut table = TextTable::new(columns);
    for name in &conditions {
        let of_condition = published.iter().filter(|row| row.get(0) == Some(name));
        for one in of_condition {
            let cells = one.iter().take(shown).enumerate();
            let filled = cells.map(|(place, cell)| match cell {
                "" if place >= keys => NONE,
                cell => cell,
            });
            table.row(row("published", filled, ""));
        }
        let own = settings.iter().filter(|one| match &**name {
            AVERAGE => of_rows.contains(&&*S::condition(one, key)),
            name => S::condition(one, key) == name,
        });
        let own: Vec<&Setting> = own.collect();
        let rows = match sheet.columns {
            Columns::Players(measure) => own_row::<S>(&own, name, &measured, measure)
                .into_iter()
                .collect(),
            Columns::Measures | Columns::MeasuresOfAll => own_rows::<S>(&own, name, &measured),
        };
        for (cells, basis) in rows {
            let notes = [Some(basis.in_words()), unlike_published(&basis, &terms)];
            let notes = notes
                .into_iter()
                .flatten()
                .filter(|words| !words.is_empty());
            let notes: Vec<String> = notes.collect();
            let cells = cells.iter().map(String::as_str);
            table.row(row("yours", cells, &notes.join(", ")));
        }
    }
    (!table.is_empty()).then(|| table.fitted(layout))
}

impl Columns {
    /// Columns before those of numbers.
    fn keys(self) -> usize {
        match self {
            Self::Measures | Self::MeasuresOfAll => KEYS,
            Self::Players(_) => KEYS - 1,
        }
    }
}

fn row<'a>(whose: &'a str, cells: impl Iterator<Item = &'a str>, notes: &'a str) -> Vec<String> {
    let cells = [whose].into_iter().chain(cells).chain([notes]);
    cells.map(str::to_owned).collect()
}

/// The cells of one's own figures, and what they rest on.
type Own = (Vec<String>, Basis);

/// What one's own figures of these names rest on.
fn basis<S: Compared>(settings: &[&Setting], names: &[&str]) -> Basis {
    let mut basis = Basis::default();
    for one in settings {
        for name in S::names(one)
            .into_iter()
            .filter(|name| names.contains(name))
        {
            basis.merge(S::basis(one, name));
        }
    }
    basis
}

/// One row per player that has any of these measures in these settings.
fn own_rows<S: Compared>(settings: &[&Setting], condition: &str, measured: &[&str]) -> Vec<Own> {
    let mut names: Vec<&str> = Vec::new();
    for name in settings.iter().flat_map(|one| S::names(one)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let rows = names.into_iter().filter_map(|name| {
        let numbers = measured
            .iter()
            .map(|heading| own::<S>(settings, name, heading));
        let basis = basis::<S>(settings, &[name]);
        filled(&[condition, name], numbers.collect(), basis)
    });
    rows.collect()
}

/// One row with the measure of every player that has a column.
fn own_row<S: Compared>(
    settings: &[&Setting],
    condition: &str,
    players: &[&str],
    measure: &str,
) -> Option<Own> {
    let numbers = players.iter().map(|name| own::<S>(settings, name, measure));
    let basis = basis::<S>(settings, players);
    filled(&[condition], numbers.collect(), basis)
}

/// A row of one's own; `None` when it has no number, unless that is because too little was
/// answered.
fn filled(keys: &[&str], numbers: Vec<Option<String>>, basis: Basis) -> Option<Own> {
    if numbers.iter().all(Option::is_none) && !basis.is_left_out() {
        return None;
    }
    let numbers = numbers.into_iter();
    let numbers = numbers.map(|cell| cell.unwrap_or_else(|| NONE.to_owned()));
    let keys = keys.iter().map(|key| (*key).to_owned());
    Some((keys.chain(numbers).collect(), basis))
}

/// Which parameters are not those of what is published; `None` where all are.
pub(crate) fn unlike_published(basis: &Basis, terms: &[PublishedTerms]) -> Option<String> {
    let unusual: Vec<String> = basis.unusual(terms).into_iter().collect();
    (!unusual.is_empty()).then(|| format!("not as published: {}", unusual.join(" and ")))
}

/// A player's weighted mean of a measure over settings; `None` where it has none.
fn own<S: Compared>(settings: &[&Setting], name: &str, heading: &str) -> Option<String> {
    let (_, decimals, measure) = S::MEASURES.iter().find(|(known, ..)| *known == heading)?;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in settings.iter().filter_map(|one| measure(one, name)) {
        sum += value * weight;
        weights += weight;
    }
    (weights > 0.0).then(|| number(Some(sum / weights), *decimals))
}

/// Asserts that every row has a source and every column a measure of one's own, and that
/// every finding belongs to a table; returns how many rows and findings there are.
#[cfg(test)]
pub(crate) fn check<S: Compared>(papers: &Papers) -> (usize, usize) {
    let known = |heading: &str| S::MEASURES.iter().any(|(name, ..)| *name == heading);
    let mut rows = 0;
    let of_table =
        |table: &'static Published| table.sheets.iter().map(move |one| (table.name, one));
    for (name, sheet) in papers.tables.iter().flat_map(of_table) {
        let mut reader = csv::Reader::from_reader(sheet.rows.as_bytes());
        let headings = reader.headers().unwrap().clone();
        let (keys, measured) = (sheet.columns.keys(), headings.len() - 1);
        assert_eq!(headings.get(measured), Some("source"), "{name}");
        match sheet.columns {
            Columns::Measures | Columns::MeasuresOfAll => {
                for heading in headings.iter().take(measured).skip(keys) {
                    assert!(known(heading), "{name}: {heading}");
                }
            }
            Columns::Players(measure) => assert!(known(measure), "{name}: {measure}"),
        }
        for row in reader.records() {
            let row = row.unwrap();
            assert!(row.len() == headings.len(), "{row:?}");
            assert!(row[measured].contains(", "), "{row:?}");
            let cells = row.iter().take(measured).skip(keys);
            for cell in cells.filter(|cell| !cell.is_empty()) {
                assert!(cell.parse::<f64>().is_ok(), "{row:?}");
            }
            rows += 1;
        }
    }
    let mut findings = 0;
    let mut reader = csv::Reader::from_reader(papers.findings.as_bytes());
    for row in reader.records() {
        let row = row.unwrap();
        let known = papers.names().any(|name| Some(name) == row.get(0));
        assert!(known && !row[1].is_empty() && !row[2].is_empty(), "{row:?}");
        findings += 1;
    }
    (rows, findings)
}
