//! What a model turned out not to take. The configuration says what to send; a
//! server named only by its address is believed to take everything, and says so
//! itself when it does not. Then the model is asked with less from then on, in
//! this process, and nobody's decision fails. Called by `openai.rs`.

use std::collections::HashMap;

use parking_lot::Mutex;
use reqwest::StatusCode;

use crate::config::{ResolvedModel, StructuredOutput};
use crate::decision::Request;

/// A complaint is at the beginning of a body, what it quotes may be long.
const COMPLAINT_BYTES: usize = 4_096;

/// How servers say that they do not know a field or one of its values.
const NOT_TAKEN: [&str; 12] = [
    "support",
    "unavailable",
    "not available",
    "not implemented",
    "not permitted",
    "not allowed",
    "forbidden",
    "unknown",
    "unexpected",
    "unrecognized",
    "must be",
    "must contain",
];

/// How servers call the reply format.
const FORMAT_NAMES: [&str; 4] = [
    "response_format",
    "response format",
    "json_schema",
    "json_object",
];

/// What one call may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ability {
    /// How a reply format is sent.
    pub(super) structured_output: StructuredOutput,
    /// A seed is sent.
    pub(super) seed: bool,
}

/// What has been learnt, by server and model.
#[derive(Default)]
pub(super) struct Abilities {
    learnt: Mutex<HashMap<(String, String), Ability>>,
}

impl Abilities {
    /// As configured, less what the server has refused.
    pub(super) fn of(&self, model: &ResolvedModel) -> Ability {
        let learnt = self.learnt.lock().get(&key(model)).copied();
        learnt.unwrap_or(Ability {
            structured_output: model.structured_output,
            seed: model.seed,
        })
    }

    /// Learns from a refused call; says whether another one will be different.
    pub(super) fn learn(
        &self,
        model: &ResolvedModel,
        request: &Request,
        sent: Ability,
        status: StatusCode,
        body: &[u8],
    ) -> bool {
        let less = sent.without(&complaints(request, sent, status, body));
        if less == sent {
            return false;
        }
        let mut learnt = self.learnt.lock();
        let known = learnt.entry(key(model)).or_insert(sent);
        // Another call that was under way may have learnt it, or more, before.
        let both = known.least(less);
        if both != *known {
            *known = both;
            let (model, said) = (&model.name, String::from_utf8_lossy(beginning(body)));
            let structured_output = both.structured_output.name();
            let (said, seed) = (said.trim(), both.seed);
            tracing::warn!(
                model,
                structured_output,
                seed,
                said,
                "the server does not take all that is configured for the model, it is asked \
                 like this from now on"
            );
        }
        true
    }
}

/// What a server complained about.
#[derive(Default)]
struct Complaints {
    format: bool,
    seed: bool,
}

impl Ability {
    fn without(self, complaints: &Complaints) -> Self {
        Self {
            structured_output: match self.structured_output {
                StructuredOutput::JsonSchema if complaints.format => StructuredOutput::JsonObject,
                _ if complaints.format => StructuredOutput::None,
                unchanged => unchanged,
            },
            seed: self.seed && !complaints.seed,
        }
    }

    fn least(self, other: Self) -> Self {
        let rank = |ability: &Self| match ability.structured_output {
            StructuredOutput::None => 0,
            StructuredOutput::JsonObject => 1,
            StructuredOutput::JsonSchema => 2,
        };
        let lesser = if rank(&self) <= rank(&other) {
            self
        } else {
            other
        };
        Self {
            structured_output: lesser.structured_output,
            seed: self.seed && other.seed,
        }
    }
}

/// Only what was sent can be complained about.
fn complaints(request: &Request, sent: Ability, status: StatusCode, body: &[u8]) -> Complaints {
    if !matches!(status.as_u16(), 400 | 422) {
        return Complaints::default();
    }
    let said = String::from_utf8_lossy(beginning(body)).to_lowercase();
    if !NOT_TAKEN.iter().any(|words| said.contains(words)) {
        return Complaints::default();
    }
    let sent_format = request.reply_format.is_some();
    let mut words = said.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    Complaints {
        format: sent_format
            && sent.structured_output != StructuredOutput::None
            && FORMAT_NAMES.iter().any(|name| said.contains(name)),
        seed: request.sampling_seed.is_some() && sent.seed && words.any(|word| word == "seed"),
    }
}

fn beginning(body: &[u8]) -> &[u8] {
    &body[..body.len().min(COMPLAINT_BYTES)]
}

fn key(model: &ResolvedModel) -> (String, String) {
    (model.provider.base_url.clone(), model.model.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(status: u16, body: &str) -> (bool, bool) {
        let request = Request {
            model: "m".into(),
            messages: Vec::new(),
            temperature: None,
            top_p: None,
            max_output_tokens: None,
            sampling_seed: Some(1),
            reply_format: Some(crate::decision::ReplyFormat {
                name: "act".into(),
                json_schema: "{}".into(),
            }),
            fallback_models: Vec::new(),
            reasoning_effort: None,
            stop_sequences: Vec::new(),
        };
        let sent = Ability {
            structured_output: StructuredOutput::JsonSchema,
            seed: true,
        };
        let status = StatusCode::from_u16(status).unwrap();
        let heard = complaints(&request, sent, status, body.as_bytes());
        (heard.format, heard.seed)
    }

    #[test]
    fn complaints_of_known_servers_are_understood() {
        let format = [
            "This response_format type is unavailable now",
            "This model does not support response format `json_schema`.",
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
            "'response_format.type' must be 'json_object' or 'text'",
            "'messages' must contain the word 'json' to use 'response_format'",
        ];
        for said in format {
            assert_eq!(heard(400, said), (true, false), "{said}");
        }
        let seed = [
            "Unrecognized request argument supplied: seed",
            "Unsupported parameter: 'seed' is not supported with this model.",
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]}"#,
        ];
        for said in seed {
            assert_eq!(heard(422, said), (false, true), "{said}");
        }
        assert_eq!(heard(400, "unknown: seed, response_format"), (true, true));
    }

    #[test]
    fn other_refusals_are_no_complaint_about_fields() {
        for (status, said) in [
            (
                400,
                "context length exceeded, at most 4096 tokens supported",
            ),
            (400, "seed_data is unknown"),
            (400, "Invalid schema for response_format 'act': no type"),
            (500, "unsupported: seed"),
            (404, "unknown model json_schema"),
        ] {
            assert_eq!(heard(status, said), (false, false), "{said}");
        }
    }

    #[test]
    fn abilities_only_shrink() {
        let ability = |structured_output, seed| Ability {
            structured_output,
            seed,
        };
        let schema = ability(StructuredOutput::JsonSchema, false);
        let object = ability(StructuredOutput::JsonObject, true);
        let both = ability(StructuredOutput::JsonObject, false);
        assert_eq!(schema.least(object), both);
        assert_eq!(object.least(schema), both);
        let complaints = Complaints {
            format: true,
            seed: false,
        };
        let none = ability(StructuredOutput::None, true);
        assert_eq!(object.without(&complaints), none);
        assert_eq!(none.without(&complaints), none);
    }
}
