//! What one call takes from the limits on tokens, by the rule of the provider that is played, and
//! what it reports as used. Pure arithmetic; `limits.rs` takes the amounts.

use super::options::SimCharge;

/// What `--charge openai` counts when the request does not say how long the answer may be: the
/// old default of `max_tokens`.
pub const OPENAI_OUTPUT_WHEN_UNSAID: u32 = 16;

/// Characters to a token in OpenAI's estimate.
const CHARS_PER_TOKEN: u64 = 4;

/// What a call used, as the reply reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u32,
    /// Of the input, read from the cache.
    pub(super) cached: u32,
    /// With the thoughts.
    pub(super) output: u32,
    /// Of the output, thoughts.
    pub(super) reasoning: u32,
}

/// Tokens to take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) tokens: u64,
    pub(super) input: u64,
    pub(super) output: u64,
}

/// What a call takes, and when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) on_arrival: Amounts,
    pub(super) when_done: Amounts,
}

impl Charge {
    /// `most_output` is what the request allows; `characters` are those of its messages.
    pub(super) fn new(
        rule: SimCharge,
        usage: Usage,
        most_output: Option<u32>,
        characters: impl FnOnce() -> u64,
    ) -> Self {
        let (input, output) = (u64::from(usage.input), u64::from(usage.output));
        let mut charge = Self::default();
        match rule {
            SimCharge::Total => {
                charge.on_arrival = Amounts {
                    tokens: input + output,
                    input,
                    output,
                };
            }
            SimCharge::OpenAi => {
                let input = characters().div_ceil(CHARS_PER_TOKEN);
                let output = u64::from(most_output.unwrap_or(OPENAI_OUTPUT_WHEN_UNSAID));
                charge.on_arrival = Amounts {
                    tokens: input.max(output),
                    input,
                    output,
                };
            }
            SimCharge::Anthropic => {
                let input = input.saturating_sub(u64::from(usage.cached));
                charge.on_arrival = Amounts {
                    tokens: input,
                    input,
                    output: 0,
                };
                charge.when_done = Amounts {
                    tokens: output,
                    input: 0,
                    output,
                };
            }
            SimCharge::Gemini => {
                charge.on_arrival = Amounts {
                    tokens: input,
                    input,
                    output: 0,
                };
            }
        }
        charge
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(rule: SimCharge, most_output: Option<u32>) -> [[u64; 3]; 2] {
        let usage = Usage {
            input: 100,
            cached: 30,
            output: 20,
            reasoning: 5,
        };
        let charge = Charge::new(rule, usage, most_output, || 41);
        [charge.on_arrival, charge.when_done].map(|part| [part.tokens, part.input, part.output])
    }

    #[test]
    fn total_is_what_was_used() {
        let expected = [[120, 100, 20], [0; 3]];
        assert_eq!(charge(SimCharge::Total, Some(500)), expected);
    }

    #[test]
    fn openai_takes_the_larger_of_permission_and_estimate() {
        assert_eq!(
            charge(SimCharge::OpenAi, Some(500)),
            [[500, 11, 500], [0; 3]]
        );
        assert_eq!(charge(SimCharge::OpenAi, Some(5)), [[11, 11, 5], [0; 3]]);
        assert_eq!(charge(SimCharge::OpenAi, None), [[16, 11, 16], [0; 3]]);
    }

    #[test]
    fn anthropic_takes_output_when_it_is_done_and_no_cached_input() {
        let expected = [[70, 70, 0], [20, 0, 20]];
        assert_eq!(charge(SimCharge::Anthropic, Some(500)), expected);
    }

    #[test]
    fn gemini_takes_input_only() {
        let expected = [[100, 100, 0], [0; 3]];
        assert_eq!(charge(SimCharge::Gemini, Some(500)), expected);
    }
}
