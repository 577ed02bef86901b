//! What every decision of a session was sent, word for word, and what came of it. The calls are made again from the record and compared by their digests; how each
//! reply was read stands in the record's moves. Called by `agon show --prompts`, `agon prompts` and pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use agon_agents::{Message, Role};
use agon_engine::record::{AppliedParameters, StoredRecord, TokenLogprob};
use agon_engine::{Foul, RecordedDecision, Seat};
use agon_outlets::line;
use agon_report::{attempts, counted, grouped};
use agon_worker::remaking::Remade;
use serde_json::{Value, json};

use crate::lines;
use crate::run_folder::records::telemetry_beside;

/// What became of a reply.
enum Reading {
    /// It was the answer.
    Answer(Value),
    /// It was refused.
    Refused {
        foul: Foul,
        /// It was the last one that was forgiven none.
        forfeited: bool,
    },
}

/// Which decisions are shown, and how much of each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice {
    /// Only this seat's.
    pub seat: Option<Seat>,
    /// Only this one of each seat.
    pub index: Option<u32>,
    /// Only the first ones of each seat, so many.
    pub below: Option<u32>,
    /// Conversations in full, not only what is new since the decision before.
    pub whole: bool,
}

impl Choice {
    /// Reads a decision address: `SEAT/INDEX`, or as logs have it `SESSION/SEAT/INDEX`.
    pub fn at(address: &str) -> Result<Self, String> {
        let mut parts = address.rsplit('/');
        let index = parts.next().and_then(|part| part.parse().ok());
        let seat = parts.next().and_then(|part| part.parse().ok());
        match (seat, index) {
            (Some(seat), Some(index)) => Ok(Self {
                seat: Some(seat),
                index: Some(index),
                below: None,
                whole: true,
            }),
            _ => Err(format!(
                "\"{address}\" is no decision: write SEAT/INDEX, such as 0/3"
            )),
        }
    }

    fn takes(&self, decision: &RecordedDecision) -> bool {
        self.seat.is_none_or(|seat| seat == decision.seat)
            && self.index.is_none_or(|index| index == decision.index)
            && self.below.is_none_or(|below| decision.index < below)
    }
}

/// Decisions of a session, ready to be shown.
pub struct Prompts {
    record: Arc<StoredRecord>,
    remade: Vec<Remade>,
    readings: BTreeMap<(Seat, u32), Reading>,
    usage: BTreeMap<(Seat, u32), Value>,
}

impl Prompts {
    /// Those of a record; `telemetry` is the line beside it, if there is one.
    pub fn new(record: Arc<StoredRecord>, remade: Vec<Remade>, telemetry: Option<&Value>) -> Self {
        let each = telemetry.and_then(|telemetry| telemetry["each"].as_array());
        let usage = each.into_iter().flatten().filter_map(|one| {
            let seat = Seat::try_from(one["seat"].as_u64()?).ok()?;
            let index = u32::try_from(one["index"].as_u64()?).ok()?;
            Some(((seat, index), one.clone()))
        });
        Self {
            readings: readings(&record),
            usage: usage.collect(),
            record,
            remade,
        }
    }

    /// How many calls are the recorded ones, and how many decisions there are.
    pub fn same(&self) -> (usize, usize) {
        let same = self.remade.iter().filter(|remade| remade.is_same);
        (same.count(), self.remade.len())
    }

    /// Refuses a choice that no decision falls under.
    ///
    /// # Errors
    /// Says which decisions there are.
    pub fn refuse_nothing(&self, choice: Choice) -> Result<(), String> {
        let mut decisions = self.remade.iter().map(Remade::decision);
        if decisions.any(|decision| choice.takes(decision)) {
            return Ok(());
        }
        let mut last: BTreeMap<Seat, u32> = BTreeMap::new();
        for decision in self.remade.iter().map(Remade::decision) {
            let index = last.entry(decision.seat).or_default();
            *index = decision.index.max(*index);
        }
        let seats = last
            .iter()
            .map(|(seat, index)| format!("{seat}/0 to {seat}/{index}"));
        Err(format!(
            "no model made a decision there; decisions of models in this session: {}",
            seats.collect::<Vec<_>>().join(", ")
        ))
    }

    /// The chosen decisions as text, piece by piece, without the line break behind each: all prompts of a
    /// long session are gigabytes.
    pub fn text(&self, choice: Choice) -> impl Iterator<Item = String> {
        let mut before: BTreeMap<Seat, (u32, &[Message])> = BTreeMap::new();
        let decisions = self.remade.iter().filter_map(move |remade| {
            let decision = remade.decision();
            let messages = remade.call.as_ref().map(|call| call.messages.as_slice());
            let mut text = None;
            if choice.takes(decision) {
                let known = before.get(&decision.seat).filter(|_| !choice.whole);
                self.tell(text.get_or_insert_default(), remade, known.copied());
            }
            if let Some(messages) = messages {
                before.insert(decision.seat, (decision.index, messages));
            }
            text
        });
        let pieces = std::iter::once(self.heading()).chain(decisions);
        let pieces = pieces.map(|mut piece| {
            piece.truncate(piece.len() - usize::from(piece.ends_with('\n')));
            piece
        });
        pieces.chain(std::iter::once(self.ending()))
    }

