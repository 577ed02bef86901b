//! What services of a later version would say: stands before a service, and adds to every message in
//! either direction a field that nobody knows yet, and to the streams of workers messages of a kind
//! that nobody knows. Until it is told so it passes on what it hears.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_service_kit::server::{self, LARGEST_RESULT_BYTES, Listener};
use agon_service_kit::tasks::Tasks;
use bytes::{Buf as _, BufMut as _, Bytes};
use futures_util::future::ready;
use futures_util::{Stream, StreamExt as _, stream};
use http::uri::PathAndQuery;
use tokio::runtime::Runtime;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::StreamingService;
use tonic::transport::Channel;
use tonic::{Extensions, Request, Response, Status, Streaming};

/// Field 1999, the number 7: no message of ours has it.
const UNKNOWN: [u8; 3] = [0xf8, 0x7c, 0x07];

/// The stream of which each side may say several kinds of things.
const OF_WORKERS: &str = "/WorkSessions";

type Messages = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

/// A running one.
pub struct NewerWire {
    url: String,
    later: Arc<AtomicBool>,
    _runtime: Runtime,
}

impl NewerWire {
    /// Stands before the service at this address.
    pub fn before(url: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let later = Arc::new(AtomicBool::new(false));
        let channel = runtime.block_on(async { server::channel(url) }).unwrap();
        let passing = Passing {
            channel,
            later: Arc::clone(&later),
            path: PathAndQuery::from_static("/"),
        };
        let url = runtime.block_on(async {
            let listener = Listener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr());
            let routes = axum::Router::new().fallback(async move |request| {
                let passing = passing.clone();
                passing.pass(request).await
            });
            server::serve(&Tasks::new(), "newer wire", listener, routes.into());
            url
        });
        Self {
            url,
            later,
            _runtime: runtime,
        }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// From now on it speaks as a later version.
    pub fn be_later(&self) {
        self.later.store(true, Ordering::SeqCst);
    }
}

#[derive(Clone)]
struct Passing {
    channel: Channel,
    later: Arc<AtomicBool>,
    path: PathAndQuery,
}

impl Passing {
    /// One call, whatever it is: a call with one message is a stream of one.
    async fn pass(mut self, request: axum::extract::Request) -> http::Response<tonic::body::Body> {
        self.path = request.uri().path_and_query().cloned().unwrap();
        let server = tonic::server::Grpc::new(AsTheyAre);
        let mut server = server
            .max_decoding_message_size(LARGEST_RESULT_BYTES)
            .max_encoding_message_size(LARGEST_RESULT_BYTES);
        server.streaming(self, request).await
    }

    /// What a later version would say.
    fn said(
        &self,
        messages: Streaming<Bytes>,
    ) -> impl Stream<Item = Result<Bytes, Status>> + use<> {
        let later = Arc::clone(&self.later);
        let is_of_workers = self.path.path().ends_with(OF_WORKERS);
        messages.flat_map(move |message| {
            let said = match message {
                Ok(message) if later.load(Ordering::SeqCst) => {
                    let more = Bytes::from([&message[..], &UNKNOWN].concat());
                    let other = is_of_workers.then(|| Bytes::from_static(&UNKNOWN));
                    [Some(more), other].into_iter().flatten().map(Ok).collect()
                }
                message => vec![message],
            };
            stream::iter(said)
        })
    }
}

impl StreamingService<Bytes> for Passing {
    type Response = Bytes;
    type ResponseStream = Messages;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Messages>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let (metadata, _, messages) = request.into_parts();
            // A caller that has gone says nothing more.
            let said = this.said(messages);
            let said = said
                .take_while(|one| ready(one.is_ok()))
                .filter_map(|one| ready(one.ok()));
            let request = Request::from_parts(metadata, Extensions::default(), said);
            let client = tonic::client::Grpc::new(this.channel.clone());
            let mut client = client
                .max_decoding_message_size(LARGEST_RESULT_BYTES)
                .max_encoding_message_size(LARGEST_RESULT_BYTES);
            let connected = client.ready().await;
            connected.map_err(|error| Status::unavailable(error.to_string()))?;
            let answer = client.streaming(request, this.path.clone(), AsTheyAre);
            let (metadata, messages, extensions) = answer.await?.into_parts();
            let said: Messages = Box::pin(this.said(messages));
            Ok(Response::from_parts(metadata, said, extensions))
        })
    }
}

/// Messages as the bytes that they are.
#[derive(Clone, Copy)]
struct AsTheyAre;

impl Codec for AsTheyAre {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for AsTheyAre {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(message);
        Ok(())
    }
}

impl Decoder for AsTheyAre {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(message.copy_to_bytes(message.remaining())))
    }
}
