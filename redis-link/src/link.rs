//! A connection to the Redis that takes writes, made again after a failure. Calls that fail are not
//! repeated here: whoever calls knows what may be repeated. With sentinels, the master is looked up
//! again each time. A server that has become a replica is left, as one that does not answer is.
//! Where a failover may lose nothing that was acknowledged, a link waits for replicas after each
//! write that matters ([`Link::confirm`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_service_kit::clock::millis;
use agon_service_kit::complaint::Complaint;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult,
    ServerErrorKind, Value,
};

use crate::address::Address;

/// Scripts answer within milliseconds. Shorter than an owner may stay silent, so that it hears of a
/// server that hangs before somebody else takes over.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the network takes for what is large, at the least: bytes in a second.
const SLOWEST_BYTES_PER_SECOND: u64 = 5_000_000;

/// How long one try to connect may take.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);

/// How long it may take to find the master, connect to it and make sure that it is one.
const CONNECTS_WITHIN: Duration = Duration::from_secs(8);

/// Replicas that did not confirm in time are waited for again after this: a replica that is away
/// must not stop everything else.
const WAITS_AGAIN: Duration = Duration::from_secs(1);

/// See the module. Clones share the connection.
#[derive(Clone)]
pub struct Link {
    shared: Arc<Inner>,
    response_timeout: Duration,
    /// The connection that this clone used last.
    used: Option<u64>,
}

struct Inner {
    address: Arc<tokio::sync::Mutex<Address>>,
    /// What each connection begins with.
    opening: Arc<Pipeline>,
    current: Mutex<Current>,
    confirmation: Option<Confirmation>,
    /// Counts waits for replicas when they begin.
    waits: AtomicU64,
    last_wait: tokio::sync::Mutex<LastWait>,
    unconfirmed: Complaint,
}

/// The last wait for replicas. One at a time: it serves all who had written before it began, and
/// Redis answers nothing else on the connection meanwhile.
#[derive(Default)]
struct LastWait {
    number: u64,
    connection: u64,
    /// When it was too few of them.
    fell_short: Option<Instant>,
}

/// How many replicas must have a write before it counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// Replicas.
    pub replicas: u32,
    /// How long they are waited for. Shorter than a response may take (3 s).
    pub within: Duration,
}

/// The connection in use, or the one that is being made: callers wait for it together.
#[derive(Default)]
struct Current {
    /// Counts connections, so that a late failure of an old one does not end the new one.
    number: u64,
    connecting: Option<Connecting>,
}

type Connecting = Shared<BoxFuture<'static, RedisResult<MultiplexedConnection>>>;

impl Link {
    /// A link that connects at the first call. Each connection begins with `opening`, such as the
    /// loading of scripts.
    pub fn new(address: Address, opening: Pipeline) -> Self {
        Self::confirming(address, opening, None)
    }

    /// A link whose writes replicas are to have, too, where that is asked for. It should be a
    /// connection of its own: Redis serves nothing else on it while replicas are waited for.
    pub fn confirming(
        address: Address,
        opening: Pipeline,
        confirmation: Option<Confirmation>,
    ) -> Self {
        let shared = Inner {
            address: Arc::new(tokio::sync::Mutex::new(address)),
            opening: Arc::new(opening),
            current: Mutex::default(),
            confirmation,
            waits: AtomicU64::new(0),
            last_wait: tokio::sync::Mutex::default(),
            unconfirmed: Complaint::default(),
        };
        Self {
            shared: Arc::new(shared),
            response_timeout: RESPONSE_TIMEOUT,
            used: None,
        }
    }

    /// The same link for a call that moves so many bytes.
    pub fn for_bytes(&self, bytes: usize) -> Self {
        let seconds = (bytes as u64).div_ceil(SLOWEST_BYTES_PER_SECOND);
        Self {
            shared: self.shared.clone(),
            response_timeout: RESPONSE_TIMEOUT + Duration::from_secs(seconds),
            used: None,
        }
    }

    /// Checks that a master answers.
    ///
    /// # Errors
    /// Nobody does, or a replica.
    pub async fn check(&self) -> RedisResult<()> {
        let (number, mut connection) = self.connection().await?;
        let checked = refuse_replica(&mut connection).await;
        if checked.is_err() {
            self.leave(number);
        }
        checked
    }