    fn ending(&self) -> String {
        let (same, all) = self.same();
        let decisions = counted(all as u64, "decision");
        match same == all {
            true => format!("\n{decisions}, all made again with equal digests"),
            false => format!(
                "\n{same} of {decisions} were made again with equal digests; the others were asked by \
                 another version of the agents or templates"
            ),
        }
    }

    /// The same as JSON, in full.
    pub fn json(&self, choice: Choice) -> impl Iterator<Item = Value> {
        let places = 0..self.remade.len();
        let chosen = places.filter(move |place| choice.takes(self.remade[*place].decision()));
        chosen.map(|place| self.one(place))
    }

    /// How many decisions there are.
    pub fn count(&self) -> usize {
        self.remade.len()
    }

    /// Where a decision stands among all.
    pub fn find(&self, seat: Seat, index: u32) -> Option<usize> {
        let address = |remade: &Remade| (remade.decision().seat, remade.decision().index);
        let found = self.remade.binary_search_by_key(&(seat, index), address);
        found.ok()
    }

    /// How many of a decision's messages stood in the call of its seat before.
    pub fn known(&self, place: usize) -> usize {
        let messages = |place: usize| {
            let call = self.remade[place].call.as_ref();
            call.map_or([].as_slice(), |call| &call.messages)
        };
        let seat = |place: usize| self.remade[place].decision().seat;
        let before = place.checked_sub(1);
        let before = before.filter(|before| seat(*before) == seat(place));
        let pairs = before.map(|before| messages(before).iter().zip(messages(place)));
        let pairs = pairs.into_iter().flatten();
        pairs.take_while(|(one, other)| one == other).count()
    }

    /// A decision as JSON.
    pub fn one(&self, place: usize) -> Value {
        let remade = &self.remade[place];
        let decision = remade.decision();
        let address = (decision.seat, decision.index);
        let call = remade.call.as_ref();
        let format = call.and_then(|call| call.format.as_ref());
        let schema = format.and_then(|format| serde_json::from_str::<Value>(&format.schema).ok());
        let (answer, foul) = match self.readings.get(&address) {
            Some(Reading::Answer(action)) => (Some(action.clone()), None),
            Some(Reading::Refused { foul, .. }) => (None, Some(json!(foul))),
            _ => (None, None),
        };
        json!({
            "seat": decision.seat,
            "index": decision.index,
            "player": self.player(decision.seat),
            "purpose": decision.purpose,
            "digest_is_equal": remade.is_same,
            "messages": call.map(|call| &call.messages),
            "asked": call.map(|call| json!(*call.settings)),
            "schema": schema,
            "applied": decision.applied,
            "answered_by": decision.answered_by,
            "finish_reason": decision.finish_reason,
            "reply": decision.reply,
            "reasoning": decision.reasoning,
            "logprobs": decision.logprobs,
            "answer": answer,
            "foul": foul,
            "usage": self.usage.get(&address),
        })
    }

    fn heading(&self) -> String {
        let spec = &self.record.spec;
        let mut text = format!("session {}, {}\n", self.record.session, spec.game);
        for (model, origin) in &spec.origins {
            let _ = writeln!(text, "model {model}: {origin}");
        }
        text
    }

    fn player(&self, seat: Seat) -> &str {
        let player = self.record.spec.seats.get(seat);
        player.map_or("?", |player| player.name.as_str())
    }

    fn tell(&self, text: &mut String, remade: &Remade, known: Option<(u32, &[Message])>) {
        let decision = remade.decision();
        let (seat, index) = (decision.seat, decision.index);
        let player = self.player(seat);
        let _ = writeln!(
            text,
            "\n=== decision {seat}/{index}: seat {seat}, {}, {}",
            line(player),
            line(&decision.purpose)
        );
        match &remade.call {
            Some(call) => {
                if !remade.is_same {
                    text.push_str("(NOT what was asked then: the digests differ)\n");
                }
                tell_messages(text, &call.messages, known);
                if let Some(format) = &call.format {
                    let _ = writeln!(
                        text,
                        "--- schema of the reply, {}\n{}",
                        line(&format.name),
                        indented(&format.schema)
                    );
                }
            }
            None => text.push_str("(this program does not come to this call)\n"),
        }
        tell_parameters(text, decision.applied.as_ref());
        let by = match decision.model.as_deref() {
            Some(model) => format!("{} (fall-back {model})", decision.answered_by),
            None => decision.answered_by.clone(),
        };
        if !decision.reasoning.is_empty() {
            let _ = writeln!(text, "--- reasoning\n{}", indented(&decision.reasoning));
        }
        let _ = writeln!(
            text,
            "--- reply by {}, {}\n{}",
            line(&by),
            line(&decision.finish_reason),
            indented(&decision.reply)
        );
        tell_logprobs(text, &decision.logprobs);
        match self.readings.get(&(seat, index)) {
            Some(Reading::Answer(action)) => {
                let _ = writeln!(text, "--- read as {action}");
            }
            Some(Reading::Refused { foul, forfeited }) => {
                let then = if *forfeited {
                    "the ask is forfeited"
                } else {
                    "asked again"
                };
                let kind = serde_json::to_value(foul.kind).unwrap_or_default();
                let kind = kind.as_str().unwrap_or_default();
                let _ = writeln!(text, "--- refused ({kind}), {then}: {}", line(&foul.reason));
            }
            _ => {}
        }
        if let Some(usage) = self.usage.get(&(seat, index)) {
            tell_usage(text, usage);
        }
    }
}

