//! The contract of a content cache, kept by both back ends; then what it does
//! for decisions: repeats stay independent, equal questions are asked once, and
//! what it answers is recorded like everything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agon_agent_gateway::catalogue::Origin;
use agon_agent_gateway::content_cache::{
    ContentCache, ContentKey, EmbeddedContentCache, RedisContentCache,
};
use agon_agent_gateway::decision::{Decision, Message, Request, RequestDigest, Role, Usage};
use agon_agent_gateway::providers::{Refusal, Remedy, Reply, Scripted};
use agon_agent_gateway::{Gateway, Store};
use agon_proto::v1 as wire;
use agon_proto::v1::{DecideResponse, ListDecisionsRequest};
use async_trait::async_trait;
use futures_util::future::join_all;

use crate::ground::{Ground, ScratchFiles, contract};
use crate::redis_server::RedisServer;
use crate::support::{client, config, embedded, gateway, request, until};

#[async_trait]
impl Ground<dyn ContentCache> for ScratchFiles {
    async fn open(&self) -> Arc<dyn ContentCache> {
        let file = self.file("cache.sqlite");
        Arc::new(EmbeddedContentCache::at_with_clock(&file, self.clock()))
    }

    fn pass(&self, time: Duration) {
        self.move_clock(time);
    }
}

#[async_trait]
impl Ground<dyn ContentCache> for RedisServer {
    async fn open(&self) -> Arc<dyn ContentCache> {
        Arc::new(RedisContentCache::new(self.connection().await))
    }
}

contract!(
    ScratchFiles::new();
    what_is_kept_is_found_again_also_after_reopening,
    first_answer_stands_until_it_expires,
    keys_do_not_touch_each_other,
);

const HOUR: Duration = Duration::from_secs(3_600);

fn question(content: &str) -> Request {
    Request {
        model: "m".to_owned(),
        messages: vec![Message {
            role: Role::User,
            content: content.to_owned(),
        }],
        temperature: Some(0.5),
        max_output_tokens: Some(10),
        sampling_seed: Some(1),
        ..Request::default()
    }
}

fn key(content: &str) -> ContentKey {
    ContentKey::new(&question(content), &origin("p", "m"), "red", 0)
}

fn decision(reply: &str) -> Decision {
    Decision {
        request_digest: RequestDigest::from("d".to_owned()),
        reply: reply.to_owned(),
        answered_by: "x".to_owned(),
        finish_reason: "stop".to_owned(),
        usage: Usage::default(),
        simulated: true,
        model: "m".to_owned(),
        cost: None,
        from_content_cache: false,
        reasoning: None,
        applied: None,
        logprobs: None,
    }
}

async fn what_is_kept_is_found_again_also_after_reopening(ground: &dyn Ground<dyn ContentCache>) {
    let cache = ground.open().await;
    assert_eq!(cache.find(&key("a")).await.unwrap(), None);
    let kept = decision("a\nb \u{1F600} '\"");
    cache.keep(&key("a"), &kept, HOUR).await.unwrap();
    assert_eq!(cache.find(&key("a")).await.unwrap().as_ref(), Some(&kept));
    drop(cache);
    let again = ground.open().await;
    assert_eq!(again.find(&key("a")).await.unwrap(), Some(kept));
}

async fn first_answer_stands_until_it_expires(ground: &dyn Ground<dyn ContentCache>) {
    let cache = ground.open().await;
    let short = Duration::from_millis(300);
    cache.keep(&key("a"), &decision("1"), short).await.unwrap();
    cache.keep(&key("a"), &decision("2"), HOUR).await.unwrap();
    let found = cache.find(&key("a")).await.unwrap();
    assert_eq!(found, Some(decision("1")));
    ground.pass(short);
    until("the answer expires", async || {
        cache.find(&key("a")).await.unwrap().is_none()
    })
    .await;
    cache.keep(&key("a"), &decision("3"), HOUR).await.unwrap();
    let found = cache.find(&key("a")).await.unwrap();
    assert_eq!(found, Some(decision("3")));
}

fn origin(endpoint: &str, model: &str) -> Origin {
    Origin {
        provider_kind: "openai".to_owned(),
        endpoint: endpoint.to_owned(),
        provider_model: model.to_owned(),
        additions: String::new(),
    }
}

async fn keys_do_not_touch_each_other(ground: &dyn Ground<dyn ContentCache>) {
    let cache = ground.open().await;
    let of = |seed, provider, model, replicate| {
        let mut question = question("a");
        question.sampling_seed = seed;
        ContentKey::new(&question, &origin(provider, model), "red", replicate)
    };
    let base = of(Some(1), "p", "m", 0);
    // The seed is derived from the address and says nothing about the question.
    assert_eq!(base, of(Some(2), "p", "m", 0));
    assert_eq!(base, of(None, "p", "m", 0));
    cache.keep(&base, &decision("a"), HOUR).await.unwrap();
    let mut warmer = question("a");
    warmer.temperature = Some(0.6);
    let others = [
        of(Some(1), "p", "m", 1),
        of(Some(1), "q", "m", 0),
        of(Some(1), "p", "n", 0),
        key("b"),
        ContentKey::new(&warmer, &origin("p", "m"), "red", 0),
        ContentKey::new(&question("a"), &origin("p", "m"), "blue", 0),
    ];
    for other in others {
        assert_eq!(cache.find(&other).await.unwrap(), None);
    }
}

