//! Records to be judged: which players of a run are drawn, who judges which of them, and the experiment
//! that has it done. Drawing players and telling judges of them is the business of whoever implements
//! [`Judging`].

use std::sync::Arc;

use agon_engine::Seat;
use agon_engine::record::StoredRecord;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::index::Played;
use crate::library::{Library, beside};
use crate::refusal::Refusal;

/// Most players of one draw: each stands in the experiment with what it saw and said.
const MOST_DRAWN: u32 = 300;

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
    #[schema(required = false, minimum = 1, maximum = 100)]
    pub judges: Option<u32>,
    /// People judge their own play, and nobody else does.
    #[serde(default)]
    pub own: bool,
    /// What is rated, by name; all criteria if empty.
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

/// Players who were drawn and are not judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeftOutPlayers {
    /// How many.
    pub players: u64,
    /// Why.
    pub reason: String,
}

/// A draw, and the experiment that has it judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct JudgingDraft {
    /// Who is judged, in the order of their sessions.
    pub drawn: Vec<DrawnPlayer>,
    /// Who is not, although they were drawn.
    pub left_out: Vec<LeftOutPlayers>,
    /// The name of the experiment's file.
    pub file: String,
    /// The experiment (TOML), complete: nothing else is needed to run it.
    pub text: String,
    /// The command that runs it.
    pub command: String,
}

/// The sessions of a run, each with its id and what was played.
pub type Listed<'a> = Box<dyn Iterator<Item = (&'a str, &'a Played)> + 'a>;

/// Has players judged.
pub trait Judging: Send + Sync + 'static {
    /// What can be rated.
    fn criteria(&self) -> Vec<JudgingCriterion>;

    /// Begins a draft of the experiment in which players of a run are judged.
    ///
    /// # Errors
    /// Something that is wanted cannot be had; says what.
    fn begin(&self, run: &str, wanted: &JudgingWanted) -> Result<Box<dyn JudgingDrafting>, String>;
}

/// A draft that is being made. First players are drawn, then each is added with its record.
pub trait JudgingDrafting: Send {
    /// Draws players: their sessions and seats. The same sessions give the same draw.
    ///
    /// # Errors
    /// Nobody can be judged so; says why.
    fn draw(&mut self, sessions: Listed<'_>) -> Result<Vec<(String, Seat)>, String>;

    /// Adds a player that was drawn.
    fn add(&mut self, record: &StoredRecord, seat: Seat);

    /// Gives them their judges, and ends the draft.
    ///
    /// # Errors
    /// Nobody is left to be judged, or the experiment is no good; says why.
    fn finish(self: Box<Self>) -> Result<JudgingDraft, String>;
}

/// Draws players of a run and drafts the experiment. Records are read one after the other.
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
        let judged = wanted.judged;
        let text = format!("between 1 and {MOST_DRAWN} players can be judged, not {judged}");
        return Err(Refusal::Wrong(text));
    }
    let mut drafting = judging.begin(&run, &wanted).map_err(Refusal::Wrong)?;
    let listed = Arc::clone(library);
    let of_run = run.clone();
    let drawn = beside(move || {
        let index = listed.index.read();
        let drawn = drafting.draw(Box::new(index.played(&of_run)?));
        Some((drafting, drawn))
    });
    let drawn = drawn.await?;
    let (mut drafting, drawn) = drawn.ok_or_else(|| Refusal::Missing(format!("run {run}")))?;
    for (session, seat) in drawn.map_err(Refusal::Wrong)? {
        let line = library.line(&session).await?;
        let added = beside(move || {
            let record = StoredRecord::from_line(&line)?;
            drafting.add(&record, seat);
            Ok::<_, agon_engine::record::RecordError>(drafting)
        });
        let added = added.await?;
        drafting = added.map_err(|error| Refusal::Unreadable(error.to_string()))?;
    }
    let drafted = beside(move || drafting.finish()).await?;
    drafted.map_err(Refusal::Wrong)
}
