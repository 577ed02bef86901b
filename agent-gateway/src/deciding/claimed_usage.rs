//! How far a provider is believed about what a call used: money, quota and results rest on its word.
//! Knows no budget store and no quota. Called by `asking.rs` for each reply.

use crate::budgets::quote::most_usage;
use crate::keys::PooledKey;
use crate::providers::{Call, Reply};

/// Takes what a reply says of its own size as far as it can be true: a budget must not be spent by
/// a claim. The key's status says so.
pub(super) fn limit_to_request(reply: &mut Reply, call: Call<'_>, key: &PooledKey) {
    let Some(claimed) = reply.usage else { return };
    let usage = claimed.at_most(&most_usage(call.request, call.model));
    reply.usage = Some(usage);
    if usage.estimated && !claimed.estimated {
        let reason = format!(
            "a reply claims {} input and {} output tokens, but its request allows at most {} and \
             {}; it is charged at that limit",
            claimed.input_tokens, claimed.output_tokens, usage.input_tokens, usage.output_tokens
        );
        key.counters.note_error("usage_beyond_request", &reason);
        tracing::warn!(model = %call.model.model, %reason, "usage beyond the request");
    }
}
