//! The digest of a decision's request: part of the contract, because the gateway
//! records it, workers put it into session records, and verification computes it
//! again from the prompts.

use crate::v1;

/// What a request asks, in the form that is hashed. Who asks, for which address
/// and what for are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct CanonicalRequest<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// Role (`system`, `user`, `assistant`) and content of every message.
    pub messages: Vec<(&'a str, &'a str)>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Longest reply.
    pub max_output_tokens: Option<u32>,
    /// Sampling seed.
    pub sampling_seed: Option<u64>,
    /// Name and JSON Schema of the reply format.
    pub reply_format: Option<(&'a str, &'a str)>,
    /// Models to ask when the first cannot answer.
    pub fallback_models: Vec<&'a str>,
    /// How long to think.
    pub reasoning_effort: Option<&'a str>,
    /// The reply ends before any of these.
    pub stop_sequences: Vec<&'a str>,
    /// How many likely tokens are told with each token of the answer.
    pub logprobs: Option<u32>,
}

impl CanonicalRequest<'_> {
    /// BLAKE3 over a canonical encoding, lower-case hexadecimal: a version line,
    /// then every field in order, texts and lists with their lengths before them,
    /// optional fields with a presence byte, floats as their bits. Two requests
    /// share a digest exactly when all these fields are equal. Fields that came
    /// later are hashed, with their names, only when they are there, so that old
    /// digests stay true.
    pub fn digest(&self) -> String {
        let mut canon = Canon(blake3::Hasher::new());
        canon.text("agon request 1");
        canon.text(self.model);
        canon.number(self.messages.len() as u64);
        for (role, content) in &self.messages {
            canon.text(role);
            canon.text(content);
        }
        canon.optional(self.temperature.map(f64::to_bits));
        canon.optional(self.top_p.map(f64::to_bits));
        canon.optional(self.max_output_tokens.map(u64::from));
        canon.optional(self.sampling_seed);
        canon.optional(self.reply_format.map(|_| 0));
        if let Some((name, schema)) = self.reply_format {
            canon.text(name);
            canon.text(schema);
        }
        canon.later("fallback_models", &self.fallback_models);
        canon.later("reasoning_effort", self.reasoning_effort.as_slice());
        canon.later("stop_sequences", &self.stop_sequences);
        let logprobs = self.logprobs.map(|number| number.to_string());
        canon.later("logprobs", logprobs.as_deref().as_slice());
        canon.0.finalize().to_hex().to_string()
    }
}

impl<'a> From<&'a v1::DecideRequest> for CanonicalRequest<'a> {
    fn from(wire: &'a v1::DecideRequest) -> Self {
        let message = |message: &'a v1::ChatMessage| (role(message.role()), &*message.content);
        let format = wire.reply_format.as_ref();
        Self {
            model: &wire.model,
            messages: wire.messages.iter().map(message).collect(),
            temperature: wire.temperature,
            top_p: wire.top_p,
            max_output_tokens: wire.max_output_tokens,
            sampling_seed: wire.sampling_seed,
            reply_format: format.map(|format| (&*format.name, &*format.json_schema)),
            fallback_models: wire.fallback_models.iter().map(|name| &**name).collect(),
            reasoning_effort: wire.reasoning_effort.as_deref(),
            stop_sequences: wire.stop_sequences.iter().map(|stop| &**stop).collect(),
            logprobs: wire.logprobs,
        }
    }
}

fn role(role: v1::MessageRole) -> &'static str {
    match role {
        v1::MessageRole::Unspecified => "",
        v1::MessageRole::System => "system",
        v1::MessageRole::User => "user",
        v1::MessageRole::Assistant => "assistant",
    }
}

/// Feeds fields to the hash so that no two field lists share their bytes.
struct Canon(blake3::Hasher);

impl Canon {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    fn later(&mut self, name: &str, texts: &[&str]) {
        if texts.is_empty() {
            return;
        }
        self.text(name);
        self.number(texts.len() as u64);
        for text in texts {
            self.text(text);
        }
    }

    fn optional(&mut self, value: Option<u64>) {
        self.0.update(&[u8::from(value.is_some())]);
        if let Some(value) = value {
            self.number(value);
        }
    }
}
