//! What is known of models by their names: which of them think before they answer, and how much
//! room and time that takes at each effort. The configuration takes its defaults from here, and
//! `agon plan` what thinking will cost. Knows no provider and no price.

use std::time::Duration;

use Knobs::{All, NoSampling};
use Thinks::{Always, WhenTold};

/// What a name says of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownModel {
    /// When it thinks.
    pub thinks: Thinks,
    /// What can be set of how it answers.
    pub knobs: Knobs,
    /// The most that it can write in one call, thoughts included; absent: more than is asked for.
    pub most_output_tokens: Option<u32>,
}

/// When a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinks {
    /// Unless it is told not to.
    Always,
    /// Only when it is given an effort.
    WhenTold,
}

/// What can be set of how a model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knobs {
    /// What its provider takes.
    All,
    /// Neither temperature nor `top_p` nor stop sequences, and its limit is called
    /// `max_completion_tokens` (OpenAI "Reasoning models").
    NoSampling,
}

/// How a name is compared.
enum Name {
    /// It is this, or goes on behind it with `-` or `:`.
    Is(&'static str),
    /// It holds this.
    Has(&'static str),
}
use Name::{Has, Is};

/// Models that think (the providers' model lists, November 2026), with dashes for dots. The first
/// row that fits counts.
#[rustfmt::skip] // A table reads better in columns.
const MODELS: [(Name, Option<KnownModel>); 34] = [
    (Has("non-reasoning"), None),
    (Has("gpt-5-chat"), None),
    (Has("-chat-latest"), None),
    (Is("o1"), known(Always, NoSampling, Some(100_000))),
    (Is("o3"), known(Always, NoSampling, Some(100_000))),
    (Is("o4"), known(Always, NoSampling, Some(100_000))),
    (Is("gpt-5"), known(Always, NoSampling, Some(128_000))),
    (Has("gpt-oss"), known(Always, All, None)),
    (Is("claude-3-7"), known(WhenTold, All, Some(64_000))),
    (Has("claude-opus-4-0"), known(WhenTold, All, Some(32_000))),
    (Has("claude-opus-4-1"), known(WhenTold, All, Some(32_000))),
    (Has("claude-opus-4-2025"), known(WhenTold, All, Some(32_000))),
    (Has("claude-opus-4-"), known(WhenTold, All, Some(64_000))),
    (Has("claude-opus-4"), known(WhenTold, All, Some(32_000))),
    (Has("claude-sonnet"), known(WhenTold, All, Some(64_000))),
    (Has("claude-haiku"), known(WhenTold, All, Some(64_000))),
    (Has("gemini-2-5-flash-lite"), known(WhenTold, All, Some(65_536))),
    (Has("gemini-2-5"), known(Always, All, Some(65_536))),
    (Has("gemini-3"), known(Always, All, Some(65_536))),
    (Has("grok-4"), known(Always, All, None)),
    (Has("grok-3-mini"), known(Always, All, None)),
    (Has("glm-4-5"), known(Always, All, None)),
    (Has("glm-4-6"), known(Always, All, None)),
    (Has("reasoner"), known(Always, All, Some(64_000))),
    (Has("-r1"), known(Always, All, None)),
    (Has("r1-"), known(Always, All, None)),
    (Has("thinking"), known(Always, All, None)),
    (Has("reasoning"), known(Always, All, None)),
    (Has("qwq"), known(Always, All, None)),
    (Has("magistral"), known(Always, All, None)),
    (Is("thinks"), known(Always, All, None)), // the simulated server's
    (Has("instruct"), None),
    (Has("coder"), None),
    (Has("qwen3"), known(Always, All, None)),
];

const fn known(thinks: Thinks, knobs: Knobs, most: Option<u32>) -> Option<KnownModel> {
    Some(KnownModel {
        thinks,
        knobs,
        most_output_tokens: most,
    })
}

/// What is known of a model that thinks; nothing of one that does not, and of one that nobody
/// knows. The folders and owners before a name say nothing.
pub fn find(model: &str) -> Option<KnownModel> {
    let model = model.to_lowercase().replace('.', "-");
    let name = model.rsplit('/').next().unwrap_or_default();
    let fits = |row: &&(Name, Option<KnownModel>)| match row.0 {
        Is(known) => name
            .strip_prefix(known)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':'])),
        Has(known) => name.contains(known),
    };
    MODELS.iter().find(fits)?.1
}

