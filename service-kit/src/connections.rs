//! Which connections a server takes, and for how long it waits for their first words, a TLS
//! handshake included: limits in all and per address, derived from how many files the process may
//! open. Knows no protocol beyond the first bytes. Called by every server of this crate.

mod stream;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::time::Sleep;
use tonic::transport::server::{Connected, TcpConnectInfo};
use tracing::warn;

use crate::complaint::Complaint;
use crate::open_files;
use crate::tls::ServerTls;

use stream::Stream;

/// What a client of HTTP/2 says first (RFC 9113); whatever else begins as HTTP/1.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Time for the first words. A client says them at once; this leaves room for a bad network.
const FIRST_WORDS_WITHIN: Duration = Duration::from_secs(10);

/// After a fault that another try will meet, too, such as no free file.
const PAUSE_AFTER_FAULT: Duration = Duration::from_millis(100);

/// The fewest connections that a server takes, however few files there are.
const FEWEST: usize = 16;

/// Limits of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at a time.
    pub most: usize,
    /// Of these, from one address (of IPv6, from one /64). Loopback addresses have no limit of
    /// their own: behind them is everything on this machine, a proxy for many included.
    pub most_per_address: usize,
    /// Time until a connection has said what it speaks, after the handshake where there is TLS,
    /// and then for each head of HTTP/1.
    pub head_within: Duration,
}

impl Default for ConnectionLimits {
    /// Two thirds of the files that the process may open, so that one server's callers leave room
    /// for the other's and for calls to the outside; half of these for one address.
    fn default() -> Self {
        let most = (open_files::limit() / 3 * 2).max(FEWEST);
        Self {
            most,
            most_per_address: most / 2,
            head_within: FIRST_WORDS_WITHIN,
        }
    }
}

/// A socket that takes connections within limits.
pub(crate) struct Connections {
    socket: TcpListener,
    name: &'static str,
    limits: ConnectionLimits,
    tls: Option<ServerTls>,
    held: Arc<Mutex<Held>>,
    refused: Complaint,
}

/// Connections that are open.
#[derive(Default)]
struct Held {
    all: usize,
    by_address: BTreeMap<IpAddr, usize>,
}

impl Connections {
    pub(crate) fn new(
        socket: TcpListener,
        name: &'static str,
        limits: ConnectionLimits,
        tls: Option<ServerTls>,
    ) -> Self {
        Self {
            socket,
            name,
            limits,
            tls,
            held: Arc::default(),
            refused: Complaint::default(),
        }
    }

    /// The next connection that the limits allow; others are closed at once.
    pub(crate) async fn accept(&mut self) -> Connection {
        loop {
            let (stream, peer) = match self.socket.accept().await {
                Ok(accepted) => accepted,
                Err(fault) => {
                    self.on_fault(&fault).await;
                    continue;
                }
            };
            match self.place(peer) {
                Ok(place) => {
                    // Only costs latency when it fails.
                    let _ = stream.set_nodelay(true);
                    let stream = match self.tls.clone() {
                        Some(tls) => Stream::tls(stream, tls, self.name),
                        None => Stream::Plain(stream),
                    };
                    return Connection::new(stream, place, self.limits.head_within);
                }
                Err(limit) => {
                    drop(stream);
                    let (server, peer) = (self.name, peer.ip());
                    if let Some(connections) = self.refused.note() {
                        warn!(
                            server,
                            %peer,
                            connections,
                            limit,
                            "connections refused; `ulimit -n` sets how many files the process may open"
                        );
                    }
                }
            }
        }
    }

    fn place(&self, peer: SocketAddr) -> Result<Place, &'static str> {
        let address = address_of(peer.ip());
        let mut held = held(&self.held);
        if held.all >= self.limits.most {
            return Err("as many connections as this server takes");
        }
        let of_address = held.by_address.entry(address).or_default();
        if *of_address >= self.limits.most_per_address && !address.is_loopback() {
            return Err("as many connections as one address may have");
        }
        *of_address += 1;
        held.all += 1;
        Ok(Place {
            held: self.held.clone(),
            address,
        })
    }

    async fn on_fault(&self, fault: &io::Error) {
        // The caller has gone: that is no fault of ours, and the next one may be there.
        let gone = [
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionRefused,
        ];
        if gone.contains(&fault.kind()) {
            return;
        }
        if let Some(times) = self.refused.note() {
            warn!(server = self.name, %fault, times, "cannot take a connection");
        }
        tokio::time::sleep(PAUSE_AFTER_FAULT).await;
    }
}

/// Whom an address stands for: who has an IPv6 address has a whole network of them.
fn address_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let network = address.to_bits() >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        other => other,
    }
}

fn held(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    // Two numbers stay usable whatever happened to whoever held them.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection's place among those that are open.
struct Place {
    held: Arc<Mutex<Held>>,
    address: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = held(&self.held);
        held.all -= 1;
        if let Some(of_address) = held.by_address.get_mut(&self.address) {
            *of_address -= 1;
            if *of_address == 0 {
                held.by_address.remove(&self.address);
            }
        }
    }
}

/// A connection that must say in time what it speaks. From then on its protocol looks after it.
pub(crate) struct Connection {
    stream: Stream,
    _place: Place,
    /// Until when, while it has not said it.
    deadline: Option<Pin<Box<Sleep>>>,
    /// How much of [`PREFACE`] it has said.
    said: usize,
}

impl Connection {
    fn new(stream: Stream, place: Place, within: Duration) -> Self {
        Self {
            stream,
            _place: place,
            deadline: Some(Box::pin(tokio::time::sleep(within))),
            said: 0,
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        let rest = &PREFACE[self.said..];
        let heard = bytes.len().min(rest.len());
        self.said += heard;
        if bytes[..heard] != rest[..heard] || self.said == PREFACE.len() {
            self.deadline = None;
        }
    }

    /// What waits for the peer, waits until the deadline.
    fn until_deadline<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match &mut self.deadline {
            Some(deadline) if outcome.is_pending() => {
                ready!(deadline.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            _ => outcome,
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if self.deadline.is_some() && matches!(read, Poll::Ready(Ok(()))) {
            self.hear(&buffer.filled()[before..]);
        }
        self.until_deadline(context, read)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.until_deadline(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.until_deadline(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn connections(most: usize, most_per_address: usize) -> Connections {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let limits = ConnectionLimits {
            most,
            most_per_address,
            head_within: FIRST_WORDS_WITHIN,
        };
        Connections::new(socket, "test", limits, None)
    }

    fn peer(address: &str) -> SocketAddr {
        SocketAddr::new(address.parse().unwrap(), 1)
    }

    #[tokio::test]
    async fn one_address_leaves_room_for_others_and_loopback_has_the_limit_of_all() {
        let connections = connections(8, 2).await;
        let place = |address| connections.place(peer(address));
        let mut held = vec![place("10.0.0.1").unwrap(), place("10.0.0.1").unwrap()];
        assert!(place("10.0.0.1").is_err());
        assert!(place("::ffff:10.0.0.1").is_err(), "the same in other words");
        held.push(place("2001:db8::1").unwrap());
        held.push(place("2001:db8::2").unwrap());
        assert!(place("2001:db8::3").is_err(), "one network");
        for _ in 0..4 {
            held.push(place("127.0.0.1").unwrap());
        }
        assert!(place("127.0.0.1").is_err(), "eight in all");
        drop(held.remove(0));
        held.push(place("10.0.0.1").unwrap());
        held.clear();
        let left = super::held(&connections.held);
        assert_eq!((left.all, left.by_address.len()), (0, 0));
    }
}
