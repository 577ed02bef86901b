//! Messages of every call of the coordinator and the gateway, as bytes over real HTTP/2: fields
//! changed inside honest messages, with lengths that fit, and bytes changed anyhow. One byte before each
//! input says which call; the messages of a stream have four bytes of length each.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::catalogue::ProviderKind;
use agon_agent_gateway::providers::{Providers, Scripted};
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_coordinator::experiment::ExperimentFile;
use agon_coordinator::{Coordinator, CoordinatorOptions, StoreChoice};
use agon_proto::packed;
use agon_proto::v1;
use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use http::uri::PathAndQuery;
use prost::Message as _;
use prost::bytes::{Buf as _, BufMut as _};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::service::Routes;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::Target;
use super::bytes::change;
use super::draw::Draw;

/// Streams and calls that wait are left after this.
const PATIENCE: Duration = Duration::from_millis(100);

/// For an honest call beside the others.
const HONEST_PATIENCE: Duration = Duration::from_secs(10);

const EXPERIMENTS: &str = "/agon.v1.ExperimentService/";
const LEASES: &str = "/agon.v1.SessionLeaseService/";
const GATEWAY: &str = "/agon.v1.AgentGatewayService/";

/// A folder, tasks and threads for servers.
pub struct Service {
    pub tasks: Tasks,
    pub folder: TempDir,
    pub runtime: Runtime,
}

impl Service {
    pub fn start() -> Self {
        server::install_crypto();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        Self {
            tasks: Tasks::new(),
            folder: tempfile::tempdir().expect("a scratch folder"),
            runtime: runtime.expect("a runtime"),
        }
    }
}

/// A gateway whose models repeat what they are told.
pub async fn gateway(folder: &Path) -> Gateway {
    let text = "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n[models.m]\nprovider = 'p'\n\
        [gateway]\npatience = '1s'\n";
    let config = GatewayConfig::parse("x.toml", text).expect("a configuration");
    let providers = Providers::single(ProviderKind::OpenAi, Arc::new(Scripted::echo()));
    let store = Store::Embedded(folder.join("ledger.sqlite"));
    let opened = Gateway::open_with(config, store, providers).await;
    opened.expect("a gateway")
}

/// The coordinator and the gateway behind one port.
pub struct Grpc {
    calls: Vec<(String, Vec<Vec<u8>>)>,
    channel: Channel,
    service: Service,
}

impl Grpc {
    pub fn new() -> Self {
        let service = Service::start();
        let channel = service.runtime.block_on(async {
            let folder = service.folder.path();
            let store = StoreChoice::Folder(folder.join("coordinator"));
            let options = CoordinatorOptions::default();
            let opened = Coordinator::open(store, options, &service.tasks).await;
            let services = opened.expect("a coordinator").services();
            let routes = Routes::new(services.experiments)
                .add_service(services.session_leases)
                .add_service(gateway(folder).await.service());
            let listener = Listener::bind("127.0.0.1:0").await.expect("a port");
            let uri = format!("http://{}", listener.local_addr());
            server::serve(&service.tasks, "fuzzed", listener, routes);
            server::channel(&uri).expect("a channel")
        });
        let calls = calls();
        let coordinators = agon_coordinator::access::RULES.iter();
        for (path, _) in coordinators.chain(agon_agent_gateway::access::RULES) {
            let is_tried = calls.iter().any(|(tried, _)| tried == path);
            assert!(is_tried, "{path} has no honest messages here");
        }
        Self {
            calls,
            channel,
            service,
        }
    }
}

