//! How many tokens a call will use at most, before anybody has counted them.
//! Deliberately high: what is taken too much is given back when the call is
//! settled, what is taken too little makes the provider refuse. Called by
//! `deciding.rs`.

use crate::decision::{Request, Usage};

/// English is about four bytes to a token, JSON and numbers nearer three.
const BYTES_PER_TOKEN: u64 = 3;
/// Role, separators and the like around each message.
const TOKENS_PER_MESSAGE: u64 = 6;

/// Tokens that the request's text will count as.
pub fn input_tokens(request: &Request) -> u64 {
    let schema = request
        .reply_format
        .as_ref()
        .map_or(0, |format| format.json_schema.len());
    let bytes: usize = request
        .messages
        .iter()
        .map(|message| message.content.len())
        .sum();
    (bytes + schema) as u64 / BYTES_PER_TOKEN + request.messages.len() as u64 * TOKENS_PER_MESSAGE
}

/// What to record when the provider does not say what it used.
pub fn usage(request: &Request, reply: &str) -> Usage {
    Usage {
        input_tokens: input_tokens(request),
        output_tokens: (reply.len() as u64).div_ceil(BYTES_PER_TOKEN),
        estimated: true,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{Message, Role};

    #[test]
    fn estimate_is_above_what_a_tokenizer_counts() {
        let content = "You are one of ten players. Choose a whole number from 0 to 100.";
        let request = Request {
            model: "m".into(),
            messages: vec![Message {
                role: Role::User,
                content: content.into(),
            }],
            ..Request::default()
        };
        // cl100k counts 18, and some 4 around the message.
        assert!((22..=40).contains(&input_tokens(&request)));
    }
}
