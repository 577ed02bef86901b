//! What addresses ask for, within bounds.
//! Whatever is out of bounds is brought within them; nothing here looks anything up.

use agon_engine::Seat;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::sweeps::Action;

/// Most rows or steps of an answer.
pub(crate) const MOST: usize = 200;

/// Rows of an answer that does not say how many.
pub(crate) const BY_DEFAULT: usize = 100;

/// A run.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct RunPath {
    /// The run's address, as the list of runs has it.
    pub run: String,
}

/// A session.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct SessionPath {
    /// The session's id.
    pub session: String,
}

/// A call of a model.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct DecisionPath {
    /// The session's id.
    pub session: String,
    /// The seat for which the model was called.
    pub seat: Seat,
    /// The place of the call among those of its seat, from 0.
    pub index: u32,
}

/// What is to be done about an experiment.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ActionPath {
    /// The experiment's name.
    pub experiment: String,
    /// What to do.
    #[param(inline)]
    pub action: Action,
}

/// Which sessions of a run.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// Only sessions of this cell.
    pub cell: Option<u32>,
    /// Only sessions whose id, game, setting, players or notes contain this text, in capitals or not.
    #[serde(default)]
    pub search: String,
    /// Where to continue: `next` of the previous page.
    #[serde(default)]
    pub cursor: String,
    /// How many sessions to answer with; whatever is out of bounds is brought within them.
    #[param(minimum = 1, maximum = 200, default = 100)]
    pub count: Option<usize>,
}

impl SessionQuery {
    /// The first row.
    pub fn from(&self) -> usize {
        self.cursor.parse().unwrap_or(0)
    }

    /// So many rows.
    pub fn count(&self) -> usize {
        self.count.unwrap_or(BY_DEFAULT).clamp(1, MOST)
    }
}

/// Which of many sessions.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Where to continue: `next` of the previous page.
    #[serde(default)]
    pub cursor: String,
    /// How many sessions to answer with; whatever is out of bounds is brought within them.
    #[param(minimum = 1, maximum = 200, default = 100)]
    pub count: Option<usize>,
}

impl PageQuery {
    /// The first one.
    pub fn from(&self) -> usize {
        self.cursor.parse().unwrap_or(0)
    }

    /// So many.
    pub fn count(&self) -> usize {
        self.count.unwrap_or(BY_DEFAULT).clamp(1, MOST)
    }
}

/// Which steps of a session, and as whom.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StepQuery {
    /// The first step.
    #[serde(default)]
    #[param(default = 0)]
    pub from: usize,
    /// How many steps to answer with; whatever is out of bounds is brought within them.
    #[param(minimum = 1, maximum = 200, default = 100)]
    pub count: Option<usize>,
    /// Show the steps and the table as this seat saw them; without it as a reader of the record sees them.
    pub seat: Option<Seat>,
}

impl StepQuery {
    /// So many steps.
    pub fn count(&self) -> usize {
        self.count.unwrap_or(BY_DEFAULT).clamp(1, MOST)
    }
}

/// A text to look for in a session.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TextQuery {
    /// The text, in capitals or not; nothing is found without one.
    #[serde(default)]
    pub q: String,
    /// Search only what this seat saw.
    pub seat: Option<Seat>,
}
