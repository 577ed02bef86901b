//! Two sets of sessions compared pair by pair: sessions of the same game, setting and luck, one from
//! each set. What has no partner is counted and left out, and a simulated session is never compared
//! with a real one. Called by `agon compare`.

use std::collections::{BTreeMap, BTreeSet};

use crate::accumulator::Accumulator;
use crate::axes::{Axes, AxisNames, axes_without_models};
use crate::layout::Layout;
use crate::leaderboard::players_of;
use crate::session::Session;
use crate::standings::from_to;
use crate::statistics::mean_interval::{CAVEAT, METHOD};
use crate::statistics::{
    detectable_effect, holm, mean_interval, paired_effect, paired_t_test, pairs_needed,
    sampled_sign_flip_test, sign_flip, sign_flip_test,
};
use crate::table::{Column, NONE, TextTable, count, counted, number, paragraphs};
use crate::wrapping::prose;

/// Up to so many pairs the permutation test is exact.
const MOST_EXACT: usize = sign_flip::MOST_PAIRS;

/// Up to so many its choices are sampled; beyond, Student's test of the differences.
const MOST_SAMPLED: usize = sign_flip::MOST_SAMPLED;

/// Which of the two sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// What is compared: a number of sessions of a game in a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct What {
    game: String,
    /// Axes as JSON, those that only name models left out.
    setting: String,
    measure: String,
}

/// What pairs have in common: seed and repeat. Sessions of a series are one.
type LuckKey = (u64, u32);

/// The numbers of one player of one side, by luck: means over the sessions of a series.
type Values = BTreeMap<LuckKey, Accumulator>;

/// What one side has of something.
#[derive(Debug, Default)]
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
    axes: BTreeMap<String, Axes>,
    values: [BTreeMap<What, Sided>; 2],
    sessions: [u64; 2],
}

/// A row, before p-values are adjusted.
struct Row {
    what: What,
    /// Who plays, where a side has several.
    players: Option<String>,
    pairs: Vec<(f64, f64)>,
    alone: [usize; 2],
    /// One side is simulated and the other is not, or one side is both.
    is_mixed: bool,
}

impl Comparison {
    /// Takes in a session of one side.
    pub fn add(&mut self, side: Side, session: &Session) {
        let spec = &session.spec;
        let axes = axes_without_models(spec);
        self.names.add(spec);
        let setting = serde_json::to_string(&axes).unwrap_or_default();
        self.axes.entry(setting.clone()).or_insert(axes);
        let has_models = session.decisions() > 0 || spec.is_imported();
        let simulated = has_models.then_some(session.simulated);
        let players = players_of(&spec.seats);
        let side = side as usize;
        self.sessions[side] += 1;
        let scores = session.scores().into_iter();
        let scores = scores.map(|(scheme, score)| (format!("score {scheme}"), Some(score)));
        let paid = session.paid();
        // Two sides may call the same seats by the names of their models.
        let is_one = paid.len() == 1;
        let paid = paid.into_iter().map(|paid| match is_one {
            true => ("payoff".to_owned(), paid.payoff),
            false => (format!("payoff of {}", paid.player), paid.payoff),
        });
        for (measure, value) in scores.chain(paid) {
            let what = What {
                game: spec.game.clone(),
                setting: setting.clone(),
                measure,
            };
            let sided = self.values[side].entry(what).or_default();
            sided.simulated.extend(simulated);
            let values = sided.by_players.entry(players.clone()).or_default();
            let luck = (spec.luck.seed, spec.luck.repeat);
            values.entry(luck).or_default().add_known(value);
        }
    }

