//! The bytes of a connection, plain or inside TLS. The handshake is made by whoever first reads or
//! writes, so the connection's own task waits for it and not the one that accepts. It sets no
//! deadline. Called by `connections.rs`.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::{FallibleAccept, TlsStream};
use tonic::transport::server::{Connected as _, TcpConnectInfo};

use crate::tls::ServerTls;

/// Read at once of what nobody wants.
const DISCARDED_BYTES: usize = 1024;

pub(super) enum Stream {
    Plain(TcpStream),
    Handshake(Box<Handshake>),
    Tls(Box<TlsStream<TcpStream>>),
    /// The handshake failed, and the peer has not hung up yet.
    Ending(TcpStream, io::Error),
    /// The handshake failed.
    Ended,
}

/// A handshake that is not over.
pub(super) struct Handshake {
    accept: FallibleAccept<TcpStream>,
    tls: ServerTls,
    /// Name of the server, for the log.
    server: &'static str,
    info: TcpConnectInfo,
}

/// What can be read and written.
trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

impl Stream {
    pub(super) fn tls(stream: TcpStream, tls: ServerTls, server: &'static str) -> Self {
        let info = stream.connect_info();
        let accept = tls.accept(stream).into_fallible();
        Self::Handshake(Box::new(Handshake {
            accept,
            tls,
            server,
            info,
        }))
    }

    pub(super) fn connect_info(&self) -> TcpConnectInfo {
        match self {
            Self::Plain(stream) | Self::Ending(stream, _) => stream.connect_info(),
            Self::Handshake(handshake) => handshake.info.clone(),
            Self::Tls(stream) => stream.get_ref().0.connect_info(),
            Self::Ended => TcpConnectInfo {
                local_addr: None,
                remote_addr: None,
            },
        }
    }

    /// The stream, once its handshake is over.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Pin<&mut dyn Duplex>>> {
        if let Self::Handshake(handshake) = self {
            match ready!(Pin::new(&mut handshake.accept).poll(context)) {
                Ok(stream) => *self = Self::Tls(Box::new(stream)),
                Err((fault, stream)) => {
                    let peer = handshake.info.remote_addr;
                    handshake.tls.on_failure(handshake.server, peer, &fault);
                    *self = Self::Ending(stream, fault);
                }
            }
        }
        if let Self::Ending(stream, _) = self {
            ready!(poll_end(stream, context));
            if let Self::Ending(_, fault) = std::mem::replace(self, Self::Ended) {
                return Poll::Ready(Err(fault));
            }
        }
        Poll::Ready(match self {
            Self::Plain(stream) => Ok(Pin::new(stream)),
            Self::Tls(stream) => Ok(Pin::new(&mut **stream)),
            _ => Err(io::ErrorKind::NotConnected.into()),
        })
    }
}

/// Ends our side and waits until the peer hangs up. Closing a socket with unread bytes resets the
/// connection, and the peer might see the reset instead of the alert that says what is wrong with
/// its certificate.
fn poll_end(stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<()> {
    // A peer that is gone needs no notice.
    let _ = ready!(Pin::new(&mut *stream).poll_shutdown(context));
    let mut discarded = [0; DISCARDED_BYTES];
    loop {
        let mut buffer = ReadBuf::new(&mut discarded);
        let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer));
        if read.is_err() || buffer.filled().is_empty() {
            return Poll::Ready(());
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_open(context))?.poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(context))?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_open(context))?.poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        // Sockets and TLS both take many parts at once.
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(&mut **stream).poll_flush(context),
            // Nothing was written yet.
            _ => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(&mut **stream).poll_shutdown(context),
            // It closes when it is dropped.
            _ => Poll::Ready(Ok(())),
        }
    }
}