/// Every call, and honest messages of it.
fn calls() -> Vec<(String, Vec<Vec<u8>>)> {
    let of =
        |service: &str, name: &str, messages: Vec<Vec<u8>>| (format!("{service}{name}"), messages);
    let named = || v1::WatchExperimentRequest {
        experiment_id: "fuzzed".to_owned(),
    };
    let session = || v1::ListDecisionsRequest {
        session_id: "s".to_owned(),
    };
    let paused = v1::PauseExperimentRequest {
        experiment_id: "fuzzed".to_owned(),
        reason: "why".to_owned(),
    };
    let retried = v1::RetrySessionsRequest {
        experiment_id: "fuzzed".to_owned(),
        session_ids: vec!["0123456789abcdef0123456789abcdef".to_owned()],
    };
    let resumed = v1::ResumeExperimentRequest {
        experiment_id: "fuzzed".to_owned(),
        budget_nanodollars: Some(9),
        only_if_paused_for: "why".to_owned(),
    };
    let described = v1::DescribeModelsRequest {
        models: vec!["m".to_owned()],
    };
    let forgotten = v1::ForgetSessionRequest {
        session_ids: vec!["s".to_owned()],
    };
    let costs = v1::ListCostsRequest {
        team: "t".to_owned(),
        experiment_id: "fuzzed".to_owned(),
        from_day: "2026-01-01".to_owned(),
        to_day: "2026-12-31".to_owned(),
    };
    let watched = v1::WatchDoorRequest {
        door: "d".to_owned(),
        session_id: "s".to_owned(),
    };
    let answered = v1::AnswerAtDoorRequest {
        door: "d".to_owned(),
        address: Some(address()),
        request_digest: "0".repeat(64),
        reply: "hi".to_owned(),
        answered_by: "x".to_owned(),
    };
    let status = v1::GetGatewayStatusRequest {
        experiment_id: "fuzzed".to_owned(),
    };
    let learnt = v1::ForgetLearntRequest {
        model: "p/m".to_owned(),
    };
    let revived = v1::ReviveKeysRequest {
        provider: "p".to_owned(),
        source: "env K".to_owned(),
    };
    let bundle = v1::GetPromptBundleRequest {
        digest: "0".repeat(64),
    };
    vec![
        of(EXPERIMENTS, "SubmitExperiment", vec![submitted()]),
        of(
            EXPERIMENTS,
            "WatchExperiment",
            vec![named().encode_to_vec()],
        ),
        of(EXPERIMENTS, "FetchRecords", vec![named().encode_to_vec()]),
        of(
            EXPERIMENTS,
            "CancelExperiment",
            vec![named().encode_to_vec()],
        ),
        of(EXPERIMENTS, "PauseExperiment", vec![paused.encode_to_vec()]),
        of(EXPERIMENTS, "RetrySessions", vec![retried.encode_to_vec()]),
        of(
            EXPERIMENTS,
            "ResumeExperiment",
            vec![resumed.encode_to_vec()],
        ),
        of(EXPERIMENTS, "ListExperiments", vec![Vec::new()]),
        of(EXPERIMENTS, "GetExperiment", vec![named().encode_to_vec()]),
        of(
            EXPERIMENTS,
            "DeleteExperiment",
            vec![named().encode_to_vec()],
        ),
        of(LEASES, "WorkSessions", worker()),
        of(LEASES, "GetPromptBundle", vec![bundle.encode_to_vec()]),
        of(GATEWAY, "Decide", vec![decided()]),
        of(GATEWAY, "DescribeModels", vec![described.encode_to_vec()]),
        of(GATEWAY, "ListDecisions", vec![session().encode_to_vec()]),
        of(GATEWAY, "ForgetSession", vec![forgotten.encode_to_vec()]),
        of(GATEWAY, "ListCosts", vec![costs.encode_to_vec()]),
        of(GATEWAY, "WatchDoor", vec![watched.encode_to_vec()]),
        of(GATEWAY, "AnswerAtDoor", vec![answered.encode_to_vec()]),
        of(GATEWAY, "GetGatewayStatus", vec![status.encode_to_vec()]),
        of(GATEWAY, "ForgetLearnt", vec![learnt.encode_to_vec()]),
        of(GATEWAY, "ReviveKeys", vec![revived.encode_to_vec()]),
    ]
}

fn address() -> v1::DecisionAddress {
    v1::DecisionAddress {
        session_id: "s".to_owned(),
        seat: 0,
        index: 1,
    }
}

fn submitted() -> Vec<u8> {
    let text = "name = \"fuzzed\"\n[players.subject]\nkind = \"rule\"\nstrategy = \"random\"\n\
        [[games]]\ngame = \"guess_two_thirds\"\n";
    let file = ExperimentFile::parse("x.toml", text).expect("TOML");
    let document = file.check().expect("an experiment").to_json();
    let request = v1::SubmitExperimentRequest {
        document: document.into(),
        templates: [(
            "guess_two_thirds/v1/ask.j2".to_owned(),
            "{{ me }}".to_owned(),
        )]
        .into(),
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
        models: vec!["m".to_owned()],
        accept_new: true,
        pause: "waiting for people".to_owned(),
    };
    request.encode_to_vec()
}

