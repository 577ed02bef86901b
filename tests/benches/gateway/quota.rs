//! How much of the providers' limits the gateway uses, and how rarely a provider
//! has to say no: replicas, spread of the callers, sizes of the provider's
//! buckets and rules of charging, all crossed. The cases of one number of replicas
//! run at once, each with keys and a provider of its own.

use crate::load::{Ask, Crowd};
use crate::report::{self, percent};
use crate::simulated::Simulated;
use crate::stand::{Config, Stand, for_seconds};

const REPLICAS: [usize; 3] = [1, 4, 16];

/// Keys of each pool.
const KEYS: u64 = 2;

/// Calls per second that the binding limit of a case allows: all twelve together
/// are what two cores carry with sixteen replicas, and one call is far below a
/// hundredth of a minute's limit.
const CALLS_PER_SECOND: u64 = 20;

/// Enough that some always wait, with sixteen replicas too.
const CALLERS: usize = 96;

/// Until full buckets are used up and the line stands.
const WARM_UP_SECONDS: u64 = 12;

/// More than the sliding minute that is looked at.
const MEASURED_SECONDS: u64 = 66;

const LEAST_USE: f64 = 0.97;
const MOST_REFUSED: f64 = 0.001;
const BUSIEST_MINUTE: f64 = 1.01;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Spread {
    Even,
    /// Nearly all callers on one replica, one on each other.
    Skewed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    OpenAi,
    AnthropicOutput,
    AnthropicInput,
}

struct Case {
    name: String,
    spread: Spread,
    rule: Rule,
    bucket: &'static str,
    server: Simulated,
}

/// What came of a case.
struct Figures {
    used: f64,
    refused: f64,
    busiest: f64,
}

/// Runs all cases and prints a table and the worst of each number of replicas.
pub async fn measure() {
    println!("replicas  load    bucket  rule              used     refused  busiest minute");
    for replicas in REPLICAS {
        let figures = together(replicas).await;
        let worst = |of: fn(&Figures) -> f64, pick: fn(f64, f64) -> f64, from: f64| {
            figures.iter().map(of).fold(from, pick)
        };
        let used = worst(|case| case.used, f64::min, f64::INFINITY);
        let refused = worst(|case| case.refused, f64::max, 0.0);
        let busiest = worst(|case| case.busiest, f64::max, 0.0);
        let what = |figure: &str| format!("{replicas} replicas, worst of 12: {figure}");
        report::bar(
            &what("use of the binding limit"),
            &percent(used),
            "97 %",
            used >= LEAST_USE,
        );
        report::bar(
            &what("calls refused by the provider"),
            &percent(refused),
            "0.1 %",
            refused <= MOST_REFUSED,
        );
        report::bar(
            &what("busiest sliding minute"),
            &percent(busiest),
            "101 %",
            busiest <= BUSIEST_MINUTE,
        );
    }
}

/// All cases of one number of replicas at once.
async fn together(replicas: usize) -> Vec<Figures> {
    let mut cases = Vec::new();
    for spread in [Spread::Even, Spread::Skewed] {
        for bucket in ["5s", "60s"] {
            for rule in [Rule::OpenAi, Rule::AnthropicOutput, Rule::AnthropicInput] {
                cases.push(Case::start(spread, bucket, rule, cases.len()));
            }
        }
    }
    let mut config = Config::new();
    for case in &cases {
        case.configure(&mut config);
    }
    let stand = Stand::start(replicas, config);
    let crowds: Vec<Crowd> = cases.iter().map(|case| case.send(&stand)).collect();
    for_seconds(WARM_UP_SECONDS).await;
    cases.iter().for_each(|case| case.server.mark());
    for_seconds(MEASURED_SECONDS).await;
    let figures: Vec<Figures> = cases.iter().map(Case::figures).collect();
    for ((case, crowd), figures) in cases.iter().zip(&crowds).zip(&figures) {
        let Figures {
            used,
            refused,
            busiest,
        } = figures;
        let (spread, rule) = (format!("{:?}", case.spread), format!("{:?}", case.rule));
        println!(
            "{replicas:>8}  {spread:<6}  {:>6}  {rule:<16}  {:>7}  {:>7}  {:>7}",
            case.bucket,
            percent(*used),
            percent(*refused),
            percent(*busiest)
        );
        crowd.counts.tell_wrong();
    }
    stand.tell_oddities();
    figures
}

