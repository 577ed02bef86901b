//! Who never finishes a handshake, or says nothing after it, is sent away in time and keeps nobody
//! else out.

use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::server::ConnectionLimits;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::ground::{
    Authority, Files, HERE, PATIENCE, Servers, check, connect, open_within, shake_hands, trusting,
};

/// A deadline that passes soon, but not while a client of the test shakes hands.
const BRIEF: Duration = Duration::from_secs(1);

/// Reads until the server has closed the connection.
async fn closed(mut stream: impl AsyncRead + Unpin) {
    let ended = tokio::time::timeout(PATIENCE, async {
        let mut heard = [0; 1024];
        // A reset is an end, too.
        while let Ok(1..) = stream.read(&mut heard).await {}
    });
    ended.await.expect("the server closes it");
}

/// The first words of a client of TLS.
fn client_hello(config: Arc<rustls::ClientConfig>) -> Vec<u8> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = rustls::ClientConnection::new(config, name).unwrap();
    let mut hello = Vec::new();
    client.write_tls(&mut hello).unwrap();
    hello
}

/// Both servers answer somebody who speaks at once.
async fn answer(servers: &Servers, ca: &Authority, files: &Files) {
    check(&servers.channel("localhost", &files.client(ca, None)))
        .await
        .unwrap();
    let mut stream = shake_hands(servers.http, trusting(ca, "http/1.1")).await;
    let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("here"), "{answer}");
}

#[tokio::test]
async fn who_never_finishes_a_handshake_is_sent_away_and_keeps_nobody_out() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let servers = open_within(&files.server(&ca.certify(&HERE), None), |limits| {
        ConnectionLimits {
            head_within: BRIEF,
            ..limits
        }
    })
    .await;
    let hello = client_hello(trusting(&ca, "h2"));
    let beginnings = [&[], &hello[..1], &hello[..hello.len() / 2], &hello[..]];
    let mut slow = Vec::new();
    for beginning in beginnings {
        for port in [servers.grpc, servers.http] {
            for _ in 0..20 {
                let mut stream = connect(port).await;
                stream.write_all(beginning).await.unwrap();
                slow.push(stream);
            }
        }
    }
    answer(&servers, &ca, &files).await;
    for stream in slow {
        closed(stream).await;
    }
    answer(&servers, &ca, &files).await;
    servers.stop().await;
}

#[tokio::test]
async fn who_says_nothing_after_a_handshake_is_sent_away() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let servers = open_within(&files.server(&ca.certify(&HERE), None), |limits| {
        ConnectionLimits {
            head_within: BRIEF,
            ..limits
        }
    })
    .await;
    let mut silent = Vec::new();
    for (port, protocol, words) in [
        (servers.grpc, "h2", ""),
        (servers.grpc, "h2", "PRI * HT"),
        (servers.http, "h2", ""),
        (servers.http, "h2", "PRI * HT"),
        (servers.http, "http/1.1", ""),
        (servers.http, "http/1.1", "GET / HTTP/1.1\r\nhost"),
    ] {
        let mut stream = shake_hands(port, trusting(&ca, protocol)).await;
        stream.write_all(words.as_bytes()).await.unwrap();
        silent.push(stream);
    }
    for stream in silent {
        closed(stream).await;
    }
    servers.stop().await;
}

/// Holds three places of a server with handshakes that do not go on.
async fn three_halves(servers: &Servers, ca: &Authority) -> Vec<TcpStream> {
    let hello = client_hello(trusting(ca, "h2"));
    let mut halves = Vec::new();
    for _ in 0..3 {
        let mut stream = connect(servers.grpc).await;
        stream.write_all(&hello).await.unwrap();
        // The server has it, or it would not answer.
        stream.read_u8().await.unwrap();
        halves.push(stream);
    }
    halves
}

#[tokio::test]
async fn half_a_handshake_holds_a_place() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let servers = open_within(&files.server(&ca.certify(&HERE), None), |limits| {
        ConnectionLimits {
            most: 3,
            head_within: PATIENCE * 10,
            ..limits
        }
    })
    .await;
    let halves = three_halves(&servers, &ca).await;
    closed(connect(servers.grpc).await).await;
    drop(halves);
    servers.stop().await;
}

#[tokio::test]
async fn places_of_half_handshakes_are_free_after_the_deadline() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let servers = open_within(&files.server(&ca.certify(&HERE), None), |limits| {
        ConnectionLimits {
            most: 3,
            head_within: BRIEF,
            ..limits
        }
    })
    .await;
    for stream in three_halves(&servers, &ca).await {
        closed(stream).await;
    }
    // They are free as soon as the server has noticed.
    let client = servers.channel("localhost", &files.client(&ca, None));
    let answers = async { while check(&client).await.is_err() {} };
    let answered = tokio::time::timeout(PATIENCE, answers).await;
    answered.expect("places became free");
    servers.stop().await;
}
