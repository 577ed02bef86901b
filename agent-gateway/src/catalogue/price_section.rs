//! A price as files have it: under a model of the configuration, and in tables of prices. Refuses
//! unknown keys.

use serde::Deserialize;

use super::price::{LongPrompt, Price, Rates};
use crate::money::NanoDollars;

/// `[models.NAME.price]`, and `price` in a table of prices. Dollars per million
/// tokens, as text so that no digit is lost.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSection {
    /// Input tokens.
    #[serde(deserialize_with = "NanoDollars::from_dollars")]
    pub input_per_million_dollars: NanoDollars,
    /// Output tokens.
    #[serde(deserialize_with = "NanoDollars::from_dollars")]
    pub output_per_million_dollars: NanoDollars,
    /// Input that the provider had in its cache. Absent: as input.
    #[serde(default, deserialize_with = "NanoDollars::from_optional_dollars")]
    pub cached_input_per_million_dollars: Option<NanoDollars>,
    /// Input that the provider writes to its cache. Absent: as input.
    #[serde(default, deserialize_with = "NanoDollars::from_optional_dollars")]
    pub cache_write_per_million_dollars: Option<NanoDollars>,
    /// Hidden reasoning. Absent: as output.
    #[serde(default, deserialize_with = "NanoDollars::from_optional_dollars")]
    pub reasoning_per_million_dollars: Option<NanoDollars>,
    /// What the whole call costs when its prompt is long. Absent: the same.
    pub long_prompt: Option<LongPromptSection>,
}

/// `long_prompt` of a price.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPromptSection {
    /// A prompt with more input tokens than this is long.
    pub above_input_tokens: u64,
    /// Input tokens.
    #[serde(deserialize_with = "NanoDollars::from_dollars")]
    pub input_per_million_dollars: NanoDollars,
    /// Output tokens.
    #[serde(deserialize_with = "NanoDollars::from_dollars")]
    pub output_per_million_dollars: NanoDollars,
    /// Input that the provider had in its cache. Absent: as input.
    #[serde(default, deserialize_with = "NanoDollars::from_optional_dollars")]
    pub cached_input_per_million_dollars: Option<NanoDollars>,
    /// Input that the provider writes to its cache. Absent: as input.
    #[serde(default, deserialize_with = "NanoDollars::from_optional_dollars")]
    pub cache_write_per_million_dollars: Option<NanoDollars>,
    /// Hidden reasoning. Absent: as output.
    #[serde(default, deserialize_with = "NanoDollars::from_optional_dollars")]
    pub reasoning_per_million_dollars: Option<NanoDollars>,
}

impl PriceSection {
    /// Nobody sends a bill.
    pub const FREE: Self = Self {
        input_per_million_dollars: NanoDollars(0),
        output_per_million_dollars: NanoDollars(0),
        cached_input_per_million_dollars: None,
        cache_write_per_million_dollars: None,
        reasoning_per_million_dollars: None,
        long_prompt: None,
    };

    /// The price, with what was left out filled in.
    pub fn price(&self) -> Price {
        Price {
            rates: rates(
                [
                    self.input_per_million_dollars,
                    self.output_per_million_dollars,
                ],
                self.cached_input_per_million_dollars,
                self.cache_write_per_million_dollars,
                self.reasoning_per_million_dollars,
            ),
            long_prompt: self.long_prompt.as_ref().map(LongPromptSection::price),
        }
    }
}

impl LongPromptSection {
    fn price(&self) -> LongPrompt {
        LongPrompt {
            above_input_tokens: self.above_input_tokens,
            rates: rates(
                [
                    self.input_per_million_dollars,
                    self.output_per_million_dollars,
                ],
                self.cached_input_per_million_dollars,
                self.cache_write_per_million_dollars,
                self.reasoning_per_million_dollars,
            ),
        }
    }
}

fn rates(
    [input, output]: [NanoDollars; 2],
    cached_input: Option<NanoDollars>,
    cache_write: Option<NanoDollars>,
    reasoning: Option<NanoDollars>,
) -> Rates {
    Rates {
        input,
        cached_input: cached_input.unwrap_or(input),
        cache_write: cache_write.unwrap_or(input),
        output,
        reasoning: reasoning.unwrap_or(output),
    }
}
