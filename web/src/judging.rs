//! Records to be judged: which players of a run are drawn, who judges which of them, and the experiment
//! that has it done. Drawing players and telling judges of them is the business of whoever implements
//! [`Judging`].

use std::sync::Arc;

use agon_engine::record::StoredRecord;
use agon_engine::{Seat, SessionSpec};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::library::{Library, beside};
use crate::refusal::Refusal;

/// Most players of one draw: each stands in the experiment with what it saw and said.
pub const MOST_DRAWN: u32 = 300;

/// Whose play is to be judged, and by whom.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgingWanted {
    /// How many players are judged, at most.
    #[schema(minimum = 1, maximum = 300)]
    pub judged: u32,
    /// People who judge, by the names under which they are invited.
    #[serde(default)]
    pub people: Vec<String>,
    /// Models that judge.
    #[serde(default)]
    pub models: Vec<String>,
    /// How many of them judge each record, in turn; all of them without it.
    #[serde(default)]
    pub judges: Option<u32>,
    /// People judge their own games, and nobody else does.
    #[serde(default)]
    pub own: bool,
    /// What is rated, by name; everything that can be without any.
    #[serde(default)]
    pub criteria: Vec<String>,
}

/// Something that can be rated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JudgingCriterion {
    /// Its name in tables.
    pub name: String,
    /// What judges are asked.
    pub question: String,
    /// What each mark means, from the lowest to the highest.
    pub marks: Vec<String>,
    /// Whether it is asked only about players who were told who they are.
    pub needs_persona: bool,
}

/// A player who was drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DrawnPlayer {
    /// The session in which it played.
    pub session: String,
    /// Its seat there, from 0.
    pub seat: Seat,
    /// Its name in the game, under which it is judged.
    pub name: String,
    /// Whether it was told who it is.
    pub has_persona: bool,
    /// Who judges it.
    pub judges: Vec<String>,
}

/// A draw, and the experiment that has it judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JudgingDraft {
    /// Who was drawn, in the order of their sessions.
    pub drawn: Vec<DrawnPlayer>,
    /// The name of the experiment's file.
    pub file: String,
    /// The experiment (TOML), complete: nothing else is needed to run it.
    pub text: String,
    /// The command that runs it.
    pub command: String,
}

/// The sessions of a run, each with its id and who sat there.
pub type Listed<'a> = Box<dyn Iterator<Item = (&'a str, &'a SessionSpec)> + 'a>;

/// Draws players, and writes the experiment in which they are judged.
pub trait Judging: Send + Sync + 'static {
    /// What can be rated.
    fn criteria(&self) -> Vec<JudgingCriterion>;

    /// Draws players: their sessions and seats. The same sessions give the same draw.
    ///
    /// # Errors
    /// Nobody can be judged so; says why.
    fn draw(
        &self,
        sessions: Listed<'_>,
        wanted: &JudgingWanted,
    ) -> Result<Vec<(String, Seat)>, String>;

    /// The experiment in which these players of these records are judged.
    ///
    /// # Errors
    /// Something that is wanted cannot be had; says what.
    fn draft(
        &self,
        run: &str,
        players: &[(StoredRecord, Seat)],
        wanted: &JudgingWanted,
    ) -> Result<JudgingDraft, String>;
}

/// Draws players of a run and drafts the experiment, of what may be seen.
///
/// # Errors
/// There is no such run, it cannot be read, or what is wanted cannot be had.
pub(crate) async fn draft(
    judging: Arc<dyn Judging>,
    library: &Arc<Library>,
    run: String,
    wanted: JudgingWanted,
) -> Result<JudgingDraft, Refusal> {
    if !(1..=MOST_DRAWN).contains(&wanted.judged) {
        let text = format!(
            "between 1 and {MOST_DRAWN} players can be judged, not {}",
            wanted.judged
        );
        return Err(Refusal::Wrong(text));
    }
    let (listed, own) = (Arc::clone(library), Arc::clone(&judging));
    let (of_run, choice) = (run.clone(), wanted.clone());
    let drawn = beside(move || {
        let index = listed.index.read();
        let sessions = Box::new(index.specs(&of_run)?);
        Some(own.draw(sessions, &choice))
    });
    let drawn = drawn.await?;
    let drawn = drawn.ok_or_else(|| Refusal::Missing(format!("run {run}")))?;
    let mut players = Vec::new();
    for (session, seat) in drawn.map_err(Refusal::Wrong)? {
        let line = library.line(&session).await?;
        let record = beside(move || StoredRecord::from_line(&line)).await?;
        let record = record.map_err(|error| Refusal::Unreadable(error.to_string()))?;
        players.push((record, seat));
    }
    let drafted = beside(move || judging.draft(&run, &players, &wanted)).await?;
    drafted.map_err(Refusal::Wrong)
}