    /// The table: a row for every number that both sides have.
    pub fn render(&self, a: &str, b: &str, layout: Layout) -> String {
        let rows = self.rows();
        let p_values: Vec<Option<(f64, &str)>> = rows.iter().map(|row| p_of(&row.pairs)).collect();
        let known: Vec<f64> = p_values.iter().flatten().map(|(p, _)| *p).collect();
        let mut adjusted = holm(&known).into_iter();
        let mut columns = ["game", "setting", "measure"].map(Column::key).to_vec();
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
            "A is {a}, {}; B is {b}, {}. Pairs are sessions of the same game, setting and luck (seed \
             and repeat; a series is one). B - A with its 95 % interval over pairs ({METHOD}); p \
             of the permutation test of signs, exact up to {MOST_EXACT} pairs and over a sample of \
             {} choices above; Holm, adjusted for all rows; d_z, mean over standard deviation of the \
             differences, with its 95 % interval (noncentral t); MDE, the smallest B - A that so many \
             pairs show with a chance of 80 % (t test at 5 %); needed, pairs that the B - A found here \
             needs for that; {CAVEAT}",
            counted(self.sessions[0], "session"),
            counted(self.sessions[1], "session"),
            count(u64::from(sign_flip::DRAWS)),
        );
        let nothing = "No session of A has a partner in B: pairs need the same game, setting, seed and \
                       repeat, and both simulated or neither.";
        let has_pairs = rows.iter().any(|row| !row.pairs.is_empty());
        let table = match (table.is_empty(), has_pairs) {
            (true, _) => None,
            (false, _) => Some(table.fitted(layout)),
        };
        paragraphs([
            Some(prose(&title, layout)),
            table,
            (!has_pairs).then(|| prose(nothing, layout)),
        ])
    }

    fn rows(&self) -> Vec<Row> {
        let [a, b] = &self.values;
        let whats: BTreeSet<&What> = a.keys().chain(b.keys()).collect();
        let nothing = Sided::default();
        let rows = whats.into_iter().flat_map(|what| {
            let [a, b] = [a, b].map(|side| side.get(what).unwrap_or(&nothing));
            let is_mixed = a.simulated.union(&b.simulated).count() > 1;
            let none = Values::default();
            let row = |players: Option<&String>, a: &Values, b: &Values| {
                let partner = |luck: &LuckKey| b.get(luck).filter(|_| !is_mixed);
                let pairs = a.iter();
                let pairs = pairs.filter_map(|(luck, own)| own.mean().zip(partner(luck)?.mean()));
                let pairs: Vec<(f64, f64)> = pairs.collect();
                Row {
                    what: what.clone(),
                    players: players.cloned(),
                    alone: [a.len() - pairs.len(), b.len() - pairs.len()],
                    pairs,
                    is_mixed,
                }
            };
            let only = |side: &Sided| side.by_players.len() <= 1;
            if only(a) && only(b) {
                let [a, b] = [a, b].map(|side| side.by_players.values().next().unwrap_or(&none));
                return vec![row(None, a, b)];
            }
            // Of several players each is compared with itself.
            let both = a.by_players.keys().chain(b.by_players.keys());
            let both: BTreeSet<&String> = both.collect();
            let of = |side: &Sided, players: &String| -> Values {
                side.by_players.get(players).cloned().unwrap_or_default()
            };
            let rows = both.into_iter();
            rows.map(|players| row(Some(players), &of(a, players), &of(b, players)))
                .collect()
        });
        rows.collect()
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
        let effect = paired_effect(&differences);
        let spread = differences
            .standard_deviation()
            .filter(|_| effect.is_some());
        let detectable = spread.zip(detectable_effect(differences.count()));
        let needed = effect.and_then(|effect| pairs_needed(effect.size));
        let axes = self.axes.get(&row.what.setting);
        let setting = axes.map(|axes| self.names.join(axes.iter()));
        let mut notes = Vec::new();
        for (alone, side) in row.alone.iter().zip(["A", "B"]) {
            if *alone > 0 {
                notes.push(format!("{alone} only in {side}"));
            }
        }
        if row.is_mixed {
            notes.push("simulated and real: not compared".to_owned());
        }
        if differences.standard_deviation() == Some(0.0) {
            notes.push("all differences are the same".to_owned());
        }
        vec![
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
            notes.join(", "),
        ]
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