/// Answers with the number of the call.
fn counting() -> Arc<Scripted> {
    Arc::new(Scripted::new(|_, number| Ok(whole(&number.to_string()))))
}

fn whole(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
        ..Reply::default()
    }
}

/// The same question under an address of its own.
async fn ask(gateway: &Gateway, index: u32, replicate: Option<u64>) -> DecideResponse {
    let mut ask = request("s", index, "hello");
    ask.sampling_seed = Some(u64::from(index));
    ask.content_cache = replicate.map(|replicate| wire::ContentCache { replicate });
    let answer = client(gateway).decide(ask).await;
    answer.unwrap().into_inner()
}

#[tokio::test]
async fn same_replicate_makes_no_call_and_another_makes_its_own() {
    let redis = RedisServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let stores = [
        Store::Embedded(folder.path().join("ledger.sqlite")),
        Store::Redis(redis.url()),
    ];
    for store in stores {
        let provider = counting();
        let gateway = gateway(config(""), store, provider.clone()).await;
        let first = ask(&gateway, 0, Some(0)).await;
        let again = ask(&gateway, 1, Some(0)).await;
        assert_eq!(
            (first.reply.as_str(), first.from_content_cache),
            ("0", false)
        );
        assert_eq!(
            (again.reply.as_str(), again.from_content_cache),
            ("0", true)
        );
        // It belongs to its own question: the seed is in the digest.
        assert_ne!(first.request_digest, again.request_digest);
        let other = ask(&gateway, 2, Some(1)).await;
        assert_eq!(
            (other.reply.as_str(), other.from_content_cache),
            ("1", false)
        );
        // Who does not ask for the cache neither reads nor fills it.
        assert_eq!(ask(&gateway, 3, None).await.reply, "2");
        assert_eq!(ask(&gateway, 4, Some(0)).await.reply, "0");
        assert_eq!(provider.calls(), 3);
        gateway.drain(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn cached_answer_is_recorded_under_its_own_address() {
    let (gateway, _folder) = embedded(config(""), counting()).await;
    for index in 0..2 {
        ask(&gateway, index, Some(0)).await;
    }
    let replayed = ask(&gateway, 1, Some(0)).await;
    assert!(replayed.from_ledger && replayed.from_content_cache);
    let session_id = "s".to_owned();
    let list = ListDecisionsRequest { session_id };
    let list = client(&gateway).list_decisions(list).await.unwrap();
    let recorded = list.into_inner().decisions;
    let marked = recorded.iter().map(|recorded| {
        let decision = recorded.decision.as_ref().unwrap();
        (decision.reply.as_str(), decision.from_content_cache)
    });
    assert_eq!(marked.collect::<Vec<_>>(), [("0", false), ("0", true)]);
}

#[tokio::test]
async fn equal_questions_at_once_make_one_call() {
    let script = Scripted::new(|_, number| Ok(whole(&number.to_string())));
    let provider = Arc::new(script.with_latency(Duration::from_millis(50)));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    let asks = (0..50).map(|index| ask(&gateway, index, Some(7)));
    let answers = join_all(asks).await;
    assert!(answers.iter().all(|answer| answer.reply == "0"));
    let cached = answers.iter().filter(|answer| answer.from_content_cache);
    assert_eq!((cached.count(), provider.calls()), (49, 1));
}

#[tokio::test]
async fn faults_are_not_repeated_by_memory() {
    for (text, finish_reason) in [("", "stop"), ("cut", "length"), ("no", "content_filter")] {
        let provider = Arc::new(Scripted::new(move |_, _| {
            Ok(Reply {
                finish_reason: finish_reason.to_owned(),
                ..whole(text)
            })
        }));
        let (gateway, _folder) = embedded(config(""), provider.clone()).await;
        // Waiting for the first, the others learn that they have to ask.
        let asks = (0..3).map(|index| ask(&gateway, index, Some(0)));
        join_all(asks).await;
        let last = ask(&gateway, 3, Some(0)).await;
        assert!(!last.from_content_cache, "{finish_reason}");
        assert_eq!(provider.calls(), 4, "{finish_reason}");
    }
}

#[tokio::test]
async fn failed_question_is_asked_again_by_its_equals() {
    let provider = Arc::new(Scripted::new(|_, number| match number {
        0 => Err(Refusal::new(Remedy::GiveUp, "not this one")),
        _ => Ok(whole("yes")),
    }));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    let ask = |index| {
        let mut ask = request("s", index, "hello");
        ask.content_cache = Some(wire::ContentCache { replicate: 0 });
        let mut client = client(&gateway);
        async move { client.decide(ask).await }
    };
    let (first, second) = tokio::join!(ask(0), ask(1));
    assert!(first.is_err() != second.is_err());
    assert_eq!(provider.calls(), 2);
    assert!(ask(2).await.unwrap().into_inner().from_content_cache);
}

#[tokio::test]
async fn kept_answers_expire_as_configured() {
    let provider = counting();
    let text = "[gateway]\ncontent_cache_for = '200ms'";
    let (gateway, _folder) = embedded(config(text), provider.clone()).await;
    assert_eq!(ask(&gateway, 0, Some(0)).await.reply, "0");
    let index = AtomicU64::new(1);
    until("the answer expires", async || {
        let index = u32::try_from(index.fetch_add(1, Ordering::SeqCst)).unwrap();
        !ask(&gateway, index, Some(0)).await.from_content_cache
    })
    .await;
    assert_eq!(provider.calls(), 2);
}
