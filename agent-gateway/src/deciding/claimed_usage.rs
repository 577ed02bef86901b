//! How far a provider is believed about what a call used: money, quota and results rest on its word.
//! Knows no budget store and no quota. Called by `asking.rs` for each reply.

use crate::budgets::quote::most_usage;
use crate::decision::{Request, Usage};
use crate::keys::PooledKey;
use crate::providers::{Call, Reply};

/// The longest tokens of tokenizers in use are runs of 128 blanks or signs.
const LONGEST_TOKEN: u64 = 128;

/// Takes what a reply says of its own size as far as it can be true: a budget must not be spent by
/// a claim, nor spared by one. Too much is cut to what the request allows; too little counts as nothing
/// said, which is charged at the most. The key's status says so.
pub(super) fn limit_to_what_can_be_true(reply: &mut Reply, call: Call<'_>, key: &PooledKey) {
    let Some(claimed) = reply.usage else { return };
    let claims = || {
        let (input, output) = (claimed.input_tokens, claimed.output_tokens);
        format!("a reply claims {input} input and {output} output tokens")
    };
    let usage = claimed.at_most(&most_usage(call.request, call.model));
    if is_too_little(claimed, call.request, &reply.text) {
        reply.usage = None;
        let reason = format!(
            "{}, fewer than its text contains; its usage is ignored",
            claims()
        );
        return note(key, call, "usage_below_texts", &reason);
    }
    reply.usage = Some(usage);
    if usage.estimated && !claimed.estimated {
        let reason = format!(
            "{}, but its request allows at most {} and {}; it is charged at that limit",
            claims(),
            usage.input_tokens,
            usage.output_tokens
        );
        note(key, call, "usage_beyond_request", &reason);
    }
}

/// Whether no tokenizer makes so few tokens of these texts.
fn is_too_little(claimed: Usage, request: &Request, reply: &str) -> bool {
    let fewest = |bytes: usize| (bytes as u64).div_ceil(LONGEST_TOKEN);
    let sent: usize = request.messages.iter().map(|one| one.content.len()).sum();
    claimed.input_tokens < fewest(sent) || claimed.output_tokens < fewest(reply.len())
}

fn note(key: &PooledKey, call: Call<'_>, kind: &'static str, reason: &str) {
    key.counters.note_error(kind, reason);
    tracing::warn!(model = %call.model.model, %reason, "a reply reports impossible token usage");
}
