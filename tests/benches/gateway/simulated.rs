//! A simulated provider in a process of its own, and its own account of what it
//! was asked, what it charged and what it refused: the figures of the bars come
//! from here, never from the gateway. Called by every section.

use agon_tests::binary::Role;
use agon_tests::model_server::{get, post};
use serde_json::Value;

/// A running provider.
pub struct Simulated {
    _role: Role,
    address: String,
}

impl Simulated {
    /// Starts one on a free port, with further flags of `agon sim-llm`.
    pub fn start(flags: &[&str]) -> Self {
        let mut arguments = vec!["sim-llm", "--listen", "127.0.0.1:0", "--log", "warn"];
        arguments.extend(flags);
        let (role, address) = Role::listening(&arguments);
        Self {
            _role: role,
            address,
        }
    }

    /// What a provider's section calls the base URL.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// From now on what is said "since the mark" is counted anew. Its limits do
    /// not notice.
    pub fn mark(&self) {
        let _ = post(&self.address, "/stats/mark");
    }

    /// What it has counted so far.
    pub fn stats(&self) -> Stats {
        let stats = get(&self.address, "/stats");
        Stats(serde_json::from_str(&stats).expect("statistics as JSON"))
    }
}

/// The statistics of a provider at one moment.
pub struct Stats(Value);

/// What all keys together were charged, and the most that one of them was charged
/// in any 60 seconds.
pub struct Charged {
    /// In all.
    pub charged: u64,
    /// Of the busiest key in its busiest minute.
    pub busiest_minute: u64,
}

impl Stats {
    /// A count since the start, by name.
    pub fn count(&self, name: &str) -> u64 {
        number(&self.0[name])
    }

    /// Requests that were let in.
    pub fn admitted(&self) -> u64 {
        self.of_keys("since_start", "admitted")
    }

    /// A count of all keys since the mark, by name.
    pub fn since_mark(&self, name: &str) -> u64 {
        self.of_keys("since_mark", name)
    }

    /// Seconds since the mark.
    pub fn seconds_since_mark(&self) -> f64 {
        (self.count("uptime_ms") - self.count("marked_ms")) as f64 / 1e3
    }

    /// What was taken of a limit since the start.
    pub fn charged(&self, limit: &str) -> Charged {
        self.taken(limit, "since_start")
    }

    /// What was taken of a limit since the mark; minutes may begin before it.
    pub fn charged_since_mark(&self, limit: &str) -> Charged {
        self.taken(limit, "since_mark")
    }

    fn taken(&self, limit: &str, since: &str) -> Charged {
        let taken = self.keys().map(|key| &key["limits"][limit][since]);
        let taken: Vec<&Value> = taken.collect();
        let of = |name: &'static str| taken.iter().map(move |taken| number(&taken[name]));
        Charged {
            charged: of("charged").sum(),
            busiest_minute: of("largest_60s").max().unwrap_or(0),
        }
    }

    fn of_keys(&self, since: &str, name: &str) -> u64 {
        self.keys().map(|key| number(&key[since][name])).sum()
    }

    fn keys(&self) -> impl Iterator<Item = &Value> {
        let keys = self.0["keys"].as_object().expect("statistics by key");
        keys.values()
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a count in the statistics")
}
