//! What people who play are told and asked around their games: consent, instructions with a check,
//! the lobby, questions at the end, thanks. Text only, bounded, with a default for everything.
//! Called by the command line, which reads it from a file, and by `seat_state.rs`.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The longest text, in bytes.
const LONGEST_TEXT: usize = 20_000;

/// The longest question, choice or name, in bytes.
const LONGEST_LINE: usize = 1_000;

/// The longest answer in words, in bytes.
const LONGEST_ANSWER: usize = 10_000;

/// Most questions of a kind.
const MOST_QUESTIONS: usize = 50;

/// Most choices of a question.
const MOST_CHOICES: usize = 20;

/// Steps of a scale, at most.
const MOST_STEPS: u8 = 11;

/// Most names of parameters that are kept of a link.
const MOST_PARAMETERS: usize = 10;

/// No time is longer.
const LONGEST_TIME: Duration = Duration::from_secs(365 * 24 * 3_600);

/// How long an invitation is good for unless the file says otherwise: a week.
const EXPIRES: Duration = Duration::from_secs(7 * 24 * 3_600);

/// How long a game waits for people, and a finished run for their last answers.
const WAITS: Duration = Duration::from_secs(30 * 60);

const CONSENT: &str = "You are about to take part in a study of how people and computer programs make decisions. \
Your answers are recorded under a pseudonym, never under your name. Taking part is voluntary: you may \
leave at any time.";

const INSTRUCTIONS: &str = "You will play a game with other players. They may be people or computer programs. \
You see what your seat may see. When it is your turn, the page asks you for a decision; if there is a time \
limit, a clock shows it. The rules are shown before your first decision and stay within reach.";

const LOBBY: &str = "The game begins when everybody who was invited is ready.";

const THANKS: &str = "Thank you for taking part. You may close this page.";

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct People {
    /// How people reach the pages, where that is not this machine: `https://play.example.org`.
    pub address: Option<String>,
    /// How long an invitation is good for.
    #[serde(with = "time")]
    pub expires: Option<Duration>,
    /// Before the game.
    pub consent: Consent,
    /// What the game is like.
    pub instructions: Instructions,
    /// Whether the instructions were understood.
    pub check: Vec<Check>,
    /// Where people wait for each other.
    pub lobby: Lobby,
    /// After the game.
    pub questions: Vec<Question>,
    /// At the end.
    pub thanks: Thanks,
    /// Who somebody is to a recruitment service.
    pub participant: Participant,
}

/// What somebody agrees to before anything else.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Consent {
    /// The text; empty: nothing is asked.
    pub text: String,
}

/// What the game is like.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Instructions {
    /// The text; empty: none.
    pub text: String,
}

/// A question that has a right answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What is asked.
    pub question: String,
    /// What can be chosen.
    pub choices: Vec<String>,
    /// The choice that is right.
    pub answer: String,
    /// What is said to a wrong one.
    #[serde(default)]
    pub explanation: String,
}

/// Where people wait for each other.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lobby {
    /// What is said there.
    pub text: String,
    /// How long a run waits for people before it begins without those who are missing.
    #[serde(with = "time")]
    pub wait: Option<Duration>,
}

/// A question of the questionnaire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its name in the answers.
    pub name: String,
    /// What is asked.
    pub question: String,
    /// How it is answered.
    pub kind: QuestionKind,
    /// The words of a choice.
    #[serde(default)]
    #[schema(required)]
    pub choices: Vec<String>,
    /// The smallest number; null without a limit.
    pub min: Option<f64>,
    /// The largest number; null without a limit.
    pub max: Option<f64>,
    /// How many steps a scale has, from 1; null for other kinds.
    pub steps: Option<u8>,
    /// What the first step of a scale means.
    #[serde(default)]
    #[schema(required)]
    pub low: String,
    /// What the last step of a scale means.
    #[serde(default)]
    #[schema(required)]
    pub high: String,
    /// Whether it may be left out.
    #[serde(default)]
    #[schema(required)]
    pub optional: bool,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// In words.
    Text,
    /// With a number.
    Number,
    /// With one of several words.
    Choice,
    /// With a step.
    Scale,
}

