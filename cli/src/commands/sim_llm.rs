//! `agon sim-llm`: a model server that needs no model, for trying things out, for
//! tests, and as a hostile provider for benchmarks. What comes of it is marked
//! `simulated` everywhere.

use agon_sim_llm::{SimLlm as Server, SimModel, SimOptions};

use crate::failure::Failure;
use crate::output;
use crate::role::{LogArguments, OnSignals, require_listen_address, run_service};

mod behaviour;

use behaviour::Behaviour;

/// What the flags do not say by themselves.
const MORE_HELP: &str = "\
PROTOCOLS, all at once, each with its own errors and headers:
  OpenAI     /v1/chat/completions                    Authorization: Bearer KEY
  Anthropic  /v1/messages                            x-api-key: KEY
  Gemini     /v1beta/models/MODEL:generateContent    x-goog-api-key: KEY
  Azure      /openai/deployments/MODEL/chat/completions?api-version=...
                                                     api-key: KEY

MODELS: any name is answered. How it begins may say how it behaves:
  storm      always refuses with 429, counted apart from the limits' refusals
  hang       never answers
  slow       every call takes --slow-latency longer
  error500, error503, error529   always fails with that status
  malformed  answers nonsense
  dead       the key has no money left (after --dead-after calls, 0 by default)
  silent     as --headers none
  lying      as --headers lying
  foreign    as --foreign-use, 0.3 by default
  long       as --reply-tokens, 100..400 by default
  thinking   as --reasoning-tokens, 100..400 by default
  cached     as --cached-share, 0.5 by default
Finer, with --model, which takes any flag of the sections Limits, Answers and Faults that may \
differ by model: --model 'gpt-4o: --charge openai --latency 2s'

CHARGE, what a call takes from the token limits:
  total      input and output as they are, on arrival
  openai     on arrival, never given back: the larger of max_completion_tokens
             or max_tokens (16 when the request has neither) and a quarter of
             the characters of its messages, rounded up
  anthropic  input that was not cached on arrival; output when the answer is
             done or its client gone, and no call is let in while none is left
  gemini     input on arrival, output never

STATISTICS: GET /stats counts for the whole server, by key (`keys`) and by key and model \
(`models`); keys by their last four characters. For each limit, by the flag's name, such as \
.keys[\"...abcd\"].limits.tokens_per_minute.since_mark:
  charged, refused         what was taken and how many calls were refused
  largest_60s, largest_5s  the most that was taken within any 60 s and any 5 s
  share_60s, share_5s      that as a share of the limit; above 1 is too much
POST /stats/mark starts the counts called `since_mark` anew; limits do not change.";

/// Arguments of `agon sim-llm`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE_HELP)]
pub struct SimLlm {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:7780", value_name = "ADDRESS")]
    listen: String,
    /// Answers follow from this seed and the request alone
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Accept only this API key (may be repeated); any key when absent
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Another behaviour for one model, or for all whose name begins like `NAME*` (may be
    /// repeated; the first that fits counts)
    #[arg(long = "model", value_name = "NAME: FLAGS")]
    models: Vec<String>,
    /// Requests per minute and key; more are refused with 429
    #[arg(long, value_name = "N", help_heading = "Limits")]
    requests_per_minute: Option<u32>,
    /// Tokens per minute and key; more are refused with 429
    #[arg(long, value_name = "N", help_heading = "Limits")]
    tokens_per_minute: Option<u32>,
    /// Input tokens per minute and key
    #[arg(long, value_name = "N", help_heading = "Limits")]
    input_tokens_per_minute: Option<u32>,
    /// Output tokens per minute and key
    #[arg(long, value_name = "N", help_heading = "Limits")]
    output_tokens_per_minute: Option<u32>,
    /// Requests per day and key, refilled steadily
    #[arg(long, value_name = "N", help_heading = "Limits")]
    requests_per_day: Option<u32>,
    /// Requests in flight per key; more are refused with 429
    #[arg(long, value_name = "N", help_heading = "Limits")]
    concurrency: Option<u32>,
    #[command(flatten)]
    behaviour: Behaviour,
}

/// Serves until it is told to stop.
pub fn run(arguments: &SimLlm, log: &LogArguments) -> Result<(), Failure> {
    let options = arguments.options()?;
    require_listen_address(&arguments.listen)?;
    run_service(log, "sim-llm", async |tasks| {
        let started = Server::start(options, &arguments.listen).await;
        let server = started.map_err(Failure::surroundings)?;
        output::print(&format!(
            "agon sim-llm listening on {}",
            server.local_addr()
        ));
        output::print(&format!(
            "base URL {} (statistics at /stats)",
            server.base_url()
        ));
        let shutdown = tasks.shutdown_token();
        let kind = agon_service_kit::tasks::TaskKind::SERVICE;
        tasks.spawn(kind, "sim-llm", async move {
            shutdown.cancelled().await;
            server.stop().await;
        });
        Ok(OnSignals::default())
    })
}

impl SimLlm {
    fn options(&self) -> Result<SimOptions, Failure> {
        let mut options = SimOptions {
            seed: self.seed,
            api_keys: self.keys.clone(),
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            input_tokens_per_minute: self.input_tokens_per_minute,
            output_tokens_per_minute: self.output_tokens_per_minute,
            requests_per_day: self.requests_per_day,
            concurrency: self.concurrency,
            ..SimOptions::default()
        };
        self.behaviour.apply(&mut options);
        let models = self.models.iter().map(|text| model(text, &options));
        options.models = models.collect::<Result<_, _>>()?;
        Ok(options)
    }
}

/// What the name says by itself, then what the flags say.
fn model(text: &str, all: &SimOptions) -> Result<SimModel, Failure> {
    let (name, behaviour) = behaviour::for_model(text).map_err(Failure::input)?;
    let mut options = all.named(&name).unwrap_or_else(|| all.clone());
    behaviour.apply(&mut options);
    Ok(SimModel { name, options })
}

#[cfg(test)]
mod tests;
