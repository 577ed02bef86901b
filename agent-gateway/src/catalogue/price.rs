//! What a model's tokens cost: one price per kind of token, and others for long
//! prompts where a provider has them. Whole nano-dollars, rounded up once per
//! call. Called by whoever plans, reserves or accounts.

use crate::decision::Usage;
use crate::money::NanoDollars;

const TOKENS_PER_MILLION: u128 = 1_000_000;

/// What a model's tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Unless the prompt is long.
    pub rates: Rates,
    /// What long prompts cost, where they cost more.
    pub long_prompt: Option<LongPrompt>,
}

/// Other rates for the whole call, input and output, once its prompt is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongPrompt {
    /// A prompt with more input tokens than this, cached ones included, is long.
    pub above_input_tokens: u64,
    /// What its tokens cost.
    pub rates: Rates,
}

/// For a million tokens of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Input that is neither of the next two.
    pub input: NanoDollars,
    /// Input that the provider had in its cache.
    pub cached_input: NanoDollars,
    /// Input that the provider writes to its cache.
    pub cache_write: NanoDollars,
    /// Output that is not the next.
    pub output: NanoDollars,
    /// Hidden reasoning.
    pub reasoning: NanoDollars,
}

impl Price {
    /// Nothing costs anything: people, and servers of one's own.
    pub const FREE: Self = Self {
        rates: Rates {
            input: NanoDollars(0),
            cached_input: NanoDollars(0),
            cache_write: NanoDollars(0),
            output: NanoDollars(0),
            reasoning: NanoDollars(0),
        },
        long_prompt: None,
    };

    /// What this use costs, rounded up to a whole nano-dollar.
    pub fn of(&self, usage: &Usage) -> NanoDollars {
        match self.long_prompt {
            Some(long) if usage.input_tokens > long.above_input_tokens => long.rates.of(usage),
            _ => self.rates.of(usage),
        }
    }

    /// The most that a call with at most so many tokens can cost, however they
    /// turn out to be counted.
    pub fn most(&self, input_tokens: u64, output_tokens: u64) -> NanoDollars {
        let short = self.rates.most(input_tokens, output_tokens);
        match self.long_prompt {
            Some(long) if input_tokens > long.above_input_tokens => {
                short.max(long.rates.most(input_tokens, output_tokens))
            }
            _ => short,
        }
    }
}

impl Rates {
    /// Kinds that contain one another are told apart first. A provider whose
    /// parts are larger than the whole is believed as far as the whole.
    fn of(&self, usage: &Usage) -> NanoDollars {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let written = usage
            .cache_write_input_tokens
            .min(usage.input_tokens - cached);
        let reasoning = usage.reasoning_tokens.min(usage.output_tokens);
        sum([
            (usage.input_tokens - cached - written, self.input),
            (cached, self.cached_input),
            (written, self.cache_write),
            (usage.output_tokens - reasoning, self.output),
            (reasoning, self.reasoning),
        ])
    }

    fn most(&self, input_tokens: u64, output_tokens: u64) -> NanoDollars {
        let dearest_input = self.input.max(self.cached_input).max(self.cache_write);
        sum([
            (input_tokens, dearest_input),
            (output_tokens, self.output.max(self.reasoning)),
        ])
    }
}

fn sum<const KINDS: usize>(kinds: [(u64, NanoDollars); KINDS]) -> NanoDollars {
    let millionths = kinds.iter().fold(0_u128, |sum, (tokens, rate)| {
        // A product of two 64-bit numbers fits; the sum of several might not.
        sum.saturating_add(u128::from(*tokens) * u128::from(rate.0))
    });
    NanoDollars(u64::try_from(millionths.div_ceil(TOKENS_PER_MILLION)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
