//! How the simulated provider behaves, for all models and, by a model's name, for one: the
//! options themselves and the rules of names. It acts on none of them. `agon sim-llm` fills them
//! from flags, tests and benchmarks by hand.

use std::sync::Arc;
use std::time::Duration;

/// What a `slow...` model's calls take when no option says it: enough to be worth a hedge.
const USUAL_SLOW_LATENCY: Duration = Duration::from_secs(2);

/// What a storm tells its callers when no option says it.
const USUAL_STORM_WAIT: Duration = Duration::from_secs(5);

/// What a `foreign...` model has less when no option says it.
const USUAL_FOREIGN_USE: f64 = 0.3;

/// What a `cached...` model reports when no option says it.
const USUAL_CACHED_SHARE: f64 = 0.5;

/// Answers of a `long...` model and thoughts of a `thinking...` one when no option says it.
const USUAL_TOKENS: (u32, u32) = (100, 400);

/// How the server behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct SimOptions {
    /// Decides every choice and every fault.
    pub seed: u64,
    /// Keys that are let in; anybody when empty.
    pub api_keys: Vec<String>,
    /// Requests each key may make per minute.
    pub requests_per_minute: Option<u32>,
    /// Tokens, as `charge` counts them, that each key may use per minute.
    pub tokens_per_minute: Option<u32>,
    /// Input tokens of each key per minute.
    pub input_tokens_per_minute: Option<u32>,
    /// Output tokens of each key per minute.
    pub output_tokens_per_minute: Option<u32>,
    /// Requests of each key per day; refilled steadily, a whole day's worth may come at once.
    pub requests_per_day: Option<u32>,
    /// Requests each key may have running.
    pub concurrency: Option<u32>,
    /// The same limits once more, for each key and model alone.
    pub model_limits: SimLimits,
    /// How much of a limit per minute may come at once: that of so much time, at least 1. A
    /// single request may be larger when it meets a full bucket, up to the limit itself.
    pub bucket: Duration,
    /// What a call takes from the token limits, and when.
    pub charge: SimCharge,
    /// Whether the headers about limits are true.
    pub headers: SimHeaders,
    /// Share of each limit per minute that somebody else uses, steadily, of the same key.
    pub foreign_use: f64,
    /// Time before each answer.
    pub latency: Duration,
    /// Added to it, between nothing and this much, decided by the request.
    pub latency_jitter: Duration,
    /// Share of tries that take `slow_latency` longer; another try may be quick.
    pub slow_rate: f64,
    /// How much longer those take.
    pub slow_latency: Duration,
    /// Answers are lengthened to so many tokens, drawn by the request from this range, without
    /// becoming wrong; what the request allows is never exceeded.
    pub reply_tokens: Option<(u32, u32)>,
    /// Tokens of thought per answer, drawn likewise; they count as output.
    pub reasoning_tokens: Option<(u32, u32)>,
    /// Share of each input that is reported as read from the provider's cache.
    pub cached_share: f64,
    /// Share of tries refused with 429 for no limit's sake.
    pub storm_rate: f64,
    /// What those are told to wait.
    pub storm_retry_after: Duration,
    /// Share of tries that fail; another try of the same request may succeed.
    pub error_rate: f64,
    /// What they fail with, drawn from this list: 500, 503, 529 or any other status; 500 when
    /// the list is empty.
    pub error_statuses: Vec<u16>,
    /// Share of requests answered with nonsense: broken JSON, a refusal, numbers out of range.
    pub malformed_rate: f64,
    /// Share of tries that are never answered.
    pub timeout_rate: f64,
    /// After so many admitted calls a key has no money left and is refused for ever.
    pub dead_after: Option<u64>,
    /// The keys which that can happen to; all when empty.
    pub dead_keys: Vec<String>,
    /// Fields of a request that are refused, as servers refuse parameters that a model does
    /// not take.
    pub refused_parameters: Vec<String>,
    /// Models that behave differently; the first that fits counts.
    pub models: Vec<SimModel>,
}

