//! A person's time at the table: shows what the door asks, takes what is typed, keeps
//! the deadline, and leaves when told to. An answer is handed in at the door and counts
//! once the gateway has recorded it. Called by `agon play`.

use std::future::pending;
use std::time::Duration;

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    AnswerAtDoorRequest, ChatMessage, DoorAsk, MessageRole, WatchDoorRequest,
    WatchExperimentRequest, WatchExperimentResponse,
};
use agon_worker::Transport;
use tokio::time::{Instant, sleep_until};
use tonic::Status;

use super::answers::AnswerForm;
use super::typing::Typing;
use crate::failure::Failure;
use crate::output;
use crate::results::refused;

/// What can be typed besides an answer.
const HELP: &str = "help     this list
rules    the rules again
history  everything you were told and answered so far
quit     leave; the same command comes back to this point";

/// Who sits where, and on which terms.
pub struct Sitting {
    /// Name of the door.
    pub person: String,
    /// The session.
    pub session_id: String,
    /// The seat.
    pub seat: u32,
    /// Time for an answer; none is no limit.
    pub deadline: Option<Duration>,
    /// The rule player that answers then.
    pub stand_in: String,
    /// What asks.
    pub gateway: AgentGatewayServiceClient<Transport>,
    /// What knows when the session is over.
    pub experiments: ExperimentServiceClient<Transport>,
    /// The experiment of the session.
    pub experiment_id: String,
}

/// How it ended.
pub enum Ended {
    /// Nothing is left to play.
    Over(WatchExperimentResponse),
    /// The person left.
    Left,
}

/// A question that is open.
struct Open {
    ask: DoorAsk,
    form: Option<AnswerForm>,
    until: Option<Instant>,
}

/// What a typed line comes to.
enum Typed {
    Answer(String),
    Leave,
    Nothing,
}

impl Sitting {
    /// Sits until the game is over or the person leaves.
    ///
    /// # Errors
    /// The embedded services do not answer.
    pub async fn sit(mut self, typing: &mut Typing) -> Result<Ended, Failure> {
        let lost = |refusal: Status| refused("the game", &refusal);
        let watch = WatchExperimentRequest {
            experiment_id: self.experiment_id.clone(),
        };
        let states = self.experiments.watch_experiment(watch).await;
        let mut states = states.map_err(lost)?.into_inner();
        let watch = WatchDoorRequest {
            door: self.person.clone(),
            session_id: self.session_id.clone(),
        };
        let door = self.gateway.watch_door(watch).await;
        let mut door = door.map_err(lost)?.into_inner();
        let mut newest = WatchExperimentResponse::default();
        let mut open: Option<Open> = None;
        let mut told = false;
        loop {
            // Typed ahead through a pipe, lines wait for their questions; a person's
            // commands do not.
            let listens = open.is_some() || typing.is_terminal;
            let until = open.as_ref().and_then(|open| open.until);
            tokio::select! {
                // What was typed in time counts, even when time is up by now.
                biased;
                state = states.message() => match state.map_err(lost)? {
                    Some(state) => newest = state,
                    None => return Ok(Ended::Over(newest)),
                },
                listing = door.message() => {
                    let listing = listing.map_err(lost)?.unwrap_or_default();
                    let asked = listing.asks.into_iter().find(|ask| self.is_ours(ask));
                    if let Some(ask) = asked
                        && open.as_ref().is_none_or(|open| open.ask.address != ask.address)
                    {
                        open = Some(self.put(ask, told));
                        told = true;
                        prompt(typing, true);
                    }
                }
                line = typing.line(), if listens => {
                    let Some(line) = line else { return Ok(Ended::Left) };
                    match typed(&line, open.as_ref()) {
                        Typed::Leave => return Ok(Ended::Left),
                        Typed::Nothing => prompt(typing, open.is_some()),
                        Typed::Answer(reply) => if let Some(answered) = open.take() {
                            let person = self.person.clone();
                            self.answer(answered, reply, person).await?;
                            if typing.is_terminal {
                                output::print("(the others move; Ctrl-C or `quit` leaves)");
                            }
                        },
                    }
                }
                () = reached(until) => if let Some(late) = open.take() {
                    self.stand_in(late).await?;
                },
            }
        }
    }

    fn is_ours(&self, ask: &DoorAsk) -> bool {
        let address = ask.address.as_ref();
        address.is_some_and(|at| at.session_id == self.session_id && at.seat == self.seat)
    }