    /// Waits until as many replicas as configured have what this clone of the link has written. When
    /// they do not in time, that is said in the log, the write stands as Redis keeps it, and for a
    /// moment nobody waits again.
    ///
    /// # Errors
    /// The connection was lost since: whether the write stands, nobody knows.
    pub async fn confirm(&self) -> RedisResult<()> {
        let (Some(confirmation), Some(used)) = (self.shared.confirmation, self.used) else {
            return Ok(());
        };
        let written_before = self.shared.waits.load(Ordering::SeqCst);
        let mut last = self.shared.last_wait.lock().await;
        if last.connection == used && last.number > written_before {
            return Ok(());
        }
        if last.fell_short.is_some_and(|at| at.elapsed() < WAITS_AGAIN) {
            return Ok(());
        }
        let (number, mut connection) = self.connection().await?;
        if number != used {
            // A server that has become the master since would count replicas of its own.
            let lost = "the connection was lost before replicas confirmed";
            return Err(std::io::Error::new(std::io::ErrorKind::ConnectionReset, lost).into());
        }
        last.number = self.shared.waits.fetch_add(1, Ordering::SeqCst) + 1;
        last.connection = number;
        last.fell_short = None;
        let Confirmation { replicas, within } = confirmation;
        let mut wait = redis::cmd("WAIT");
        wait.arg(replicas).arg(millis(within));
        let answer: RedisResult<u32> = wait.query_async(&mut connection).await;
        let have = answer.inspect_err(|_| self.leave(number))?;
        if have < replicas {
            last.fell_short = Some(Instant::now());
            if let Some(times) = self.shared.unconfirmed.note() {
                tracing::warn!(
                    replicas,
                    have,
                    times,
                    "too few replicas have what was written; a failover now would lose it"
                );
            }
        }
        Ok(())
    }

    async fn connection(&self) -> RedisResult<(u64, MultiplexedConnection)> {
        let (number, connecting) = {
            let mut current = self.shared.current.lock();
            let connecting = match current.connecting.clone() {
                Some(connecting) => connecting,
                None => {
                    current.number += 1;
                    let connecting = self.connect().boxed().shared();
                    current.connecting = Some(connecting.clone());
                    connecting
                }
            };
            (current.number, connecting)
        };
        match connecting.await {
            Ok(mut connection) => {
                connection.set_response_timeout(self.response_timeout);
                Ok((number, connection))
            }
            Err(error) => {
                self.leave(number);
                Err(error)
            }
        }
    }

    fn connect(&self) -> impl Future<Output = RedisResult<MultiplexedConnection>> + use<> {
        connect(self.shared.address.clone(), self.shared.opening.clone())
    }

    /// Connects anew at the next call.
    fn leave(&self, number: u64) {
        let mut current = self.shared.current.lock();
        if current.number == number {
            current.connecting = None;
        }
    }
}

impl ConnectionLike for Link {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let (number, mut connection) = self.connection().await?;
            self.used = Some(number);
            let answer = connection.req_packed_command(command).await;
            if is_over(answer.as_ref().map(std::slice::from_ref)) {
                self.leave(number);
            }
            answer
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let (number, mut connection) = self.connection().await?;
            self.used = Some(number);
            let answer = connection
                .req_packed_commands(pipeline, offset, count)
                .await;
            if is_over(answer.as_deref()) {
                self.leave(number);
            }
            answer
        })
    }

    fn get_db(&self) -> i64 {
        // Asked for by connections to clusters alone.
        0
    }
}

/// Whether an error may be over when Redis is back or has read its files, as opposed to one that a
/// person has to see to (a wrong password).
pub fn may_pass(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Io
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::NoValidReplicasFoundBySentinel => true,
        ErrorKind::Server(kind) => matches!(
            kind,
            ServerErrorKind::BusyLoading
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ReadOnly
        ),
        _ => false,
    }
}

/// Whether a connection is of no more use after this answer.
fn is_over(answer: Result<&[Value], &RedisError>) -> bool {
    let wrong_server = |kind: ErrorKind| {
        let ErrorKind::Server(kind) = kind else {
            return false;
        };
        // A transaction that a replica refuses ends so, too.
        matches!(
            kind,
            ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown | ServerErrorKind::ExecAbort
        )
    };
    match answer {
        Err(error) => {
            error.is_io_error() || error.is_unrecoverable_error() || wrong_server(error.kind())
        }
        Ok(values) => values.iter().any(|value| match value {
            Value::ServerError(error) => wrong_server(RedisError::from(error.clone()).kind()),
            _ => false,
        }),
    }
}

async fn connect(
    address: Arc<tokio::sync::Mutex<Address>>,
    opening: Arc<Pipeline>,
) -> RedisResult<MultiplexedConnection> {
    let connecting = async {
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_connection_timeout(Some(CONNECTION_TIMEOUT));
        let mut connection = match &mut *address.lock().await {
            Address::Server(client) => {
                client
                    .get_multiplexed_async_connection_with_config(&config)
                    .await?
            }
            Address::Sentinels(client) => client.get_async_connection_with_config(&config).await?,
        };
        refuse_replica(&mut connection).await?;
        if !opening.is_empty() {
            opening.exec_async(&mut connection).await?;
        }
        Ok(connection)
    };
    match tokio::time::timeout(CONNECTS_WITHIN, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
    }
}

/// A replica answers reads and would be taken for the server that takes writes.
async fn refuse_replica(connection: &mut MultiplexedConnection) -> RedisResult<()> {
    let answer: RedisResult<Vec<Value>> = redis::cmd("ROLE").query_async(connection).await;
    let role = match answer {
        Ok(role) => role.into_iter().next(),
        // A user who may not ask is told by the first write.
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) => return Ok(()),
        Err(error) => return Err(error),
    };
    match role {
        Some(Value::BulkString(role)) if role == b"master" => Ok(()),
        _ => Err((
            ErrorKind::Server(ServerErrorKind::ReadOnly),
            "this server is a replica and takes no writes",
        )
            .into()),
    }
}
