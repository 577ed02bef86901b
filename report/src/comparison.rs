//! Sets of sessions compared pair by pair with the first of them: sessions of the same game, setting
//! and luck, one from each set. What has no partner is counted and left out, each side keeps the marks of
//! its answers, and a simulated session is never compared with a real one. Called by `agon compare`, and
//! for the page of a report.

mod main;
mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_outlets::line;

use crate::accumulator::Accumulator;
use crate::axes::{Axes, AxisNames, axes_of, axes_without_models};
use crate::basis::{Answers, Basis, explained};
use crate::layout::Layout;
use crate::players::players_of;
use crate::ranges::cut_difference;
use crate::session::Session;
use crate::standings::from_to;
use crate::statistics::mean_interval::{CAVEAT, METHOD};
use crate::statistics::{
    detectable_effect, holm, mean_interval, paired_effect, paired_t_test, pairs_needed,
    sampled_sign_flip_test, sign_flip, sign_flip_test,
};
use crate::table::{Column, NONE, TextTable, count, counted, number, paragraphs};
use crate::wrapping::prose;

pub use main::MainComparison;

use row::{Row, rows_of};

/// Up to so many pairs the permutation test is exact.
const MOST_EXACT: usize = sign_flip::MOST_PAIRS;

/// Up to so many its choices are sampled; beyond, Student's test of the differences.
const MOST_SAMPLED: usize = sign_flip::MOST_SAMPLED;

/// Before the name of a score's scheme.
const SCORE: &str = "score ";

/// Instead of a measure: the sessions themselves, with or without scores.
const SESSIONS: &str = "";

/// What numbers rest on is kept once for sessions alike, among so many kinds.
const MOST_KINDS: usize = 64;

/// What is compared: a number of sessions of a game in a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct What {
    game: String,
    /// Axes as JSON: those that all sets may have in common.
    setting: Arc<str>,
    measure: String,
}

/// What pairs have in common: seed and repeat. Sessions of a series are one.
type LuckKey = (u64, u32);

/// What one player of one side has, by luck.
type Values = BTreeMap<LuckKey, Known>;

/// What is known of one session or series.
#[derive(Debug, Clone, Default)]
struct Known {
    /// Its mean is the one over the sessions of a series; without a number where it is left out.
    numbers: Accumulator,
    basis: Arc<Basis>,
}

/// What one set has of something.
#[derive(Debug, Clone, Default)]
struct Sided {
    /// By who plays.
    by_players: BTreeMap<String, Values>,
    /// Whether models that answered were simulated; nothing where only rules played.
    simulated: BTreeSet<bool>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Comparison {
    names: AxisNames,
    /// By their JSON, which sets share.
    axes: BTreeMap<Arc<str>, Axes>,
    sets: Vec<Set>,
    /// What numbers rest on, of the first kinds of sessions.
    kinds: Vec<Arc<Basis>>,
}

/// A set of a [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetId(usize);

/// One of the sets that are compared.
#[derive(Debug)]
struct Set {
    called: String,
    values: BTreeMap<What, Sided>,
    sessions: u64,
}

impl Comparison {
    /// Another set, without sessions yet. The first one is what others are compared with.
    pub fn set(&mut self, called: &str) -> SetId {
        self.sets.push(Set {
            called: called.to_owned(),
            values: BTreeMap::new(),
            sessions: 0,
        });
        SetId(self.sets.len() - 1)
    }

    /// Takes in a session of a set; sets may be of different models.
    pub fn add(&mut self, set: SetId, session: &Session) {
        let players = players_of(&session.spec.seats);
        self.add_as(set, session, axes_without_models(&session.spec), players);
    }

    /// Takes in a session of a set that is a value of an axis; all else, models too, is the setting.
    fn add_of_axis(&mut self, axis: &str, set: SetId, session: &Session) {
        let mut axes = axes_of(&session.spec);
        axes.remove(axis);
        // Seats of equal names, whatever the axis makes of who sits there.
        let mut names: Vec<&str> = Vec::new();
        for seat in &session.spec.seats {
            if !names.contains(&&*seat.name) {
                names.push(&seat.name);
            }
        }
        self.add_as(set, session, axes, names.join(" + "));
    }