impl Question {
    /// Whether this is an answer to it; nothing is one where it may be left out.
    pub fn takes(&self, answer: &Value) -> bool {
        match (self.kind, answer) {
            (_, Value::Null) => self.optional,
            (QuestionKind::Text, Value::String(text)) => {
                text.len() <= LONGEST_ANSWER && (self.optional || !text.trim().is_empty())
            }
            (QuestionKind::Choice, Value::String(text)) => self.choices.contains(text),
            (QuestionKind::Number, Value::Number(number)) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                let is_large_enough = self.min.is_none_or(|min| number >= min);
                let is_small_enough = self.max.is_none_or(|max| number <= max);
                number.is_finite() && is_large_enough && is_small_enough
            }
            (QuestionKind::Scale, Value::Number(number)) => {
                let steps = u64::from(self.steps.unwrap_or(0));
                let step = number.as_u64();
                step.is_some_and(|step| (1..=steps).contains(&step))
            }
            _ => false,
        }
    }
}

/// What is said at the end.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thanks {
    /// The text.
    pub text: String,
    /// What somebody shows to a recruitment service.
    pub completion_code: Option<String>,
    /// Where somebody returns to.
    pub return_link: Option<String>,
    /// How long a finished run waits for people who still have something to answer.
    #[serde(with = "time")]
    pub wait: Option<Duration>,
}

/// Which parts of a link's query say who somebody is. They are kept apart from everything else.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Participant {
    /// Their names, such as `PROLIFIC_PID`.
    pub parameters: Vec<String>,
}

impl Default for Consent {
    fn default() -> Self {
        let text = CONSENT.to_owned();
        Self { text }
    }
}

impl Default for Instructions {
    fn default() -> Self {
        let text = INSTRUCTIONS.to_owned();
        Self { text }
    }
}

impl Default for Lobby {
    fn default() -> Self {
        Self {
            text: LOBBY.to_owned(),
            wait: None,
        }
    }
}

impl Default for Thanks {
    fn default() -> Self {
        Self {
            text: THANKS.to_owned(),
            completion_code: None,
            return_link: None,
            wait: None,
        }
    }
}

impl People {
    /// How long an invitation is good for.
    pub fn expires(&self) -> Duration {
        self.expires.unwrap_or(EXPIRES)
    }

    /// How long a run waits for people before it begins.
    pub fn lobby_waits(&self) -> Duration {
        self.lobby.wait.unwrap_or(WAITS)
    }

    /// How long a finished run waits for people's last answers.
    pub fn end_waits(&self) -> Duration {
        self.thanks.wait.unwrap_or(WAITS)
    }

    /// The host that people call, where it is not this machine.
    pub fn host(&self) -> Option<&str> {
        let (_, host) = self.address.as_deref()?.split_once("://")?;
        Some(host)
    }