/// One model that behaves differently from the others.
#[derive(Debug, Clone, PartialEq)]
pub struct SimModel {
    /// Its name, or with `*` at the end how its name begins.
    pub name: String,
    /// All of its behaviour. Seed, admitted keys, `models` and the limits per key, with their
    /// bucket and foreign use, are those of the whole server, whatever stands here; the rule of
    /// charge says what the model takes from them too.
    pub options: SimOptions,
}

/// Limits of one key, or of one key and model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SimLimits {
    /// Requests per minute.
    pub requests_per_minute: Option<u32>,
    /// Tokens per minute.
    pub tokens_per_minute: Option<u32>,
    /// Input tokens per minute.
    pub input_tokens_per_minute: Option<u32>,
    /// Output tokens per minute.
    pub output_tokens_per_minute: Option<u32>,
    /// Requests per day.
    pub requests_per_day: Option<u32>,
    /// Requests running.
    pub concurrency: Option<u32>,
}

/// What a call takes from the limits on tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SimCharge {
    /// Input and output as they are, on arrival.
    #[default]
    Total,
    /// On arrival, never given back: the larger of what the answer may take (`max_tokens`, 16
    /// when the request does not say) and a quarter of the messages' characters, rounded up.
    OpenAi,
    /// Input that was not cached on arrival, output when the answer is done or its client gone;
    /// refused while there is no output left.
    Anthropic,
    /// Input on arrival, output never.
    Gemini,
}

/// What the headers about limits are worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SimHeaders {
    /// As it is.
    #[default]
    Honest,
    /// There are none, except when to come back after a refusal.
    None,
    /// They always claim that everything is left.
    Lying,
}

impl Default for SimOptions {
    /// Immediate, without limits or faults.
    fn default() -> Self {
        Self {
            seed: 0,
            api_keys: Vec::new(),
            requests_per_minute: None,
            tokens_per_minute: None,
            input_tokens_per_minute: None,
            output_tokens_per_minute: None,
            requests_per_day: None,
            concurrency: None,
            model_limits: SimLimits::default(),
            bucket: Duration::from_secs(60),
            charge: SimCharge::default(),
            headers: SimHeaders::default(),
            foreign_use: 0.0,
            latency: Duration::ZERO,
            latency_jitter: Duration::ZERO,
            slow_rate: 0.0,
            slow_latency: USUAL_SLOW_LATENCY,
            reply_tokens: None,
            reasoning_tokens: None,
            cached_share: 0.0,
            storm_rate: 0.0,
            storm_retry_after: USUAL_STORM_WAIT,
            error_rate: 0.0,
            error_statuses: Vec::new(),
            malformed_rate: 0.0,
            timeout_rate: 0.0,
            dead_after: None,
            dead_keys: Vec::new(),
            refused_parameters: Vec::new(),
            models: Vec::new(),
        }
    }
}

impl SimOptions {
    /// The limits of each key over all models.
    pub(super) fn key_limits(&self) -> SimLimits {
        SimLimits {
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            input_tokens_per_minute: self.input_tokens_per_minute,
            output_tokens_per_minute: self.output_tokens_per_minute,
            requests_per_day: self.requests_per_day,
            concurrency: self.concurrency,
        }
    }

    /// The same options with the vice that a model's name begins with, if it does: `storm`,
    /// `hang`, `slow`, `error500`, `error503`, `error529`, `malformed`, `dead`, `silent`,
    /// `lying`, `foreign`, `long`, `thinking` or `cached`.
    pub fn named(&self, model: &str) -> Option<Self> {
        let vice = VICES.iter().find(|(name, _)| model.starts_with(name))?;
        let mut options = self.clone();
        vice.1(&mut options);
        Some(options)
    }
}