    fn add_as(&mut self, set: SetId, session: &Session, axes: Axes, players: String) {
        let spec = &session.spec;
        self.names.add(spec);
        let text = serde_json::to_string(&axes).unwrap_or_default();
        let setting = match self.axes.get_key_value(&*text) {
            Some((setting, _)) => Arc::clone(setting),
            None => {
                let setting: Arc<str> = text.into();
                self.axes.insert(Arc::clone(&setting), axes);
                setting
            }
        };
        let has_models = session.decisions() > 0 || spec.is_imported();
        let simulated = has_models.then_some(session.simulated);
        let whole = self.kind(session, session.answers().all());
        let scores = session.scores().into_iter();
        let scores = scores.map(|(scheme, score)| (format!("{SCORE}{scheme}"), Some(score)));
        let scores = scores.chain([(SESSIONS.to_owned(), None)]);
        let scores = scores.map(|(measure, score)| (measure, score, Arc::clone(&whole)));
        let mut measured: Vec<(String, Option<f64>, Arc<Basis>)> = scores.collect();
        let paid = session.paid();
        // Two sets may call the same seats by the names of their models.
        let is_one = paid.len() == 1;
        for paid in paid {
            let measure = match is_one {
                true => "payoff".to_owned(),
                false => format!("payoff of {}", paid.player),
            };
            measured.push((measure, paid.payoff, self.kind(session, &paid.answers)));
        }
        let Some(set) = self.sets.get_mut(set.0) else {
            return;
        };
        set.sessions += 1;
        for (measure, value, basis) in measured {
            let what = What {
                game: spec.game.clone(),
                setting: Arc::clone(&setting),
                measure,
            };
            let sided = set.values.entry(what).or_default();
            sided.simulated.extend(simulated);
            let values = sided.by_players.entry(players.clone()).or_default();
            let luck = (spec.luck.seed, spec.luck.repeat);
            let known = values.entry(luck);
            let known = known
                .and_modify(|known| Arc::make_mut(&mut known.basis).merge(&basis))
                .or_insert_with(|| Known {
                    basis,
                    ..Known::default()
                });
            known.numbers.add_known(value);
        }
    }

    /// What numbers of a session rest on, kept once for many sessions.
    fn kind(&mut self, session: &Session, answers: &Answers) -> Arc<Basis> {
        let mut basis = Basis::default();
        basis.add(&session.spec, session.answers(), answers);
        if let Some(known) = self.kinds.iter().find(|known| ***known == basis) {
            return Arc::clone(known);
        }
        let basis = Arc::new(basis);
        if self.kinds.len() < MOST_KINDS {
            self.kinds.push(Arc::clone(&basis));
        }
        basis
    }

    /// Puts the sets into the order of what they are called, numbers by their size.
    fn sort(&mut self) {
        let number = |set: &Set| set.called.parse::<f64>().ok();
        self.sets
            .sort_by(|one, other| match (number(one), number(other)) {
                (Some(one), Some(other)) => one.total_cmp(&other),
                _ => one.called.cmp(&other.called),
            });
    }

    /// The table: a row for every number that the first set and another have.
    pub fn render(&self, layout: Layout) -> String {
        self.table(self.rows(), layout)
    }

    /// The same of rows that have pairs, and how many have none; `None` where no row has any.
    fn render_pairs(&self, layout: Layout) -> Option<String> {
        let (paired, alone): (Vec<Row>, Vec<Row>) = self
            .rows()
            .into_iter()
            .partition(|row| !row.pairs.is_empty());
        let alone = (!alone.is_empty()).then(|| {
            let rows = counted(alone.len() as u64, "row");
            prose(&format!("Left out: {rows} without a pair"), layout)
        });
        (!paired.is_empty()).then(|| paragraphs([Some(self.table(paired, layout)), alone]))
    }

    fn table(&self, rows: Vec<Row>, layout: Layout) -> String {
        let p_values: Vec<Option<(f64, &str)>> = rows.iter().map(|row| p_of(&row.pairs)).collect();
        let known: Vec<f64> = p_values.iter().flatten().map(|(p, _)| *p).collect();
        let mut adjusted = holm(&known).into_iter();
        let mut columns = ["game", "setting", "measure"].map(Column::key).to_vec();
        if self.has_several() {
            columns.insert(0, Column::key("B is"));
        }
        let headings = [
            "pairs", "A", "B", "B - A", "95 %", "p", "Holm", "d_z", "of d_z", "MDE", "needed",
        ];
        columns.extend(headings.map(Column::number));
        columns.push(Column::notes());
        let mut table = TextTable::new(columns);
        for (row, p) in rows.iter().zip(&p_values) {
            let holm = p.and_then(|_| adjusted.next());
            table.row(self.cells(row, *p, holm));
        }
        let title = format!(
            "{}. Pairs are sessions of the same game, setting and luck (seed \
             and repeat; a series is one); one that is left out on either side is none. B - A with its 95 % interval over pairs ({METHOD}); p \
             of the permutation test of signs, exact up to {MOST_EXACT} pairs and over a sample of \
             {} choices above; Holm, adjusted for all rows; d_z, mean over standard deviation of the \
             differences, with its 95 % interval (noncentral t); MDE, the smallest B - A that so many \
             pairs show with a chance of 80 % (t test at 5 %); needed, pairs that the B - A found here \
             needs for that; {CAVEAT}",
            self.who_is_compared(),
            count(u64::from(sign_flip::DRAWS)),
        );
        let nothing = "No session of A has a partner in B: pairs need the same game, setting, seed and \
                       repeat, and both simulated or neither.";
        let has_pairs = rows.iter().any(|row| !row.pairs.is_empty());
        let table = match (table.is_empty(), has_pairs) {
            (true, _) => None,
            (false, _) => Some(table.fitted(layout)),
        };
        let notes = rows.iter().flat_map(|row| &row.bases);
        paragraphs([
            Some(prose(&title, layout)),
            table,
            (!has_pairs).then(|| prose(nothing, layout)),
            explained(notes.flat_map(Basis::notes), layout),
        ])
    }