/// What was sent or said, set off: no line of it passes for a heading.
fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

/// The messages that were not part of the conversation of the decision before.
fn tell_messages(text: &mut String, messages: &[Message], known: Option<(u32, &[Message])>) {
    let (earlier, before) = known.unwrap_or_default();
    let pairs = messages.iter().zip(before);
    let same = pairs.take_while(|(one, other)| one == other).count();
    if same > 0 {
        let count = counted(same as u64, "message");
        let _ = writeln!(
            text,
            "({count} as in decision {earlier} of this seat; --whole shows all)"
        );
    }
    for message in &messages[same..] {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let _ = writeln!(text, "--- {role}\n{}", indented(&message.content));
    }
}

fn tell_parameters(text: &mut String, applied: Option<&AppliedParameters>) {
    let Some(applied) = applied else { return };
    let mut sent = Vec::new();
    let numbers = [
        ("temperature", applied.temperature),
        ("top_p", applied.top_p),
    ];
    for (name, value) in numbers {
        sent.extend(value.map(|value| format!("{name} {value}")));
    }
    sent.extend(
        applied
            .max_output_tokens
            .map(|most| format!("max_output_tokens {most}")),
    );
    sent.extend(
        applied
            .sampling_seed
            .map(|seed| format!("sampling_seed {seed}")),
    );
    let words = [
        ("reply_format", &applied.reply_format),
        ("reasoning_effort", &applied.reasoning_effort),
    ];
    for (name, value) in words {
        sent.extend((!value.is_empty()).then(|| format!("{name} {value}")));
    }
    sent.extend(applied.logprobs.map(|number| format!("logprobs {number}")));
    if applied.stop_sequences {
        sent.push("stop_sequences".to_owned());
    }
    let _ = writeln!(text, "--- sent with {}", sent.join(", "));
    if !applied.omitted.is_empty() {
        let omitted = applied.omitted.join(", ");
        let _ = writeln!(text, "--- asked for and NOT sent: {omitted}");
    }
}

/// One line per token of the reply: itself and the likeliest in its place, with their
/// probabilities.
fn tell_logprobs(text: &mut String, tokens: &[TokenLogprob]) {
    if tokens.is_empty() {
        return;
    }
    text.push_str("--- probabilities of the reply's tokens\n");
    let shown = |token: &TokenLogprob| format!("{:?} {:.4}", token.token, token.logprob.exp());
    for token in tokens {
        let top: Vec<String> = token.top.iter().map(shown).collect();
        let _ = writeln!(text, "  {}  of {}", shown(token), top.join(", "));
    }
}

fn tell_usage(text: &mut String, usage: &Value) {
    let number = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (input, output) = (
        grouped(number("input_tokens")),
        grouped(number("output_tokens")),
    );
    let thought = match number("reasoning_tokens") {
        0 => String::new(),
        tokens => format!(" ({} of them thought)", grouped(tokens)),
    };
    let cost = match usage["cost_nanodollars"].as_u64() {
        None | Some(0) => String::new(),
        Some(cost) => format!(", {}", agon_report::dollars(cost)),
    };
    let estimated = match usage["estimated"].as_bool() {
        Some(true) => ", estimated",
        _ => "",
    };
    let _ = writeln!(
        text,
        "--- {input} tokens in, {output} out{thought}{cost}{estimated}"
    );
}

/// What became of every reply to an ask.
fn readings(record: &StoredRecord) -> BTreeMap<(Seat, u32), Reading> {
    let mut readings = BTreeMap::new();
    for (seat, replies) in attempts::replies(record) {
        let moves = record.moves.iter().filter(|made| made.seat == seat);
        let outcomes = moves.flat_map(|made| {
            let last = made.fouls.len().saturating_sub(1);
            let fouls = made.fouls.iter().enumerate();
            let refused = fouls.map(move |(place, foul)| Reading::Refused {
                foul: foul.clone(),
                forfeited: made.forfeited && place == last,
            });
            let answer = (!made.forfeited).then(|| Reading::Answer(made.action.clone()));
            refused.chain(answer)
        });
        let indices = replies.iter().map(|reply| (seat, reply.index));
        readings.extend(indices.zip(outcomes));
    }
    readings
}

/// What lies beside a record about what its decisions took.
pub fn telemetry(records: &Path, record: &StoredRecord) -> Option<Value> {
    let lines = lines::read(&telemetry_beside(records)?).map_while(Result::ok);
    let mut lines = lines.filter(|line| line.text.contains(record.session.as_str()));
    serde_json::from_str(&lines.next()?.text).ok()
}
