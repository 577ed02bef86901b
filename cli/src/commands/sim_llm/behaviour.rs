//! The flags of `agon sim-llm` that may differ by model: limits per key and model, answers,
//! faults. What is not said leaves things as they are. Called by `sim_llm.rs` for the whole
//! server and once more for each `--model`.

use std::time::Duration;

use agon_sim_llm::{SimCharge, SimHeaders, SimOptions};
use anyhow::bail;
use clap::Parser;

/// A bucket of more would be no limit per minute.
const LARGEST_BUCKET: Duration = Duration::from_secs(60);

/// Flags without a default, so that a model's own can be laid over those of all.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Behaviour {
    /// Requests per minute, key and model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    model_requests_per_minute: Option<u32>,
    /// Tokens per minute, key and model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    model_tokens_per_minute: Option<u32>,
    /// Input tokens per minute, key and model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    model_input_tokens_per_minute: Option<u32>,
    /// Output tokens per minute, key and model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    model_output_tokens_per_minute: Option<u32>,
    /// Requests per day, key and model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    model_requests_per_day: Option<u32>,
    /// Requests in flight per key and model
    #[arg(long, value_name = "N", help_heading = "Limits")]
    model_concurrency: Option<u32>,
    /// How much of a limit per minute may come at once: that of so much time, 5s or 60s
    /// [default: 60s]
    #[arg(long, value_parser = bucket, value_name = "TIME", help_heading = "Limits")]
    bucket: Option<Duration>,
    /// What a call takes from the token limits [default: total]
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Limits")]
    charge: Option<Charge>,
    /// Whether the headers about limits are true: lying ones claim that all is left
    /// [default: honest]
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Limits")]
    headers: Option<Headers>,
    /// Share of each limit per minute that somebody else uses up; for one model, of its own
    /// limits [default: 0]
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = "Limits")]
    foreign_use: Option<f64>,
    /// How long every answer takes, such as 50ms [default: 0ms]
    #[arg(long, value_parser = humantime::parse_duration, value_name = "TIME", help_heading = "Answers")]
    latency: Option<Duration>,
    /// Up to this much longer, by chance [default: 0ms]
    #[arg(long, value_parser = humantime::parse_duration, value_name = "TIME", help_heading = "Answers")]
    latency_jitter: Option<Duration>,
    /// Share of tries that take much longer, 0 to 1 [default: 0]
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = "Answers")]
    slow_rate: Option<f64>,
    /// How much longer those take [default: 2s]
    #[arg(long, value_parser = humantime::parse_duration, value_name = "TIME", help_heading = "Answers")]
    slow_latency: Option<Duration>,
    /// Lengthen answers to N tokens, or to a number from N to M drawn by the request; never
    /// beyond what the request allows
    #[arg(long, value_parser = range, value_name = "N[..M]", help_heading = "Answers")]
    reply_tokens: Option<(u32, u32)>,
    /// Report so many tokens of thought, which count as output
    #[arg(long, value_parser = range, value_name = "N[..M]", help_heading = "Answers")]
    reasoning_tokens: Option<(u32, u32)>,
    /// Share of each input to report as cached, 0 to 1 [default: 0]
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = "Answers")]
    cached_share: Option<f64>,
    /// Share of tries refused with 429 for no limit's sake, 0 to 1 [default: 0]
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = "Faults")]
    storm_rate: Option<f64>,
    /// What those are told to wait [default: 5s]
    #[arg(long, value_parser = humantime::parse_duration, value_name = "TIME", help_heading = "Faults")]
    storm_retry_after: Option<Duration>,
    /// Share of tries that fail, 0 to 1 [default: 0]
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = "Faults")]
    error_rate: Option<f64>,
    /// What they fail with, such as 500,503,529, drawn by try [default: 500]
    #[arg(long, value_parser = error_status, value_delimiter = ',', value_name = "STATUS", help_heading = "Faults")]
    error_status: Vec<u16>,
    /// Share of answers that are no legal answer, 0 to 1 [default: 0]
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = "Faults")]
    malformed_rate: Option<f64>,
    /// Share of tries that are never answered, 0 to 1 [default: 0]
    #[arg(long, value_parser = share, value_name = "SHARE", help_heading = "Faults")]
    timeout_rate: Option<f64>,
    /// After so many admitted calls a key has no money left
    #[arg(long, value_name = "N", help_heading = "Faults")]
    dead_after: Option<u64>,
    /// Only this key can run out of money (may be repeated); every key when absent
    #[arg(long = "dead-key", value_name = "KEY", help_heading = "Faults")]
    dead_keys: Vec<String>,
    /// Refuse requests with this field, such as temperature, as models do that do not take it
    /// (may be repeated)
    #[arg(long = "refuse", value_name = "FIELD", help_heading = "Faults")]
    refused_parameters: Vec<String>,
}

