//! Marks that judges gave to what a player did (Alympics, arXiv 2311.03220, section 7 and
//! table 3), criterion by criterion. Definitions stand in `docs/measures.md`.

mod published;

use agon_engine::Value;
use agon_engine::record::StoredRecord;
use serde::Serialize;

use crate::accumulator::Accumulator;
use crate::basis::SessionAnswers;
use crate::by_player::ByPlayer;
use crate::game_report::SettingReport;
use crate::published::Papers;
use crate::settings::{BySetting, OfSetting, SettingHead};
use crate::statistics::{Quartiles, quartiles};
use crate::table::{
    Row, SettingTables, columns, count, in_json, mean_and_spread, number, paragraphs, sessions_of,
};
use published::PAPERS;

/// The game whose records are measured.
pub const JUDGING: &str = "judging";

/// Who is judged where nothing else is said.
const AGENTS: &str = "agents";

/// The label of settings in which persons judge themselves.
const PERSONS: &str = "persons";

/// What is counted of criteria.
const CRITERIA: &str = "All settings together, criterion by criterion: marks over records and judges, \
    \u{b1} standard deviation over these, although marks of one record depend on each other; \
    spread: highest less lowest mark of a record";

/// Marks of any number of records; other games are passed over.
#[derive(Debug, Clone, Default)]
pub struct JudgingReport {
    settings: BySetting<Gathered>,
}

/// Criteria by name, in the order in which they were asked.
type Gathered = ByPlayer<Marks>;

#[derive(Debug, Clone, Default)]
struct Marks {
    given: Vec<f64>,
    spread: Accumulator,
}

/// The measures of one setting, for tables, charts and other programs; what is not defined
/// is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingMeasures {
    /// Which setting, and how many sessions it had: one for every record and repeat.
    #[serde(flatten)]
    pub head: SettingHead,
    /// Who is judged: `persons` where the label says so, or else `agents`.
    pub about: String,
    /// Criterion by criterion.
    pub criteria: Vec<CriterionRow>,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriterionRow {
    /// Its name.
    pub criterion: String,
    /// Marks that were given, over records and judges.
    pub marks: u64,
    /// Their mean.
    pub mean: Option<f64>,
    /// Their standard deviation (n - 1).
    pub sd: Option<f64>,
    /// Their quartiles.
    pub quartiles: Option<Quartiles>,
    /// Mean over records of the highest mark less the lowest: how far judges disagree.
    pub spread: Option<f64>,
    /// How many records have a mark.
    pub records: u64,
}

impl JudgingReport {
    /// The measures of every setting, in the order in which settings came first.
    pub fn settings(&self) -> Vec<SettingMeasures> {
        let settings = self.settings.iter();
        let measures = settings.map(|(head, gathered)| SettingMeasures {
            about: about(&head).to_owned(),
            head,
            criteria: rows(gathered),
        });
        measures.collect()
    }

    /// The same over all settings about agents, and over all about persons: what is judged
    /// is often a setting of its own.
    fn pooled(&self) -> Vec<SettingMeasures> {
        let pooled = [AGENTS, PERSONS].into_iter().filter_map(|who| {
            let mut head = SettingHead {
                game: JUDGING.to_owned(),
                setting: who.to_owned(),
                ..SettingHead::default()
            };
            let mut all = Gathered::default();
            for (one, gathered) in self.settings.iter().filter(|(one, _)| about(one) == who) {
                head.sessions += one.sessions;
                head.simulated += one.simulated;
                head.answers.merge(&one.answers);
                for (criterion, marks) in gathered.iter() {
                    let sums = all.of(criterion);
                    sums.given.extend(&marks.given);
                    sums.spread.merge(&marks.spread);
                }
            }
            (head.sessions > 0).then(|| SettingMeasures {
                head,
                about: who.to_owned(),
                criteria: rows(&all),
            })
        });
        pooled.collect()
    }
}

fn about(head: &SettingHead) -> &'static str {
    let label = head.label();
    let rest = label.strip_prefix(PERSONS);
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) {
        PERSONS
    } else {
        AGENTS
    }
}

fn rows(gathered: &Gathered) -> Vec<CriterionRow> {
    let rows = gathered.iter().map(|(criterion, marks)| {
        let mut all = Accumulator::default();
        for mark in &marks.given {
            all.add(*mark);
        }
        CriterionRow {
            criterion: criterion.to_owned(),
            marks: all.count(),
            mean: all.mean(),
            sd: all.standard_deviation(),
            quartiles: quartiles(&marks.given),
            spread: marks.spread.mean(),
            records: marks.spread.count(),
        }
    });
    rows.collect()
}

impl OfSetting for SettingMeasures {
    fn head(&self) -> &SettingHead {
        &self.head
    }
}

impl SettingReport for JudgingReport {
    type Measures = SettingMeasures;

    const GAMES: &'static [&'static str] = &[JUDGING];

    const PAPERS: &'static Papers = &PAPERS;

    fn take_in(&mut self, record: &StoredRecord) -> bool {
        if record.spec.game != JUDGING {
            return false;
        }
        let gathered = self.settings.count(record);
        let measured = SessionAnswers::of(record).measured_seats(&record.spec.seats);
        let of_kind = |kind: &'static str| record.events.iter().filter(move |one| one.kind == kind);
        for opened in of_kind("criterion_opened") {
            let Some(criterion) = opened.get("criterion").and_then(Value::text) else {
                continue;
            };
            let marks = gathered.of(criterion);
            let mut results = of_kind("round_result");
            let result = results.find(|result| result.round == opened.round);
            let Some(given) = result.and_then(|result| result.get("ratings")) else {
                continue;
            };
            let judges = (0..given.len()).filter(|judge| measured.get(*judge) == Some(&true));
            let given = judges.filter_map(|judge| given.entry(judge).number());
            let given: Vec<f64> = given.collect();
            if let Some(all) = quartiles(&given) {
                marks.spread.add(all.most - all.least);
            }
            marks.given.extend(given);
        }
        true
    }

    fn has_nothing(&self) -> bool {
        self.settings.is_empty()
    }

    fn measured(&self) -> Vec<SettingMeasures> {
        self.settings()
    }

    fn shown(&self) -> Vec<SettingMeasures> {
        self.pooled()
    }

    fn tables(settings: &[SettingMeasures], width: u16) -> String {
        let title = format!("Marks of {} of judging", sessions_of(settings, "session"));
        let tables = SettingTables { settings, width };
        let headings = [
            "marks", "mean", "lower", "median", "upper", "records", "spread",
        ];
        let table = tables.table(CRITERIA, columns("criterion", headings), |setting| {
            let rows = setting.criteria.iter().map(|row| {
                let quartile =
                    |of: fn(&Quartiles) -> f64| number(row.quartiles.as_ref().map(of), 2);
                let cells = vec![
                    count(row.marks),
                    mean_and_spread(row.mean, row.sd, 2),
                    quartile(|one| one.lower),
                    quartile(|one| one.median),
                    quartile(|one| one.upper),
                    count(row.records),
                    number(row.spread, 2),
                ];
                Row::all(&row.criterion.replace('_', " "), cells)
            });
            rows.collect()
        });
        let rest = in_json("Setting by setting", width);
        paragraphs([Some(title), table, Some(rest)])
    }
}

#[cfg(test)]
mod tests;
