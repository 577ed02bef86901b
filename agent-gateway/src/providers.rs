//! Providers: the small contract behind which each protocol lives in a file of
//! its own, and what may become of a call. A provider builds, sends and reads;
//! it never waits, retries or records. What all protocols share stands beside
//! them: `caller.rs` is one call from top to bottom. Called by `deciding.rs`.

mod adding;
mod anthropic;
mod azure;
mod bedrock;
mod caller;
mod capabilities;
mod conversation;
mod error_body;
mod gemini;
mod http;
mod judging;
mod openai;
mod quota;
mod reading;
pub mod scripted;
mod vertex;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use secrecy::SecretString;

use crate::catalogue::{ProviderKind, ResolvedModel};
use crate::decision::{Request, TokenLogprob, Usage};
use crate::parameters::{Applied, Parameter};

use caller::ProtocolCaller;
use http::Http;

pub use crate::limits::{Room, Signals};
pub(crate) use capabilities::{Learnt, StoredLesson};
pub use scripted::Scripted;

/// Calls one kind of provider.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Makes one call, within the timeout of the model's provider.
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal>;
}

/// A parameter that a server has refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearntRefusal {
    /// The provider's name in the configuration.
    pub provider: String,
    /// Its own name for the model.
    pub model: String,
    /// The parameter's name.
    pub parameter: &'static str,
    /// What the server said; holds no key.
    pub said: String,
    /// After this long the server is asked with it again.
    pub expires_in: Duration,
}

impl LearntRefusal {
    /// Whether it is about a model, written `provider/model` or as its provider names it; an empty
    /// name stands for every model.
    pub fn is_about(&self, model: &str) -> bool {
        is_named(&self.provider, &self.model, model)
    }
}

/// Whether a model of a provider has a name, see [`LearntRefusal::is_about`].
fn is_named(provider: &str, model: &str, name: &str) -> bool {
    let prefixed = name.strip_prefix(provider);
    let in_full = prefixed.and_then(|rest| rest.strip_prefix('/'));
    name.is_empty() || name == model || in_full == Some(model)
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What to call.
    pub model: &'a ResolvedModel,
    /// What to ask.
    pub request: &'a Request,
    /// With which key; absent for keyless servers.
    pub key: Option<&'a SecretString>,
    /// Parameters without which the answer is not wanted.
    pub required: &'a [Parameter],
    /// What the simulated provider of this process answers; no other is told.
    pub simulated_reply: Option<&'a str>,
}

/// What a provider answered. An empty or filtered reply is a reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text; may be empty.
    pub text: String,
    /// What the model thought before, where the provider shows it; may be empty.
    pub reasoning: String,
    /// How likely its tokens were, in its order; empty where nobody says.
    pub logprobs: Vec<TokenLogprob>,
    /// The parameters that it was asked with.
    pub applied: Applied,
    /// The model that says it answered.
    pub answered_by: String,
    /// Why it stopped.
    pub finish_reason: String,
    /// What it says it used; absent when it does not say.
    pub usage: Option<Usage>,
    /// It says that it is a simulated server.
    pub simulated: bool,
    /// What its headers say about the key's quota.
    pub signals: Signals,
}

/// No answer, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What to do.
    pub remedy: Remedy,
    /// What the provider said, for people; holds no key.
    pub reason: String,
    /// How far the call got.
    pub arrived: Arrived,
    /// It has too much to do: it says so (503, 529), or did not answer in time.
    pub overloaded: bool,
    /// What its headers say about the key's quota. In a box, since a refusal is
    /// handed on by value many times.
    pub signals: Box<Signals>,
}

/// How far a failed call got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// Nobody was there to hear it: it was not made, and does not even count as one.
    Never,
    /// The provider refused it and did nothing.
    Refused,
    /// The provider may have done the work all the same (a time-out), so that it stays charged
    /// with its estimate.
    PerhapsDone,
}

impl Refusal {
    /// A refusal that says nothing about quota and used nothing.
    pub fn new(remedy: Remedy, reason: impl Into<String>) -> Self {
        Self {
            remedy,
            reason: reason.into(),
            arrived: Arrived::Refused,
            overloaded: false,
            signals: Box::default(),
        }
    }
}