/// `--charge`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
#[value(rename_all = "lowercase")]
enum Charge {
    Total,
    OpenAi,
    Anthropic,
    Gemini,
}

/// `--headers`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Headers {
    Honest,
    None,
    Lying,
}

/// The flags within `--model`.
#[derive(Debug, clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct OfModel {
    #[command(flatten)]
    behaviour: Behaviour,
}

/// Reads `NAME: FLAGS`. A name may hold colons that no space follows.
pub(super) fn for_model(text: &str) -> anyhow::Result<(String, Behaviour)> {
    let Some((name, flags)) = text.split_once(": ") else {
        bail!("--model wants `NAME: FLAGS`, such as 'gpt-4o: --latency 2s', not `{text}`");
    };
    match OfModel::try_parse_from(flags.split_whitespace()) {
        Ok(parsed) => Ok((name.trim().to_owned(), parsed.behaviour)),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let reason = first.trim_start_matches("error: ");
            bail!("--model {name}: {reason}")
        }
    }
}

impl Behaviour {
    /// Changes what is said and nothing else.
    pub(super) fn apply(&self, options: &mut SimOptions) {
        let limits = &mut options.model_limits;
        lay(
            &mut limits.requests_per_minute,
            self.model_requests_per_minute.map(Some),
        );
        lay(
            &mut limits.tokens_per_minute,
            self.model_tokens_per_minute.map(Some),
        );
        lay(
            &mut limits.input_tokens_per_minute,
            self.model_input_tokens_per_minute.map(Some),
        );
        lay(
            &mut limits.output_tokens_per_minute,
            self.model_output_tokens_per_minute.map(Some),
        );
        lay(
            &mut limits.requests_per_day,
            self.model_requests_per_day.map(Some),
        );
        lay(&mut limits.concurrency, self.model_concurrency.map(Some));
        lay(&mut options.bucket, self.bucket);
        lay(&mut options.charge, self.charge.map(Into::into));
        lay(&mut options.headers, self.headers.map(Into::into));
        lay(&mut options.foreign_use, self.foreign_use);
        lay(&mut options.latency, self.latency);
        lay(&mut options.latency_jitter, self.latency_jitter);
        lay(&mut options.slow_rate, self.slow_rate);
        lay(&mut options.slow_latency, self.slow_latency);
        lay(&mut options.reply_tokens, self.reply_tokens.map(Some));
        lay(
            &mut options.reasoning_tokens,
            self.reasoning_tokens.map(Some),
        );
        lay(&mut options.cached_share, self.cached_share);
        lay(&mut options.storm_rate, self.storm_rate);
        lay(&mut options.storm_retry_after, self.storm_retry_after);
        lay(&mut options.error_rate, self.error_rate);
        lay(&mut options.error_statuses, said(&self.error_status));
        lay(&mut options.malformed_rate, self.malformed_rate);
        lay(&mut options.timeout_rate, self.timeout_rate);
        lay(&mut options.dead_after, self.dead_after.map(Some));
        lay(&mut options.dead_keys, said(&self.dead_keys));
        lay(
            &mut options.refused_parameters,
            said(&self.refused_parameters),
        );
    }
}

fn lay<T>(option: &mut T, said: Option<T>) {
    if let Some(said) = said {
        *option = said;
    }
}

fn said<T: Clone>(list: &[T]) -> Option<Vec<T>> {
    (!list.is_empty()).then(|| list.to_vec())
}

impl From<Charge> for SimCharge {
    fn from(charge: Charge) -> Self {
        match charge {
            Charge::Total => Self::Total,
            Charge::OpenAi => Self::OpenAi,
            Charge::Anthropic => Self::Anthropic,
            Charge::Gemini => Self::Gemini,
        }
    }
}

impl From<Headers> for SimHeaders {
    fn from(headers: Headers) -> Self {
        match headers {
            Headers::Honest => Self::Honest,
            Headers::None => Self::None,
            Headers::Lying => Self::Lying,
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("must be from 0 to 1".to_owned())
    }
}

fn bucket(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|fault| fault.to_string())?;
    if time.is_zero() || time > LARGEST_BUCKET {
        return Err("must be more than nothing and at most 60s".to_owned());
    }
    Ok(time)
}

fn range(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| {
        text.parse::<u32>()
            .map_err(|_| format!("`{text}` is not a whole number"))
    };
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let (least, most) = (number(least)?, number(most)?);
    if least > most {
        return Err("the range ends before it begins".to_owned());
    }
    Ok((least, most))
}

fn error_status(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(status @ 400..=599) => Ok(status),
        _ => Err("must be a status from 400 to 599".to_owned()),
    }
}