    /// Shows a question; before the first one the rules.
    fn put(&self, ask: DoorAsk, told: bool) -> Open {
        if !told {
            let resumed = ask
                .address
                .as_ref()
                .is_some_and(|address| address.index > 0);
            if resumed {
                output::print(
                    "Welcome back: you go on where you stopped (`history` tells what was).",
                );
            }
            tell_rules(&ask);
        }
        output::print("");
        if let Some(newest) = ask.messages.last() {
            output::print(&plain(&newest.content));
        }
        let form = ask
            .reply_format
            .as_ref()
            .and_then(|format| AnswerForm::read(&format.name, &format.json_schema));
        let stands_in = form.as_ref().is_some_and(|form| form.stand_in.is_some());
        let deadline = self.deadline.filter(|_| stands_in);
        if let Some(deadline) = deadline {
            let (time, who) = (humantime::format_duration(deadline), &self.stand_in);
            output::print(&format!("You have {time}, then {who} answers for you."));
        }
        Open {
            ask,
            form,
            until: deadline.map(|deadline| Instant::now() + deadline),
        }
    }

    /// Time is up.
    async fn stand_in(&mut self, late: Open) -> Result<(), Failure> {
        let answer = late.form.as_ref().and_then(|form| {
            let value = form.stand_in.as_ref()?;
            Some((form.reply(value), value.to_string()))
        });
        let Some((reply, shown)) = answer else {
            return Ok(());
        };
        let who = format!("{} for {}", self.stand_in, self.person);
        output::print(&format!(
            "Time is up: {} answers {} for you.",
            self.stand_in,
            shown.trim_matches('"')
        ));
        self.answer(late, reply, who).await
    }

    async fn answer(
        &mut self,
        open: Open,
        reply: String,
        answered_by: String,
    ) -> Result<(), Failure> {
        let request = AnswerAtDoorRequest {
            door: self.person.clone(),
            address: open.ask.address,
            request_digest: open.ask.request_digest,
            reply,
            answered_by,
        };
        let answered = self.gateway.answer_at_door(request).await;
        answered.map_err(|refusal| refused("the game", &refusal))?;
        Ok(())
    }
}

/// What a line means while this question is open.
fn typed(line: &str, open: Option<&Open>) -> Typed {
    let word = line.trim().to_lowercase();
    match (word.as_str(), open) {
        ("quit" | "exit", _) => return Typed::Leave,
        ("", _) => {}
        ("help" | "?", open) => {
            if let Some(form) = open.and_then(|open| open.form.as_ref()) {
                output::print(&format!("Type {}.", form.help()));
            }
            output::print(HELP);
        }
        ("rules", Some(open)) => tell_rules(&open.ask),
        ("history", Some(open)) => tell_history(&open.ask),
        (_, None) => output::print("Nothing is asked of you now; Ctrl-C or `quit` leaves."),
        (_, Some(open)) => match &open.form {
            None => return Typed::Answer(line.trim().to_owned()),
            Some(form) => match form.answer(line) {
                Ok(reply) => return Typed::Answer(reply),
                Err(reason) => output::print(&format!("{reason} (or help, or quit)")),
            },
        },
    }
    Typed::Nothing
}

fn tell_rules(ask: &DoorAsk) {
    let rules = ask
        .messages
        .iter()
        .find(|message| is(message, MessageRole::System));
    if let Some(rules) = rules {
        output::print(&plain(&rules.content));
    }
}

fn tell_history(ask: &DoorAsk) {
    for message in &ask.messages {
        let text = plain(&message.content);
        if is(message, MessageRole::Assistant) {
            output::print(&format!("  you: {text}"));
        } else if is(message, MessageRole::User) {
            output::print(&text);
        }
    }
}

fn is(message: &ChatMessage, role: MessageRole) -> bool {
    message.role == role as i32
}

/// A text without characters that would move the cursor of a terminal.
fn plain(text: &str) -> String {
    let kept = |letter: &char| *letter == '\n' || !letter.is_control();
    text.chars().filter(kept).collect()
}

/// A sign that something may be typed; none for a program.
fn prompt(typing: &Typing, asked: bool) {
    if typing.is_terminal && asked {
        output::write(b"> ");
    }
}

async fn reached(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => pending().await,
    }
}