type Vice = (&'static str, fn(&mut SimOptions));

/// What a model's name can say about its behaviour.
const VICES: [Vice; 14] = [
    ("storm", |options| options.storm_rate = 1.0),
    ("hang", |options| options.timeout_rate = 1.0),
    ("slow", |options| options.slow_rate = 1.0),
    ("error500", |options| failing(options, 500)),
    ("error503", |options| failing(options, 503)),
    ("error529", |options| failing(options, 529)),
    ("malformed", |options| options.malformed_rate = 1.0),
    ("dead", |options| {
        options.dead_after = options.dead_after.or(Some(0));
    }),
    ("silent", |options| options.headers = SimHeaders::None),
    ("lying", |options| options.headers = SimHeaders::Lying),
    ("foreign", |options| {
        unless_set(&mut options.foreign_use, USUAL_FOREIGN_USE);
    }),
    ("long", |options| {
        options.reply_tokens = options.reply_tokens.or(Some(USUAL_TOKENS));
    }),
    ("thinking", |options| {
        options.reasoning_tokens = options.reasoning_tokens.or(Some(USUAL_TOKENS));
    }),
    ("cached", |options| {
        unless_set(&mut options.cached_share, USUAL_CACHED_SHARE);
    }),
];

fn failing(options: &mut SimOptions, status: u16) {
    options.error_rate = 1.0;
    options.error_statuses = vec![status];
}

fn unless_set(share: &mut f64, usual: f64) {
    if *share == 0.0 {
        *share = usual;
    }
}

/// The options with every model's own worked out beforehand, so that looking one up is cheap.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) base: Arc<SimOptions>,
    configured: Vec<(String, Arc<SimOptions>)>,
    by_vice: Vec<(&'static str, Arc<SimOptions>)>,
}

impl Parts {
    pub(super) fn new(options: SimOptions) -> Self {
        let configured = options.models.iter();
        let configured = configured
            .map(|model| (model.name.clone(), Arc::new(model.options.clone())))
            .collect();
        let by_vice = VICES.iter().map(|(name, vice)| {
            let mut changed = options.clone();
            vice(&mut changed);
            (*name, Arc::new(changed))
        });
        Self {
            configured,
            by_vice: by_vice.collect(),
            base: Arc::new(options),
        }
    }

    /// How a model of this name behaves.
    pub(super) fn of(&self, model: &str) -> Arc<SimOptions> {
        let fits = |name: &str| match name.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning),
            None => model == name,
        };
        if let Some((_, options)) = self.configured.iter().find(|(name, _)| fits(name)) {
            return options.clone();
        }
        let by_vice = self
            .by_vice
            .iter()
            .find(|(name, _)| model.starts_with(name));
        by_vice.map_or(&self.base, |(_, options)| options).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_model_decides_its_vice() {
        let parts = Parts::new(SimOptions {
            slow_latency: Duration::from_secs(9),
            ..SimOptions::default()
        });
        assert_eq!(parts.of("storm-1").storm_rate, 1.0);
        assert_eq!(parts.of("stormy").storm_rate, 1.0);
        assert_eq!(parts.of("a-storm").storm_rate, 0.0);
        let slow = parts.of("slow-llama");
        assert_eq!(
            (slow.slow_rate, slow.slow_latency),
            (1.0, Duration::from_secs(9))
        );
        assert_eq!(parts.of("error529").error_statuses, [529]);
        assert_eq!(parts.of("dead").dead_after, Some(0));
        assert_eq!(parts.of("lying-x").headers, SimHeaders::Lying);
        assert_eq!(parts.of("foreign").foreign_use, USUAL_FOREIGN_USE);
        assert_eq!(*parts.of("gpt"), *parts.base);
    }

    #[test]
    fn configured_model_stands_before_its_name() {
        let calm = SimModel {
            name: "storm-calm*".into(),
            options: SimOptions::default(),
        };
        let exact = SimModel {
            name: "gpt".into(),
            options: SimOptions {
                storm_rate: 0.5,
                ..SimOptions::default()
            },
        };
        let parts = Parts::new(SimOptions {
            models: vec![calm, exact],
            ..SimOptions::default()
        });
        assert_eq!(parts.of("storm-calm-2").storm_rate, 0.0);
        assert_eq!(parts.of("storm-2").storm_rate, 1.0);
        assert_eq!(parts.of("gpt").storm_rate, 0.5);
        assert_eq!(parts.of("gpt-2").storm_rate, 0.0);
    }
}