/// What thinking takes at an effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinking {
    /// The most tokens that a model may think before it answers. OpenAI advises to leave 25,000
    /// for thoughts and answer; Anthropic's smallest budget is 1,024.
    pub most_tokens: u32,
    /// What a plan expects it to think: the order of magnitude for short questions, to tell one
    /// dollar from a hundred. A pilot tells more.
    pub usual_tokens: u32,
    /// How long a call may take.
    pub timeout: Duration,
}

/// An effort that nobody states.
const USUAL_EFFORT: &str = "medium";

#[rustfmt::skip] // A table reads better in columns.
const EFFORTS: [(&str, Thinking); 7] = [
    ("none", thinking(0, 0, 120)),
    ("minimal", thinking(2_048, 100, 180)),
    ("low", thinking(4_096, 400, 300)),
    (USUAL_EFFORT, thinking(16_384, 1_500, 600)),
    ("high", thinking(32_768, 6_000, 900)),
    ("xhigh", thinking(65_536, 12_000, 1_800)),
    ("max", thinking(65_536, 12_000, 1_800)),
];

const fn thinking(most_tokens: u32, usual_tokens: u32, seconds: u64) -> Thinking {
    Thinking {
        most_tokens,
        usual_tokens,
        timeout: Duration::from_secs(seconds),
    }
}

/// What thinking takes at an effort; a word that nobody knows takes what is usual.
pub fn effort(word: Option<&str>) -> Thinking {
    let of = |word: &str| EFFORTS.iter().find(|(known, _)| *known == word);
    let found = of(word.unwrap_or(USUAL_EFFORT)).or_else(|| of(USUAL_EFFORT));
    found.map_or(EFFORTS[0].1, |(_, thinking)| *thinking)
}

/// Whether a word tells a model not to think.
pub fn is_off(effort: Option<&str>) -> bool {
    effort == Some("none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_think_are_known_by_their_names() {
        let thinks = |name: &str| find(name).map(|known| known.thinks);
        for name in [
            "o1",
            "o3-mini",
            "openai/o4-mini-high",
            "gpt-5",
            "gpt-5.1-mini",
            "openrouter/deepseek/deepseek-r1:free",
            "DeepSeek-R1-Distill-Qwen-32B",
            "deepseek-reasoner",
            "models/gemini-2.5-pro",
            "gemini-3-pro-preview",
            "openai/gpt-oss-120b",
            "qwen3:8b",
            "Qwen/Qwen3-235B-A22B-Thinking-2507",
            "thinks-long",
            "x-ai/grok-4-fast-reasoning",
            "z-ai/glm-4.6",
        ] {
            assert_eq!(thinks(name), Some(Always), "{name}");
        }
        for name in [
            "claude-sonnet-4-5",
            "claude-3-7-sonnet-latest",
            "gemini-2.5-flash-lite",
        ] {
            assert_eq!(thinks(name), Some(WhenTold), "{name}");
        }
        for name in [
            "gpt-4o",
            "gpt-50",
            "o30",
            "solo1",
            "gpt-5-chat-latest",
            "gpt-5.2-chat-latest",
            "grok-4-fast-non-reasoning",
            "claude-3-5-haiku-latest",
            "gemini-2.0-flash",
            "meta-llama/Llama-3.1-70B-Instruct",
            "Qwen3-30B-A3B-Instruct-2507",
            "thinker",
            "",
        ] {
            assert_eq!(thinks(name), None, "{name}");
        }
    }

    #[test]
    fn a_dot_in_a_name_is_a_dash() {
        let most = |name: &str| find(name).unwrap().most_output_tokens;
        assert_eq!(most("anthropic/claude-opus-4.1"), Some(32_000));
        assert_eq!(most("claude-opus-4-1-20250805"), Some(32_000));
        assert_eq!(most("anthropic/claude-opus-4.5"), Some(64_000));
    }

    #[test]
    fn more_effort_takes_no_less() {
        let all: Vec<Thinking> = EFFORTS.iter().map(|(_, thinking)| *thinking).collect();
        for pair in all.windows(2) {
            assert!(pair[0].most_tokens <= pair[1].most_tokens);
            assert!(pair[0].timeout <= pair[1].timeout);
        }
        assert_eq!(effort(Some("banana")), effort(None));
        assert_eq!(effort(None), effort(Some("medium")));
    }
}
