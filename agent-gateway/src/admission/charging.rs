//! What a call takes of its key's limits, by the provider's own way of counting:
//! before it is made, at most, and as it turned out. Where only real use counts,
//! what models usually write is learned, because reserving all they may write
//! would leave most of a limit unused. Called by `deciding.rs`.

use parking_lot::Mutex;

use super::Charge;
use crate::catalogue::{ChargeRule, ResolvedModel};
use crate::decision::{Request, Usage};
use crate::estimate;

/// Weight of the newest answer in what is learned: some fifty answers back
/// matter, a single long one does not.
const NEWEST: f64 = 0.02;

/// Until so many answers have been seen their plain mean is what is learned.
const FIRST: u64 = 50;

/// OpenAI's own estimate of input for its limits: characters over four.
const OPENAI_CHARACTERS_PER_TOKEN: usize = 4;

/// What a call is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charges {
    /// Taken when it is admitted.
    pub now: Charge,
    /// Taken when its asker dies, or the provider does not say what it used.
    pub most: Charge,
    /// What it takes of the team's share: input and output as expected.
    pub cost: u64,
}

/// What the models of a lane have been seen to use.
#[derive(Debug, Default)]
pub struct UsageEstimator(Mutex<Observed>);

#[derive(Debug, Default)]
struct Observed {
    answers: u64,
    output_tokens: f64,
    /// Real input tokens to estimated ones.
    input_share: f64,
}

impl UsageEstimator {
    /// What the call takes by `rule`.
    pub fn charges(&self, rule: ChargeRule, model: &ResolvedModel, request: &Request) -> Charges {
        // A caller may ask for more than the model can write.
        let asked = model.output_limit(request.max_output_tokens, request.effort());
        let most_output = model.most_output_tokens.unwrap_or(u32::MAX);
        let most_output = u64::from(asked.tokens.min(most_output));
        let estimated_input = estimate::input_tokens(request);
        let (input, output) = {
            let seen = self.0.lock();
            if seen.answers == 0 {
                (estimated_input, most_output)
            } else {
                let input = (estimated_input as f64 * seen.input_share).ceil() as u64;
                let output = seen.output_tokens.ceil() as u64;
                (
                    input.clamp(1, estimated_input.max(1) * 2),
                    output.min(most_output),
                )
            }
        };
        let charge = |input: u64, output: u64| Charge {
            requests: 1,
            tokens: match rule {
                ChargeRule::OpenAi => most_output.max(openai_input(request)),
                ChargeRule::Gemini => input,
                ChargeRule::Anthropic | ChargeRule::Total => input + output,
            },
            input_tokens: input,
            output_tokens: output,
        };
        Charges {
            now: charge(input, output),
            most: charge(estimated_input.max(input), most_output),
            cost: input + output,
        }
    }

    /// Learns from an answer whose use the provider has told.
    pub fn learn(&self, rule: ChargeRule, request: &Request, usage: &Usage) {
        if usage.estimated {
            return;
        }
        let estimated = estimate::input_tokens(request).max(1) as f64;
        let mut seen = self.0.lock();
        seen.answers += 1;
        let newest = NEWEST.max(1.0 / seen.answers.min(FIRST) as f64);
        let used = used(rule, usage, &Charge::default());
        let share = used.input_tokens as f64 / estimated;
        let output = used.output_tokens as f64;
        seen.output_tokens += newest * (output - seen.output_tokens);
        seen.input_share += newest * (share - seen.input_share);
    }
}

/// What an answered call took in the end.
pub fn used(rule: ChargeRule, usage: &Usage, taken: &Charge) -> Charge {
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    match rule {
        ChargeRule::OpenAi => Charge {
            requests: 1,
            tokens: taken.tokens,
            input_tokens: input,
            output_tokens: output,
        },
        ChargeRule::Anthropic => Charge {
            requests: 1,
            tokens: counted_input(usage) + output,
            input_tokens: counted_input(usage),
            output_tokens: output,
        },
        ChargeRule::Gemini => Charge {
            requests: 1,
            tokens: input,
            input_tokens: input,
            output_tokens: output,
        },
        ChargeRule::Total => Charge {
            requests: 1,
            tokens: input.saturating_add(output),
            input_tokens: input,
            output_tokens: output,
        },
    }
}

/// Why a provider did nothing for a call that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// It failed itself.
    Provider,
    /// The key had no quota left.
    Quota,
    /// It takes no such request, or not with this key.
    Request,
}