fn decided() -> Vec<u8> {
    let request = v1::DecideRequest {
        address: Some(address()),
        team: "t".to_owned(),
        experiment_id: "fuzzed".to_owned(),
        model: "m".to_owned(),
        messages: vec![v1::ChatMessage {
            role: v1::MessageRole::User as i32,
            content: "hi".to_owned(),
        }],
        temperature: Some(0.5),
        top_p: Some(1.0),
        max_output_tokens: Some(9),
        sampling_seed: Some(3),
        reply_format: Some(v1::ReplyFormat {
            name: "move".to_owned(),
            json_schema: r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#.to_owned(),
        }),
        purpose: "act".to_owned(),
        fallback_models: vec!["m".to_owned()],
        reasoning_effort: Some("low".to_owned()),
        stop_sequences: vec!["x".to_owned()],
        priority: 1,
        content_cache: Some(v1::ContentCache { replicate: 1 }),
        experiment_budget_nanodollars: Some(1_000_000),
        stand_in: Some(Box::new(v1::StandIn {
            after_ms: 60_000,
            name: "deadline".to_owned(),
            reply: "{}".to_owned(),
        })),
        required_parameters: vec!["temperature".to_owned()],
        ..v1::DecideRequest::default()
    };
    request.encode_to_vec()
}

/// What a worker says over its stream.
fn worker() -> Vec<Vec<u8>> {
    use v1::session_outcome::Outcome;
    use v1::work_sessions_request::Message as Say;
    let lease = || v1::LeaseRef {
        session_id: "0123456789abcdef0123456789abcdef".to_owned(),
        token: vec![7; 36].into(),
    };
    let outcome = |outcome| v1::SessionOutcome {
        lease: Some(lease()),
        outcome: Some(outcome),
    };
    let finished = v1::FinishedSession {
        record: packed::pack(r#"{"agon_record":1,"session":"x","spec":{}}"#),
        telemetry: packed::pack("{}"),
    };
    let failed = v1::FailedSession {
        kind: v1::FailureKind::Crashed as i32,
        reason: "x".to_owned(),
    };
    let capabilities = vec![v1::Capability {
        name: "records".to_owned(),
        versions: vec!["4".to_owned()],
    }];
    let says = [
        Say::Register(v1::RegisterWorker {
            worker_id: "w".to_owned(),
            incarnation: 1,
            version: "1".to_owned(),
            places: 2,
            capabilities,
            held: vec![lease()],
        }),
        Say::Heartbeat(v1::Heartbeat {
            number: 1,
            progressed: vec![lease()],
        }),
        Say::HandIn(v1::HandIn {
            outcomes: vec![outcome(Outcome::Finished(finished))],
        }),
        Say::HandIn(v1::HandIn {
            outcomes: vec![outcome(Outcome::Failed(failed))],
        }),
        Say::Drain(v1::DrainWorker {}),
        Say::Release(v1::ReleaseLeases {
            leases: vec![lease()],
        }),
    ];
    let messages = says.map(|message| v1::WorkSessionsRequest {
        message: Some(message),
    });
    messages.map(|message| message.encode_to_vec()).into()
}

impl Target for Grpc {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        let call = draw.below(self.calls.len());
        let (_, honest) = &self.calls[call];
        let mut input = vec![call as u8];
        let mut say = |message: &[u8]| {
            input.extend((message.len() as u32).to_be_bytes());
            input.extend(message);
        };
        if honest.len() > 1 && !draw.one_in(8) {
            // A worker that does not register gets no further.
            say(&honest[0]);
        }
        for _ in 0..honest.len().min(1 + draw.below(4)) {
            let mut message = draw.pick::<Vec<u8>>(honest).clone();
            for _ in 0..=draw.below(3) {
                message = changed_fields(draw, &message, 0);
            }
            if draw.one_in(3) {
                change(draw, &mut message, honest, WORDS);
            }
            say(&message);
        }
        input
    }

    fn run(&self, input: &[u8]) {
        let Some((call, mut rest)) = input.split_first() else {
            return;
        };
        let mut messages = Vec::new();
        while let Some((length, more)) = rest.split_first_chunk::<4>() {
            let length = (u32::from_be_bytes(*length) as usize).min(more.len());
            messages.push(more[..length].to_vec());
            rest = &more[length..];
        }
        let (path, _) = &self.calls[usize::from(*call) % self.calls.len()];
        let path = PathAndQuery::try_from(path.as_str()).expect("a path");
        self.service.runtime.block_on(async {
            let _ = tokio::time::timeout(PATIENCE, self.say(path, messages)).await;
            let honest = PathAndQuery::from_static("/agon.v1.ExperimentService/ListExperiments");
            let honest = self.say(honest, vec![Vec::new()]);
            let answered = tokio::time::timeout(HONEST_PATIENCE, honest).await;
            let answered = answered.expect("an honest call is answered in time");
            answered.expect("an honest call is answered");
        });
    }
}