    /// Everything that is wrong, each with its place.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut hold = |holds: bool, place: &str, should: &str| {
            if !holds {
                faults.push(format!("{place}: {should}"));
            }
        };
        if let Some(address) = &self.address {
            let is_address = is_link(address) && self.host().is_some_and(is_host);
            hold(
                is_address,
                "address",
                "write it as https://play.example.org, without a path",
            );
        }
        for (place, time) in [
            ("expires", self.expires),
            ("lobby.wait", self.lobby.wait),
            ("thanks.wait", self.thanks.wait),
        ] {
            let is_short = time.is_none_or(|time| time <= LONGEST_TIME);
            hold(is_short, place, "write a time of at most a year");
        }
        for (place, text) in [
            ("consent.text", &self.consent.text),
            ("instructions.text", &self.instructions.text),
            ("lobby.text", &self.lobby.text),
            ("thanks.text", &self.thanks.text),
        ] {
            let should = format!("write at most {LONGEST_TEXT} bytes");
            hold(text.len() <= LONGEST_TEXT, place, &should);
        }
        if let Some(link) = &self.thanks.return_link {
            let is_short = link.len() <= LONGEST_LINE;
            hold(
                is_link(link) && is_short,
                "thanks.return_link",
                "write an address that begins with https://",
            );
        }
        if let Some(code) = &self.thanks.completion_code {
            hold(is_line(code), "thanks.completion_code", LINE);
        }
        let parameters = &self.participant.parameters;
        let are_names = parameters.iter().all(|name| is_line(name));
        hold(
            are_names && parameters.len() <= MOST_PARAMETERS,
            "participant.parameters",
            "name at most 10 parameters of the link",
        );
        for (place, count) in [
            ("check", self.check.len()),
            ("questions", self.questions.len()),
        ] {
            let should = format!("write at most {MOST_QUESTIONS} of them");
            hold(count <= MOST_QUESTIONS, place, &should);
        }
        for (at, check) in self.check.iter().enumerate() {
            let place = format!("check {}", at + 1);
            hold(is_line(&check.question), &place, LINE);
            hold(are_choices(&check.choices), &place, CHOICES);
            let is_chosen = check.choices.contains(&check.answer);
            hold(is_chosen, &place, "answer must be one of choices");
            let is_short = check.explanation.len() <= LONGEST_LINE;
            hold(is_short, &place, "write a shorter explanation");
        }
        for (at, question) in self.questions.iter().enumerate() {
            let place = format!("question {}", at + 1);
            hold(is_line(&question.question), &place, LINE);
            let mut before = self.questions[..at].iter();
            let is_new = before.all(|other| other.name != question.name);
            hold(
                is_name(&question.name) && is_new,
                &place,
                "give each a name of its own, of letters, digits and _",
            );
            let (min, max) = (question.min, question.max);
            let is_range = min.is_none_or(|min| max.is_none_or(|max| min <= max));
            hold(is_range, &place, "min must not be above max");
            let is_choice = question.kind == QuestionKind::Choice;
            let fits = match is_choice {
                true => are_choices(&question.choices),
                false => question.choices.is_empty(),
            };
            hold(fits, &place, CHOICES);
            let steps = question.steps.unwrap_or(0);
            let fits = match question.kind {
                QuestionKind::Scale => (2..=MOST_STEPS).contains(&steps),
                _ => question.steps.is_none(),
            };
            hold(
                fits,
                &place,
                "a scale, and nothing else, has from 2 to 11 steps",
            );
            let are_short = question.low.len().max(question.high.len()) <= LONGEST_LINE;
            hold(are_short, &place, "write shorter words for low and high");
        }
        faults
    }
}

const LINE: &str = "write a line of at most 1000 bytes";

const CHOICES: &str = "a choice, and nothing else, has from 2 to 20 different choices";

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LONGEST_LINE && !text.chars().any(char::is_control)
}

fn is_name(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    is_line(text) && text.bytes().all(is_letter)
}

fn are_choices(choices: &[String]) -> bool {
    let are_lines = choices.iter().all(|choice| is_line(choice));
    let mut pairs = choices.iter().enumerate();
    let differ = pairs.all(|(at, choice)| !choices[..at].contains(choice));
    are_lines && differ && (2..=MOST_CHOICES).contains(&choices.len())
}

/// Whether it is an address that a browser goes to and that runs nothing.
fn is_link(text: &str) -> bool {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'"');
    let begins = text.starts_with("https://") || text.starts_with("http://");
    begins && is_plain
}

fn is_host(text: &str) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    !text.is_empty() && text.bytes().all(is_part)
}

/// Times as people write them: `30m`.
mod time {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer};

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = String::deserialize(from)?;
        let time = humantime::parse_duration(&text).map_err(|error| {
            serde::de::Error::custom(format!("{error}; write a time such as 30m or 7days"))
        })?;
        Ok(Some(time))
    }
}
