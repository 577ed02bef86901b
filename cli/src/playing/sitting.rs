//! A person's time at the table: shows what the door asks, takes what is typed, tells when
//! time was up, and leaves when told to. An answer is handed in at the door and counts
//! once the gateway has recorded it; the deadline is the gateway's. Called by `agon play`.

use std::time::Duration;

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    AnswerAtDoorRequest, ChatMessage, DoorAsk, DoorStandIn, MessageRole, WatchDoorRequest,
    WatchExperimentRequest, WatchExperimentResponse,
};
use agon_worker::Transport;
use tonic::{Code, Status};

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

/// A question that waits for less was put just now.
const SHORT_MS: u64 = 1_000;

/// Who sits where, and on which terms.
pub struct Sitting {
    /// Name of the door.
    pub person: String,
    /// The session.
    pub session_id: String,
    /// The seat.
    pub seat: u32,
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
            tokio::select! {
                biased;
                state = states.message() => match state.map_err(lost)? {
                    Some(state) => newest = state,
                    None => {
                        tell_answered_for(open.as_ref());
                        return Ok(Ended::Over(newest));
                    }
                },
                listing = door.message() => {
                    let listing = listing.map_err(lost)?.unwrap_or_default();
                    let asked = listing.asks.into_iter().find(|ask| self.is_ours(ask));
                    let gone = |open: &mut Open| {
                        let still = asked.as_ref().map(|ask| &ask.address);
                        still != Some(&open.ask.address)
                    };
                    if let Some(gone) = open.take_if(gone) {
                        tell_answered_for(Some(&gone));
                    }
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
                            let in_time = self.answer(answered, reply).await?;
                            if in_time && typing.is_terminal {
                                output::print("(the others move; Ctrl-C or `quit` leaves)");
                            }
                        },
                    }
                }
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
            output::print(&newest.content);
        }
        let form = ask
            .reply_format
            .as_ref()
            .and_then(|format| AnswerForm::read(&format.name, &format.json_schema));
        if let Some(stand_in) = &ask.stand_in {
            let time = humantime::format_duration(left(stand_in, ask.waiting_ms));
            let who = &stand_in.name;
            output::print(&format!("You have {time}, then {who} answers for you."));
        }
        Open { ask, form }
    }

    /// Hands an answer in; false when a stand-in was first.
    async fn answer(&mut self, open: Open, reply: String) -> Result<bool, Failure> {
        let request = AnswerAtDoorRequest {
            door: self.person.clone(),
            address: open.ask.address.clone(),
            request_digest: open.ask.request_digest.clone(),
            reply,
            answered_by: self.person.clone(),
        };
        match self.gateway.answer_at_door(request).await {
            Ok(_) => Ok(true),
            Err(refusal) if refusal.code() == Code::NotFound && open.ask.stand_in.is_some() => {
                tell_answered_for(Some(&open));
                Ok(false)
            }
            Err(refusal) => Err(refused("the game", &refusal)),
        }
    }
}

/// The time that is left; whole seconds where it is long.
fn left(stand_in: &DoorStandIn, waiting_ms: u64) -> Duration {
    if waiting_ms < SHORT_MS {
        return Duration::from_millis(stand_in.after_ms);
    }
    let left = Duration::from_millis(stand_in.after_ms.saturating_sub(waiting_ms));
    Duration::from_secs(left.as_secs_f64().ceil() as u64)
}

/// A question that went away without an answer of the person's was answered by its stand-in.
fn tell_answered_for(open: Option<&Open>) {
    let stand_in = open.and_then(|open| open.ask.stand_in.as_ref());
    if let Some(DoorStandIn { name, .. }) = stand_in {
        output::print(&format!("Time is up: {name} has answered for you."));
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
        output::print(&rules.content);
    }
}

fn tell_history(ask: &DoorAsk) {
    for message in &ask.messages {
        let text = &message.content;
        if is(message, MessageRole::Assistant) {
            output::print(&format!("  you: {text}"));
        } else if is(message, MessageRole::User) {
            output::print(text);
        }
    }
}

fn is(message: &ChatMessage, role: MessageRole) -> bool {
    message.role == role as i32
}

/// A sign that something may be typed; none for a program.
fn prompt(typing: &Typing, asked: bool) {
    if typing.is_terminal && asked {
        output::write(b"> ");
    }
}