impl Grpc {
    /// Says it all, and hears answers until the stream ends.
    async fn say(&self, path: PathAndQuery, messages: Vec<Vec<u8>>) -> Result<(), Status> {
        let mut client = tonic::client::Grpc::new(self.channel.clone());
        client
            .ready()
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        let said = Request::new(tokio_stream::iter(messages));
        let mut heard = client.streaming(said, path, Raw).await?.into_inner();
        while heard.message().await?.is_some() {}
        Ok(())
    }
}

const WORDS: &[&str] = &[
    "s",
    "m",
    "fuzzed",
    "{\"name\":\"x\"}",
    "\u{8}\u{1}",
    "\u{12}\u{0}",
];

/// Deepest message inside a message.
const DEEPEST: usize = 6;

/// One field of a message changed, doubled, dropped or invented; what holds it keeps a length that
/// fits. Bytes that are no message are changed as bytes.
fn changed_fields(draw: &mut Draw, message: &[u8], depth: usize) -> Vec<u8> {
    let mut fields = fields(message).filter(|fields| !fields.is_empty());
    let Some(fields) = fields.as_mut().filter(|_| depth < DEEPEST) else {
        let mut bytes = message.to_vec();
        change(draw, &mut bytes, &[message.to_vec()], WORDS);
        return bytes;
    };
    let at = draw.below(fields.len());
    match draw.below(8) {
        0 => drop(fields.remove(at)),
        1 => fields.insert(at, fields[at].clone()),
        2 => {
            let times = *draw.pick(&[10, 1_000, 20_000]);
            let one = fields[at].clone();
            if one.1.len() * times < 1 << 20 {
                fields.extend(std::iter::repeat_n(one, times));
            }
        }
        3 => fields.push(invented(draw)),
        4 => fields[at] = (fields[at].0, invented(draw).1),
        _ if fields[at].0 & 7 == 2 => fields[at].1 = changed_fields(draw, &fields[at].1, depth + 1),
        _ => fields[at].1 = invented_number(draw, fields[at].0 & 7),
    }
    let mut bytes = Vec::new();
    for (tag, content) in fields {
        put_number(&mut bytes, *tag);
        if *tag & 7 == 2 {
            put_number(&mut bytes, content.len() as u64);
        }
        bytes.extend(content.iter());
    }
    bytes
}

/// Tag (number and wire type) and content of a field.
type Field = (u64, Vec<u8>);

fn invented(draw: &mut Draw) -> Field {
    let kind = *draw.pick(&[0, 1, 2, 5]);
    let number = 1 + draw.below(24) as u64;
    let content = match kind {
        2 => (0..draw.below(40)).map(|_| draw.byte()).collect(),
        _ => invented_number(draw, kind),
    };
    (number << 3 | kind, content)
}

fn invented_number(draw: &mut Draw, kind: u64) -> Vec<u8> {
    let number = *draw.pick(&[
        0,
        1,
        u64::MAX,
        1 << 31,
        1 << 63,
        f64::NAN.to_bits(),
        f64::INFINITY.to_bits(),
    ]);
    match kind {
        1 => number.to_le_bytes().to_vec(),
        5 => (number as u32).to_le_bytes().to_vec(),
        _ => {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            bytes
        }
    }
}

fn put_number(bytes: &mut Vec<u8>, number: u64) {
    prost::encoding::encode_varint(number, bytes);
}

/// The fields of a message; nothing when it is none.
fn fields(mut rest: &[u8]) -> Option<Vec<Field>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let tag = prost::encoding::decode_varint(&mut rest).ok()?;
        let length = match tag & 7 {
            0 => {
                let before = rest;
                prost::encoding::decode_varint(&mut rest).ok()?;
                let length = before.len() - rest.len();
                rest = before;
                length
            }
            1 => 8,
            2 => prost::encoding::decode_varint(&mut rest).ok()? as usize,
            5 => 4,
            _ => return None,
        };
        found.push((tag, rest.get(..length)?.to_vec()));
        rest = &rest[length..];
    }
    Some(found)
}

/// Sends bytes as they are, and forgets what it hears.
#[derive(Clone, Copy)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, message: Vec<u8>, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put_slice(&message);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        message.advance(message.remaining());
        Ok(Some(()))
    }
}
