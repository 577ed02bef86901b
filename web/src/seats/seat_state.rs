//! What the page of a seat is told: where in the course of a participation its person is, and what
//! there is to see and to do. Made by `service.rs`; holds what this seat may know and nothing else.

use agon_report::viewing::Live;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::people::Question;
use super::ports::Message;

/// A stage of a participation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Asked to agree.
    Consent,
    /// Reads the instructions, and answers the check.
    Instructions,
    /// Waits for others, or for the game to begin.
    Lobby,
    /// Plays.
    Play,
    /// Answers questions.
    Questions,
    /// Has done everything.
    Thanks,
    /// Left the seat; may come back.
    Left,
}

/// Everything that the page of a seat shows.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SeatState {
    /// What the person is called.
    pub pseudonym: String,
    /// The stage that the person is at.
    pub stage: Stage,
    /// All stages that this participation has, in order.
    pub stages: Vec<Stage>,
    /// The text of this stage.
    pub text: String,
    /// The questions about the instructions, without the right answers.
    pub check: Vec<CheckQuestion>,
    /// Who else waits; null at other stages.
    pub lobby: Option<LobbyState>,
    /// The games, oldest first; the last one may go on.
    pub games: Vec<GameState>,
    /// How many games there are in all; null where that is not known.
    pub games_in_all: Option<u64>,
    /// The open question; null where there is none.
    pub ask: Option<AskState>,
    /// What happened to the last question; null where the person answered it.
    pub notice: Option<String>,
    /// The questionnaire.
    pub questions: Vec<Question>,
    /// What the person shows to a recruitment service; null where there is none.
    pub completion_code: Option<String>,
    /// Where the person returns to; null where there is no such place.
    pub return_link: Option<String>,
}

/// A question of the check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct CheckQuestion {
    /// What is asked.
    pub question: String,
    /// What can be chosen.
    pub choices: Vec<String>,
}

/// Who waits for a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LobbyState {
    /// Everybody who came, by pseudonym, and the seats that are free.
    pub people: Vec<Waiting>,
    /// Whether this person has to say that they are ready.
    pub asks_ready: bool,
    /// Whether everybody is ready, so that the game is about to begin.
    pub all_ready: bool,
}

/// Somebody who waits, or a free seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Waiting {
    /// Null where nobody has come yet.
    pub pseudonym: Option<String>,
    /// Whether their page is open.
    pub here: bool,
    /// Whether they are ready.
    pub ready: bool,
    /// Whether it is this person.
    pub you: bool,
}

/// A game, as its seat sees it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GameState {
    /// The id of its session.
    pub session: String,
    /// The table and what happened; null before anything was asked.
    pub live: Option<Live>,
    /// The rules in the words in which the seat was told.
    pub rules: String,
    /// What the seat was told and answered since.
    pub history: Vec<Message>,
    /// What the seat was paid; null while the game goes on.
    pub payoff: Option<f64>,
    /// Whether it is over.
    pub over: bool,
}

/// An open question.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AskState {
    /// Its id, which an answer names.
    pub id: String,
    /// What is asked for ("guess").
    pub kind: String,
    /// JSON Schema of the answer; null for words.
    pub schema: Value,
    /// The question in words.
    pub question: String,
    /// The deadline, in milliseconds since 1970 on the server's clock; null without one.
    pub until: Option<u64>,
    /// Who answers after the deadline; null for nobody.
    pub stand_in: Option<String>,
    /// Why the last answer to it was refused; null if none was.
    pub refused: Option<String>,
}
