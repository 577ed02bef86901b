//! Claims about the flags of `agon sim-llm`: what they come to for the server
//! and for one model, and what is said when they are wrong.

use std::time::Duration;

use agon_sim_llm::{SimCharge, SimHeaders};
use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    arguments: SimLlm,
}

fn options(line: &[&str]) -> Result<SimOptions, Failure> {
    Line::try_parse_from(line).unwrap().arguments.options()
}

#[test]
fn no_flag_is_the_default_server() {
    assert_eq!(options(&[]).unwrap(), SimOptions::default());
}

#[test]
fn flags_reach_the_server() {
    let options = options(&[
        "--charge=openai",
        "--bucket=5s",
        "--headers=lying",
        "--requests-per-day=7",
        "--model-output-tokens-per-minute=9",
        "--reply-tokens=3..5",
        "--reasoning-tokens=4",
        "--error-status=500,529",
    ])
    .unwrap();
    assert_eq!(options.charge, SimCharge::OpenAi);
    assert_eq!(options.bucket, Duration::from_secs(5));
    assert_eq!(options.headers, SimHeaders::Lying);
    assert_eq!(options.requests_per_day, Some(7));
    assert_eq!(options.model_limits.output_tokens_per_minute, Some(9));
    assert_eq!(options.reply_tokens, Some((3, 5)));
    assert_eq!(options.reasoning_tokens, Some((4, 4)));
    assert_eq!(options.error_statuses, [500, 529]);
}

#[test]
fn model_has_the_flags_of_all_then_its_name_then_its_own() {
    let options = options(&[
        "--latency=1s",
        "--model=llama3:8b: --charge gemini",
        "--model=storm-short*: --storm-retry-after 1s --latency 0ms",
    ])
    .unwrap();
    let [llama, storm] = options.models.as_slice() else {
        panic!("two models: {options:?}")
    };
    assert_eq!(
        (llama.name.as_str(), llama.options.charge),
        ("llama3:8b", SimCharge::Gemini)
    );
    assert_eq!(llama.options.latency, Duration::from_secs(1));
    assert_eq!(storm.options.storm_rate, 1.0);
    assert_eq!(storm.options.storm_retry_after, Duration::from_secs(1));
    assert_eq!(storm.options.latency, Duration::ZERO);
}

#[test]
fn wrong_flags_are_told_on_one_line() {
    for (line, said) in [
        ("--model=gpt", "NAME: FLAGS"),
        ("--model=gpt: --latencies 1s", "--latencies"),
        ("--model=gpt: --foreign-use 2", "from 0 to 1"),
    ] {
        let error = options(&[line]).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{error}");
    }
    for wrong in [
        "--bucket=0s",
        "--bucket=2m",
        "--reply-tokens=5..3",
        "--error-status=200",
        "--charge=free",
    ] {
        assert!(Line::try_parse_from([wrong]).is_err(), "{wrong}");
    }
}
