//! `results.csv`: one row per session, in which nothing is a formula. Columns depend on the experiment
//! (its axes, scores and seats) and are gathered from its sessions; rows that were written before the
//! last of them was known are written again.

use std::collections::BTreeSet;
use std::io::Write;

use agon_engine::PlayerKind;
use agon_outlets::cell;

use crate::axes::{axes, in_words};
use crate::money::exact_dollars;
use crate::session::{Session, Telemetry};

/// Columns that every run has, before those of its own.
const FIRST: [&str; 7] = [
    "session",
    "experiment",
    "game",
    "players",
    "models",
    "seed",
    "repeat",
];

/// The column of runs with series: the session's place in its own, from 0.
const PLACE: &str = "place";

/// Columns that every run has, after those of its own.
const LAST: [&str; 16] = [
    "asks",
    "fouls",
    "forfeits",
    "by_stand_in",
    "unanswered_share",
    "notes",
    "simulated",
    "decisions",
    "input_tokens",
    "output_tokens",
    "cost_dollars",
    "unpriced_decisions",
    "estimated_decisions",
    "seconds",
    "attempt",
    "mean_payoff",
];

/// A CSV file whose cells a spreadsheet shows and never runs.
pub struct Cells<W: Write>(csv::Writer<W>);

impl<W: Write> Cells<W> {
    /// An empty file.
    pub fn new(out: W) -> Self {
        Self(csv::Writer::from_writer(out))
    }

    /// A cell of the row that [`Cells::row`] ends.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn cell(&mut self, text: &str) -> Result<(), csv::Error> {
        self.0.write_field(cell(text))
    }

    /// The rest of a row.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) -> Result<(), csv::Error> {
        let cells = cells.into_iter().map(|text| cell(&text));
        self.0.write_record(cells)
    }

    /// Writes what is left, and gives the output back.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(self) -> Result<W, std::io::Error> {
        self.0.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// The columns of a run.
#[derive(Debug, Clone, Default)]
pub struct ResultColumns {
    /// Whether any session is a later one of a series.
    in_series: bool,
    axes: BTreeSet<String>,
    scores: BTreeSet<String>,
    parts: BTreeSet<String>,
    seats: usize,
}

impl ResultColumns {
    /// Takes a session into account; whether there are more columns now.
    pub fn gather(&mut self, session: &Session) -> bool {
        let before = self.count();
        let spec = &session.spec;
        add_names(&mut self.axes, axes(spec).map(|(axis, _)| axis.as_str()));
        self.in_series |= spec.luck.place > 0;
        add_names(&mut self.scores, session.scores().into_keys());
        add_names(&mut self.parts, session.parts().into_keys());
        self.seats = self.seats.max(session.outcome.payoffs.len());
        self.count() > before
    }

    /// How many columns are of these sessions.
    fn count(&self) -> usize {
        let names = self.axes.len() + self.scores.len() + self.parts.len();
        names + self.seats + usize::from(self.in_series)
    }

    /// Writes the headings.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_headings<W: Write>(&self, out: &mut Cells<W>) -> Result<(), csv::Error> {
        let mut headings: Vec<String> = FIRST.map(str::to_owned).to_vec();
        headings.extend(self.in_series.then(|| PLACE.to_owned()));
        headings.extend(self.axes.iter().map(|axis| format!("setting.{axis}")));
        headings.extend(self.scores.iter().map(|scheme| format!("score.{scheme}")));
        headings.extend(self.parts.iter().map(|part| format!("part.{part}")));
        headings.extend(LAST.map(str::to_owned));
        headings.extend((0..self.seats).map(|seat| format!("payoff.{seat}")));
        out.row(headings)
    }

    /// Writes a session's row. What does not apply to it stays empty.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write_row<W: Write>(
        &self,
        session: &Session,
        telemetry: &Telemetry,
        out: &mut Cells<W>,
    ) -> Result<(), csv::Error> {
        let spec = &session.spec;
        let mut cells = vec![
            session.session.clone(),
            spec.experiment.clone(),
            spec.game.clone(),
            session.players(),
            models(session),
            spec.luck.seed.to_string(),
            spec.luck.repeat.to_string(),
        ];
        cells.extend(self.in_series.then(|| spec.luck.place.to_string()));
        let axis = |axis| spec.setting.get(axis).map(in_words).unwrap_or_default();
        cells.extend(self.axes.iter().map(axis));
        let number = |number: Option<&f64>| number.map(f64::to_string).unwrap_or_default();
        let (scores, parts) = (session.scores(), session.parts());
        let scores = self.scores.iter().map(|scheme| scores.get(&**scheme));
        cells.extend(scores.map(number));
        let parts = self.parts.iter().map(|part| parts.get(&**part));
        cells.extend(parts.map(number));
        let answers = session.answers();
        cells.extend([
            session.asks().to_string(),
            session.fouls().to_string(),
            session.forfeits().to_string(),
            answers.by_stand_in().to_string(),
            answers.all().unanswered().to_string(),
            session.notes(),
            session.simulated.to_string(),
            session.decisions().to_string(),
            telemetry.usage.input_tokens.to_string(),
            telemetry.usage.output_tokens.to_string(),
            telemetry
                .usage
                .known_cost()
                .map(exact_dollars)
                .unwrap_or_default(),
            telemetry.usage.unpriced_decisions.to_string(),
            telemetry.usage.estimated_decisions.to_string(),
            format!("{:.3}", telemetry.seconds),
            telemetry.attempt.to_string(),
            session.mean_payoff().to_string(),
        ]);
        let payoffs = &session.outcome.payoffs;
        cells.extend((0..self.seats).map(|seat| number(payoffs.get(seat))));
        out.row(cells)
    }
}

/// Adds the names that are not there; nearly all are.
fn add_names<'a>(names: &mut BTreeSet<String>, found: impl Iterator<Item = &'a str>) {
    for name in found {
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    }
}

/// The models that played, in order of name.
fn models(session: &Session) -> String {
    let models = session
        .spec
        .seats
        .iter()
        .filter(|player| player.kind == PlayerKind::Model);
    let names: BTreeSet<&str> = models
        .filter_map(|player| player.settings.get("model")?.as_str())
        .collect();
    names.into_iter().collect::<Vec<_>>().join(" ")
}
