//! A worker that plays nothing: what it is leased it hands in at once, with a record in which nothing
//! happened. It costs less than the coordinator, so that this is what is measured.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use agon_coordinator::experiment::{ExperimentFile, expand};
use agon_proto::packed::pack;
use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use agon_proto::v1::session_outcome::Outcome;
use agon_proto::v1::work_sessions_request::Message as Say;
use agon_proto::v1::work_sessions_response::Message as Hear;
use agon_proto::v1::{
    FinishedSession, HandIn, Heartbeat, Lease, RegisterWorker, SessionOutcome, SettledSession,
    Settlement, WorkSessionsRequest,
};
use agon_service_kit::server::{LARGEST_RESULT_BYTES, channel};
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;

/// Results in one message.
const TOGETHER: usize = 256;

/// Works until it is dropped; counts the sessions that are stored.
pub async fn work(
    url: &str,
    name: &str,
    places: u32,
    records: &HashMap<String, Bytes>,
    stored: &AtomicU32,
) {
    let (outgoing, requests) = mpsc::unbounded_channel();
    let say = |message| {
        let message = Some(message);
        // When the coordinator is gone, the answers end.
        let _ = outgoing.send(WorkSessionsRequest { message });
    };
    say(Say::Register(RegisterWorker {
        worker_id: name.to_owned(),
        incarnation: 1,
        version: "bench".to_owned(),
        places,
        capabilities: agon_worker::capabilities(&agon_referee::Games::default()),
        held: Vec::new(),
    }));
    let mut client = SessionLeaseServiceClient::new(channel(url).expect("an address"))
        .max_decoding_message_size(LARGEST_RESULT_BYTES)
        .max_encoding_message_size(LARGEST_RESULT_BYTES);
    let stream = client.work_sessions(UnboundedReceiverStream::new(requests));
    let mut answers = stream.await.expect("a coordinator in charge").into_inner();
    let telemetry = pack("{}");
    let mut beat = tokio::time::interval(std::time::Duration::from_secs(2));
    let mut number = 0;
    loop {
        let heard = tokio::select! {
            _ = beat.tick() => {
                number += 1;
                say(Say::Heartbeat(Heartbeat { number, progressed: Vec::new() }));
                continue;
            }
            heard = answers.message() => heard.expect("a stream that goes on"),
        };
        match heard.and_then(|heard| heard.message) {
            Some(Hear::Granted(granted)) => {
                let mut leases = granted.leases.into_iter().peekable();
                while leases.peek().is_some() {
                    let some = leases.by_ref().take(TOGETHER);
                    let outcomes = some.map(|lease| finished(lease, records, telemetry.clone()));
                    say(Say::HandIn(HandIn {
                        outcomes: outcomes.collect(),
                    }));
                }
            }
            Some(Hear::Settled(settled)) => {
                let is_stored = |one: &&SettledSession| one.settlement() == Settlement::Stored;
                let count = settled.sessions.iter().filter(is_stored).count();
                stored.fetch_add(count as u32, Ordering::Relaxed);
            }
            Some(_) => {}
            None => panic!("the coordinator ended the stream"),
        }
    }
}

/// Every session's record of an experiment in which nothing happens, packed, by its id: made before the
/// clock starts, because to pack one takes as long as to hand it in.
pub fn records(text: &str) -> HashMap<String, Bytes> {
    let file = ExperimentFile::parse("bench.toml", text).expect("an experiment");
    let document = file.check().expect("a good experiment");
    let sessions = expand(&document).expect("a grid").into_sessions();
    let records = sessions.map(|session| {
        let id = session.spec.id().to_string();
        let spec = serde_json::to_string(&session.spec).expect("JSON");
        let record = format!(
            "{{\"agon_record\":1,\"session\":\"{id}\",\"simulated\":false,\"spec\":{spec},\
             \"outcome\":{{\"payoffs\":[0.0,0.0],\"fouls\":[{{}},{{}}],\"forfeits\":[0,0]}},\
             \"measures\":{{\"scores\":{{}},\"parts\":{{}},\"series\":{{}}}},\"moves\":[],\
             \"events\":[],\"draws\":[]}}"
        );
        (id, pack(&record))
    });
    records.collect()
}

fn finished(lease: Lease, records: &HashMap<String, Bytes>, telemetry: Bytes) -> SessionOutcome {
    let reference = lease.lease.expect("a lease");
    let record = records[&reference.session_id].clone();
    SessionOutcome {
        outcome: Some(Outcome::Finished(FinishedSession { record, telemetry })),
        lease: Some(reference),
    }
}