    /// Whether the first set is compared with more than one.
    fn has_several(&self) -> bool {
        self.sets.len() > 2
    }

    fn who_is_compared(&self) -> String {
        let is = |set: &Set| {
            let called = line(&set.called);
            format!("{called}, {}", counted(set.sessions, "session"))
        };
        match self.sets.as_slice() {
            [] => "Nothing is compared".to_owned(),
            [a] => format!("A is {}; there is no B", is(a)),
            [a, b] => format!("A is {}; B is {}", is(a), is(b)),
            [a, others @ ..] => {
                let others: Vec<String> = others.iter().map(is).collect();
                format!("A is {}; B is one of: {}", is(a), others.join("; "))
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let Some((first, others)) = self.sets.split_first() else {
            return Vec::new();
        };
        let others = others.iter().enumerate();
        let rows = others.map(|(place, other)| rows_of(first, other, place + 1));
        rows.flatten().collect()
    }

    fn cells(&self, row: &Row, p: Option<(f64, &str)>, holm: Option<f64>) -> Vec<String> {
        let mut sides = [Accumulator::default(), Accumulator::default()];
        let mut differences = Accumulator::default();
        for (a, b) in &row.pairs {
            sides[0].add(*a);
            sides[1].add(*b);
            differences.add(b - a);
        }
        let mean = differences.mean();
        let interval = mean_interval(&[differences]).filter(|interval| !interval.is_point());
        let interval = interval.map(|interval| cut_difference(interval, &row.what.measure));
        let effect = paired_effect(&differences);
        let spread = differences
            .standard_deviation()
            .filter(|_| effect.is_some());
        let detectable = spread.zip(detectable_effect(differences.count()));
        let needed = effect.and_then(|effect| pairs_needed(effect.size));
        let axes = self.axes.get(&row.what.setting);
        let setting = axes.map(|axes| self.names.join(axes.iter()));
        let beside = self.sets.get(row.beside).filter(|_| self.has_several());
        let beside = beside.map(|set| line(&set.called).to_string());
        let cells = vec![
            row.what.game.clone(),
            setting.unwrap_or_default(),
            match &row.players {
                Some(players) => format!("{} ({players})", row.what.measure),
                None => row.what.measure.clone(),
            },
            count(row.pairs.len() as u64),
            number(sides[0].mean(), 2),
            number(sides[1].mean(), 2),
            number(mean, 2),
            from_to(interval, 2),
            p.map_or_else(
                || NONE.to_owned(),
                |(p, test)| {
                    format!("{} {test}", number(Some(p), 4))
                        .trim_end()
                        .to_owned()
                },
            ),
            number(holm, 4),
            number(effect.map(|effect| effect.size), 2),
            from_to(effect.map(|effect| effect.interval), 2),
            number(detectable.map(|(spread, effect)| spread * effect), 2),
            needed.map_or_else(|| NONE.to_owned(), count),
            row.notes(&differences),
        ];
        beside.into_iter().chain(cells).collect()
    }
}

/// The p-value of these pairs, and the test where it is not the exact one.
fn p_of(pairs: &[(f64, f64)]) -> Option<(f64, &'static str)> {
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    match pairs.len() {
        0 | 1 => None,
        2..=MOST_EXACT => sign_flip_test(&b, &a).ok().map(|test| (test.p, "")),
        ..=MOST_SAMPLED => sampled_sign_flip_test(&b, &a)
            .ok()
            .map(|test| (test.p, "(s)")),
        _ => paired_t_test(&b, &a).map(|p| (p, "(t)")),
    }
}

#[cfg(test)]
mod tests;