impl Case {
    fn start(spread: Spread, bucket: &'static str, rule: Rule, number: usize) -> Self {
        let limits = rule.provider_limits();
        let mut flags = vec!["--bucket", bucket, "--latency", "150ms"];
        flags.extend(["--latency-jitter", "150ms", "--charge"]);
        flags.push(rule.charge());
        flags.extend(["--reply-tokens", rule.reply_tokens()]);
        for (name, limit) in &limits {
            flags.extend([*name, limit.as_str()]);
        }
        Self {
            name: format!("case{number}"),
            spread,
            rule,
            bucket,
            server: Simulated::start(&flags),
        }
    }

    fn configure(&self, config: &mut Config) {
        let limits = self.rule.provider_limits().into_iter();
        let limits: Vec<String> = limits
            .map(|(flag, limit)| {
                let name = flag.trim_start_matches('-').replace('-', "_");
                format!("{name} = {limit}")
            })
            .collect();
        let lines = format!(
            "kind = '{}'\ncharge = '{}'\nlimits = {{ {} }}",
            self.rule.kind(),
            self.rule.charge(),
            limits.join(", ")
        );
        config.provider(&self.name, &self.server, KEYS as usize, &lines);
        config.add(&format!("[models.{0}]\nprovider = '{0}'", self.name));
    }

    fn send(&self, stand: &Stand) -> Crowd {
        let ask = self.rule.ask(&self.name);
        let replicas = stand.replicas.len();
        Crowd::send(&ask, CALLERS, None, |caller| {
            let replica = match self.spread {
                Spread::Even => caller % replicas,
                // Caller 1 on the second replica and so on, all others on the first.
                Spread::Skewed if caller < replicas => caller,
                Spread::Skewed => 0,
            };
            vec![stand.client(replica)]
        })
    }

    fn figures(&self) -> Figures {
        let stats = self.server.stats();
        let charged = stats.charged_since_mark(self.rule.binding());
        let limit = self.rule.binding_limit() as f64;
        let allowed = limit * KEYS as f64 * stats.seconds_since_mark() / 60.0;
        let requests = stats.since_mark("requests").max(1);
        Figures {
            used: charged.charged as f64 / allowed,
            refused: stats.since_mark("refused") as f64 / requests as f64,
            busiest: charged.busiest_minute as f64 / limit,
        }
    }
}

impl Rule {
    fn kind(self) -> &'static str {
        match self {
            Rule::OpenAi => "openai",
            Rule::AnthropicOutput | Rule::AnthropicInput => "anthropic",
        }
    }

    /// The rule's name is that of the protocol, here and there.
    fn charge(self) -> &'static str {
        self.kind()
    }

    /// What the binding limit is called in options and statistics.
    fn binding(self) -> &'static str {
        match self {
            Rule::OpenAi => "tokens_per_minute",
            Rule::AnthropicOutput => "output_tokens_per_minute",
            Rule::AnthropicInput => "input_tokens_per_minute",
        }
    }

    /// Tokens of one call that count against the binding limit, on average.
    fn tokens_per_call(self) -> u64 {
        match self {
            Rule::OpenAi => 300,
            Rule::AnthropicOutput => 150,
            Rule::AnthropicInput => 400,
        }
    }

    /// Of each key.
    fn binding_limit(self) -> u64 {
        CALLS_PER_SECOND * 60 * self.tokens_per_call() / KEYS
    }

    /// Flags of the provider: the binding limit, and others that are not in the way.
    fn provider_limits(self) -> Vec<(&'static str, String)> {
        let binding = self.binding_limit().to_string();
        let requests = (CALLS_PER_SECOND * 60 * 3 / KEYS).to_string();
        let ample = (self.binding_limit() * 10).to_string();
        let mut limits = vec![("--requests-per-minute", requests)];
        limits.extend(match self {
            Rule::OpenAi => vec![("--tokens-per-minute", binding)],
            Rule::AnthropicOutput => vec![
                ("--input-tokens-per-minute", ample),
                ("--output-tokens-per-minute", binding),
            ],
            Rule::AnthropicInput => vec![
                ("--input-tokens-per-minute", binding),
                ("--output-tokens-per-minute", ample),
            ],
        });
        limits
    }

    /// The lengths of replies, in tokens.
    fn reply_tokens(self) -> &'static str {
        match self {
            Rule::OpenAi | Rule::AnthropicOutput => "50..250",
            Rule::AnthropicInput => "10..30",
        }
    }

    fn ask(self, model: &str) -> Ask {
        let (question, most_tokens) = match self {
            // As much may be written as is charged: from 200 to 400 tokens.
            Rule::OpenAi => (200, (200, 400)),
            // Twice what is written on average.
            Rule::AnthropicOutput => (200, (300, 301)),
            Rule::AnthropicInput => (1_600, (40, 41)),
        };
        Ask {
            question,
            most_tokens,
            ..Ask::small(model, "default", model)
        }
    }
}
