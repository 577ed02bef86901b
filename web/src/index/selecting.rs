//! The sessions of all runs that results are made of: which are wanted, in the order in which they came, and
//! what they can be narrowed to.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::PlayerSpec;
use agon_report::selection::SeveralAxes;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Index, OfRun, Place, Row, RunKey, SessionPage, SessionRow};
use crate::query::PageQuery;
use crate::wanted::Wanted;

/// A game and who sat at its seats.
#[derive(Debug, Clone)]
pub struct Played {
    /// Its game.
    pub game: String,
    /// Who sat there, by seat.
    pub seats: Vec<PlayerSpec>,
}

/// The entry of a setting that repeats the game's name.
const GAME: &str = "game";

/// What results can be narrowed to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Choices {
    /// Runs that have sessions.
    pub runs: Vec<RunChoice>,
    /// Games that are played.
    pub games: BTreeSet<String>,
    /// Players in any session.
    pub players: BTreeSet<String>,
    /// Axes of experiments, with their values in words.
    pub axes: BTreeMap<String, BTreeSet<String>>,
}

/// A run that results can be narrowed to.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RunChoice {
    /// Its address below `/runs`.
    pub run: String,
    /// Its experiment.
    pub experiment: String,
}

/// A session with what filters need of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ListedSession {
    #[serde(flatten)]
    row: SessionRow,
    /// What those who sit there may be called in results.
    names: Vec<String>,
    simulated: bool,
}

impl Index {
    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Where the sessions lie that are wanted, of those from `from` on, in the order in which they came.
    pub fn wanted(&self, wanted: &Wanted, from: usize) -> Vec<Place> {
        let rows = self.order.get(from..).unwrap_or_default().iter();
        let rows = rows.filter_map(|at| self.fitting(*at, wanted));
        rows.map(|(_, row)| row.place).collect()
    }

    /// A name of an axis that means several in sessions that are asked for.
    pub(crate) fn several_axes(&self, wanted: &Wanted) -> Option<SeveralAxes> {
        let runs = self.runs.iter();
        let mut cells = runs
            .filter(|one| wanted.takes_run(&one.run.run))
            .flat_map(|one| &one.cells);
        cells.find_map(|cell| wanted.several(cell.like.as_ref()?))
    }

    /// Some of the sessions that are wanted, of all runs.
    pub fn wanted_sessions(&self, wanted: &Wanted, page: &PageQuery) -> SessionPage {
        let (mut sessions, mut next, mut total) = (Vec::new(), None, 0);
        for (at, place) in self.order.iter().enumerate() {
            let Some((of_run, row)) = self.fitting(*place, wanted) else {
                continue;
            };
            total += 1;
            if at < page.from() {
                continue;
            }
            match sessions.len() < page.count() {
                true => sessions.push(of_run.shown(row)),
                false if next.is_none() => next = Some(at.to_string()),
                false => {}
            }
        }
        SessionPage {
            sessions,
            next,
            total,
        }
    }

    /// What numbers over the sessions that are wanted leave out.
    pub fn notes_of(&self, wanted: &Wanted) -> Vec<String> {
        self.notes_of_runs(|run| wanted.takes_run(run))
    }

    /// What numbers over all sessions of these runs leave out.
    pub fn notes_of_runs(&self, takes: impl Fn(&str) -> bool) -> Vec<String> {
        let runs = self.runs.iter().filter(|one| takes(&one.run.run));
        let notes = |one: &OfRun| {
            let run = &one.run.run;
            let counts = one.gaps.counts();
            counts
                .map(|note| format!("{run}: {note}"))
                .collect::<Vec<_>>()
        };
        runs.flat_map(notes).collect()
    }

    /// What results can be narrowed to.
    pub fn choices(&self) -> Choices {
        let mut choices = Choices::default();
        for of_run in self.runs.iter().filter(|one| one.run.sessions > 0) {
            let run = &of_run.run;
            choices.runs.push(RunChoice {
                run: run.run.clone(),
                experiment: run.experiment.clone(),
            });
            choices.games.extend(run.games.iter().cloned());
            choices.players.extend(run.players.iter().cloned());
            let likes = of_run.cells.iter().filter_map(|cell| cell.like.as_ref());
            for (axis, value) in likes.flat_map(|spec| &spec.setting) {
                if axis != GAME {
                    let value = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    choices.axes.entry(axis.clone()).or_default().insert(value);
                }
            }
        }
        choices
    }

    /// A session by its run and row, if it is wanted.
    fn fitting(&self, (key, row): (RunKey, usize), wanted: &Wanted) -> Option<(&OfRun, &Row)> {
        let of_run = self.runs.get(key.0)?;
        let row = of_run.rows.get(row)?;
        let like = of_run.cells.get(row.cell as usize)?.like.as_ref()?;
        let fits = wanted.takes_run(&of_run.run.run)
            && wanted.takes(like, row.simulated)
            && wanted.takes_names(&row.names);
        fits.then_some((of_run, row))
    }

    /// All sessions of a run with what filters need of each, for pages without a server.
    pub(crate) fn all_sessions(&self, name: &str) -> impl Iterator<Item = ListedSession> {
        let of_run = self.find(name).into_iter();
        of_run.flat_map(|of_run| {
            of_run.rows.iter().map(|row| ListedSession {
                row: of_run.shown(row),
                names: row.names.split('\n').map(str::to_owned).collect(),
                simulated: row.simulated,
            })
        })
    }
}