impl Refusal {
    /// In a word, for counting.
    pub fn kind(&self) -> &'static str {
        match self.remedy {
            Remedy::HoldKey(_) => "429",
            Remedy::QuarantineKey => "dead key",
            Remedy::RetryOtherKey => "not with this key",
            Remedy::Retry(_) if self.arrived == Arrived::PerhapsDone => "timeout",
            Remedy::Retry(_) => "5xx",
            Remedy::RetryUnreadable => "unreadable",
            Remedy::AskWithLess => "asked with less",
            Remedy::GiveUp => "refused request",
        }
    }
}

/// What to do about a failed call. After a hold or a quarantine the next try
/// goes to another key when there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Try again, at the earliest after this time (absent: after our own
    /// back-off).
    Retry(Option<Duration>),
    /// This key will not do for this request (it may not use the model): try
    /// another key, and give up when there is none.
    RetryOtherKey,
    /// It answered, but nothing that its protocol knows: try again a few times,
    /// in case only something on the way was broken.
    RetryUnreadable,
    /// The key has no quota left for now (absent: for as long as our own
    /// back-off says).
    HoldKey(Option<Duration>),
    /// The key is dead: wrong, forbidden, or out of money.
    QuarantineKey,
    /// The server does not take part of how it was asked, which the provider
    /// leaves out from now on: try again at once.
    AskWithLess,
    /// The same request will be refused always.
    GiveUp,
}

/// One provider object per kind, and what they have learnt of their servers.
#[derive(Clone)]
pub struct Providers {
    by_kind: BTreeMap<ProviderKind, Arc<dyn Provider>>,
    learnt: Arc<Learnt>,
}

impl Providers {
    /// The real ones, sharing one HTTP client. There is none of kind `Door`:
    /// nobody calls a door, it is answered through.
    pub fn real() -> Result<Self, reqwest::Error> {
        let http = Http::new()?;
        let learnt = Arc::<Learnt>::default();
        let openai = ProtocolCaller::new(http.clone(), openai::OpenAi, &learnt);
        let azure = ProtocolCaller::new(http.clone(), azure::Azure, &learnt);
        let anthropic = ProtocolCaller::new(http.clone(), anthropic::Anthropic, &learnt);
        let gemini = ProtocolCaller::new(http.clone(), gemini::Gemini, &learnt);
        let vertex = ProtocolCaller::new(http.clone(), vertex::Vertex::default(), &learnt);
        let bedrock = bedrock::Bedrock::new(http.clone());
        let bedrock = ProtocolCaller::new(http, bedrock, &learnt);
        let mut real = Self {
            by_kind: BTreeMap::new(),
            learnt,
        };
        real.set(ProviderKind::OpenAi, Arc::new(openai));
        real.set(ProviderKind::Azure, Arc::new(azure));
        real.set(ProviderKind::Anthropic, Arc::new(anthropic));
        real.set(ProviderKind::Gemini, Arc::new(gemini));
        real.set(ProviderKind::Vertex, Arc::new(vertex));
        real.set(ProviderKind::Bedrock, Arc::new(bedrock));
        Ok(real)
    }

    /// Puts a provider in for a kind.
    pub fn set(&mut self, kind: ProviderKind, provider: Arc<dyn Provider>) {
        self.by_kind.insert(kind, provider);
    }

    /// One provider for one kind; tests put a scripted one in.
    pub fn single(kind: ProviderKind, provider: Arc<dyn Provider>) -> Self {
        Self {
            by_kind: BTreeMap::from([(kind, provider)]),
            learnt: Arc::default(),
        }
    }

    /// What servers turned out not to take, in order of provider and model.
    pub fn learnt(&self) -> Vec<LearntRefusal> {
        by_name(self.learnt.list(Instant::now()))
    }

    /// Leaves nothing out any more of a model, see [`LearntRefusal::is_about`]; what was left out.
    pub fn forget(&self, model: &str) -> Vec<LearntRefusal> {
        by_name(self.learnt.forget(model))
    }

    /// What was learnt, for whoever shares it between replicas.
    pub(crate) fn lessons(&self) -> Arc<Learnt> {
        Arc::clone(&self.learnt)
    }

    /// The provider of a kind.
    pub fn get(&self, kind: ProviderKind) -> Option<&Arc<dyn Provider>> {
        self.by_kind.get(&kind)
    }
}

fn by_name(mut listed: Vec<LearntRefusal>) -> Vec<LearntRefusal> {
    listed.sort_by(|one, other| (&one.provider, &one.model).cmp(&(&other.provider, &other.model)));
    listed
}