/// What a call that failed took: no tokens, except where arriving is enough. That
/// it was made counts; nobody knows how far it came. A request that was refused for
/// what it says was no more than read.
pub fn of_failure(rule: ChargeRule, taken: &Charge, blame: Blame) -> Charge {
    let made = Charge {
        requests: taken.requests,
        ..Charge::default()
    };
    match (rule, blame) {
        (ChargeRule::OpenAi, Blame::Quota) => *taken,
        (ChargeRule::OpenAi, Blame::Request) => Charge {
            tokens: taken.tokens.min(taken.input_tokens),
            input_tokens: taken.input_tokens,
            ..made
        },
        _ => made,
    }
}

/// Anthropic does not count what came from its cache.
fn counted_input(usage: &Usage) -> u64 {
    usage.input_tokens.saturating_sub(usage.cached_input_tokens)
}

fn openai_input(request: &Request) -> u64 {
    let characters = request
        .messages
        .iter()
        .map(|message| message.content.chars().count());
    characters
        .sum::<usize>()
        .div_ceil(OPENAI_CHARACTERS_PER_TOKEN) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GatewayConfig;
    use crate::decision::{Message, Role};

    fn model() -> ResolvedModel {
        GatewayConfig::default().resolve("ollama/x").unwrap()
    }

    fn request(characters: usize, most: u32) -> Request {
        Request {
            model: "m".into(),
            messages: vec![Message {
                role: Role::User,
                content: "x".repeat(characters),
            }],
            max_output_tokens: Some(most),
            ..Request::default()
        }
    }

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            cached_input_tokens: cached,
            output_tokens: output,
            ..Usage::default()
        }
    }

    #[test]
    fn openai_takes_the_larger_of_input_and_most_output_and_keeps_it() {
        let (model, seen) = (model(), UsageEstimator::default());
        let small = seen.charges(ChargeRule::OpenAi, &model, &request(401, 50));
        assert_eq!((small.now.tokens, small.most.tokens), (101, 101));
        let long = seen.charges(ChargeRule::OpenAi, &model, &request(401, 500));
        assert_eq!(long.now.tokens, 500);
        let used = used(ChargeRule::OpenAi, &usage(90, 0, 7), &long.now);
        assert_eq!((used.tokens, used.output_tokens), (500, 7));
    }

    #[test]
    fn no_call_is_expected_to_write_more_than_its_model_can() {
        let model = ResolvedModel {
            most_output_tokens: Some(8_192),
            ..model()
        };
        let asked = request(401, 100_000_000);
        let charges = UsageEstimator::default().charges(ChargeRule::OpenAi, &model, &asked);
        assert_eq!((charges.now.tokens, charges.most.tokens), (8_192, 8_192));
    }

    #[test]
    fn anthropic_counts_input_without_cache_and_output_as_produced() {
        let used = used(
            ChargeRule::Anthropic,
            &usage(100, 60, 7),
            &Charge::default(),
        );
        assert_eq!((used.input_tokens, used.output_tokens), (40, 7));
        let gemini = super::used(ChargeRule::Gemini, &usage(100, 60, 7), &Charge::default());
        assert_eq!((gemini.tokens, gemini.input_tokens), (100, 100));
    }

    #[test]
    fn expected_output_is_learned_and_the_most_stays() {
        let (model, seen) = (model(), UsageEstimator::default());
        let asked = request(300, 1_000);
        let first = seen.charges(ChargeRule::Total, &model, &asked);
        assert_eq!(first.now, first.most);
        for _ in 0..200 {
            seen.learn(ChargeRule::Total, &asked, &usage(80, 0, 20));
        }
        let later = seen.charges(ChargeRule::Total, &model, &asked);
        assert_eq!((later.now.tokens, later.cost), (100, 100));
        assert_eq!(later.most, first.most);
        // What nobody counted teaches nothing.
        let mut guessed = usage(1, 0, 1);
        guessed.estimated = true;
        seen.learn(ChargeRule::Total, &asked, &guessed);
        assert_eq!(seen.charges(ChargeRule::Total, &model, &asked), later);
    }

    #[test]
    fn failed_call_costs_quota_only_where_arriving_is_enough() {
        let taken = Charge {
            requests: 1,
            tokens: 5,
            input_tokens: 3,
            output_tokens: 2,
        };
        let request = Charge {
            requests: 1,
            ..Charge::default()
        };
        let input = Charge {
            tokens: 3,
            input_tokens: 3,
            ..request
        };
        for (rule, blame, expected) in [
            (ChargeRule::OpenAi, Blame::Quota, taken),
            (ChargeRule::OpenAi, Blame::Request, input),
            (ChargeRule::OpenAi, Blame::Provider, request),
            (ChargeRule::Total, Blame::Quota, request),
            (ChargeRule::Total, Blame::Request, request),
        ] {
            assert_eq!(of_failure(rule, &taken, blame), expected, "{blame:?}");
        }
    }
}
