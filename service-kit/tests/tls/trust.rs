//! Which servers clients trust, which clients servers serve, and that a refusal says why it was one
//! of certificates and not of the network.

use agon_service_kit::server::{channel, channel_with};
use agon_service_kit::status::is_retryable;
use agon_service_kit::tasks::with_causes;
use reqwest::Version;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::Status;

use crate::ground::{
    Authority, Files, HERE, PATIENCE, check, connect, open, open_within, shake_hands, trusting,
};

/// The reason is in the message, which services hand on, and in the chain, which is logged.
fn says(refusal: &Status, reason: &str) {
    assert!(refusal.message().contains(reason), "{refusal:?}");
    let chain = with_causes(refusal);
    assert!(chain.contains(reason), "{chain}");
    assert!(is_retryable(refusal), "{refusal:?}");
}

#[tokio::test]
async fn health_is_asked_over_tls_by_name_and_by_address() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let servers = open(&files.server(&ca.certify(&HERE), None)).await;
    let tls = files.client(&ca, None);
    for host in HERE {
        check(&servers.channel(host, &tls)).await.unwrap();
    }
    channel_with("https://[::1]:1", Some(&tls)).expect("an address, too");
    servers.stop().await;
}

#[tokio::test]
async fn server_of_another_authority_is_refused_and_the_reason_is_readable() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let servers = open(&files.server(&ca.certify(&HERE), None)).await;
    let tls = files.client(&Authority::new("another"), None);
    let trusting_another = servers.channel("localhost", &tls);
    let trusting_the_system = channel(&format!("https://localhost:{}", servers.grpc)).unwrap();
    for client in [trusting_another, trusting_the_system] {
        let refusal = check(&client).await.unwrap_err();
        says(&refusal, "invalid peer certificate: UnknownIssuer");
    }
    servers.stop().await;
}

#[tokio::test]
async fn server_of_another_name_is_refused_and_the_reason_is_readable() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let pair = ca.certify(&["elsewhere.example", "192.0.2.1"]);
    let servers = open(&files.server(&pair, None)).await;
    let tls = files.client(&ca, None);
    for host in HERE {
        let refusal = check(&servers.channel(host, &tls)).await.unwrap_err();
        says(&refusal, "certificate not valid for name");
        says(&refusal, host);
    }
    servers.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_asks_for_certificates_serves_those_of_its_authority_only() {
    let (ca, clients) = (Authority::new("ours"), Authority::new("clients"));
    let files = Files::new();
    let servers = open(&files.server(&ca.certify(&HERE), Some(&clients))).await;
    let right = clients.certify(&["worker"]);
    let wrong = Authority::new("another").certify(&["worker"]);
    let with = |pair| servers.channel("localhost", &files.client(&ca, pair));
    // Many times: the reason must not depend on who is faster.
    for _ in 0..50 {
        for (pair, reason) in [(None, "CertificateRequired"), (Some(&wrong), "UnknownCA")] {
            let refusal = check(&with(pair)).await.unwrap_err();
            says(&refusal, reason);
        }
    }
    check(&with(Some(&right))).await.unwrap();
    servers.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_speaks_before_it_listens_learns_why_it_is_refused() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let pair = ca.certify(&HERE);
    let servers = open(&files.server(&pair, Some(&Authority::new("clients")))).await;
    for _ in 0..50 {
        for port in [servers.grpc, servers.http] {
            let mut stream = shake_hands(port, trusting(&ca, "h2")).await;
            for word in ["PRI * HTTP/2.0\r\n", "\r\n", "SM\r\n\r\n"] {
                stream.write_all(word.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
            }
            let heard = stream.read_u8().await.unwrap_err().to_string();
            assert!(heard.contains("CertificateRequired"), "{heard}");
        }
    }
    servers.stop().await;
}

#[tokio::test]
async fn http_server_speaks_both_versions_over_tls() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let servers = open(&files.server(&ca.certify(&HERE), None)).await;
    let trusted = || reqwest::Certificate::from_pem(ca.pem().as_bytes()).unwrap();
    let client = || reqwest::Client::builder().tls_certs_only([trusted()]);
    for (client, version) in [
        (client().http1_only(), Version::HTTP_11),
        (client().http2_prior_knowledge(), Version::HTTP_2),
        (client(), Version::HTTP_2),
    ] {
        let address = format!("https://localhost:{}/", servers.http);
        let asked = client.build().unwrap().get(address).send();
        let answer = asked.await.unwrap();
        assert_eq!(answer.version(), version);
        assert_eq!(answer.text().await.unwrap(), "here");
    }
    servers.stop().await;
}

#[tokio::test]
async fn who_speaks_plain_http_at_a_tls_port_is_sent_away_at_once() {
    let (ca, files) = (Authority::new("ours"), Files::new());
    let tls = files.server(&ca.certify(&HERE), None);
    // No deadline closes it in the time of this test.
    let servers = open_within(&tls, |mut limits| {
        limits.head_within = PATIENCE * 10;
        limits
    })
    .await;
    for port in [servers.grpc, servers.http] {
        for words in [
            "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ] {
            let mut stream = connect(port).await;
            stream.write_all(words.as_bytes()).await.unwrap();
            let mut heard = Vec::new();
            let read = stream.read_to_end(&mut heard);
            // A reset is an end, too.
            let _ = tokio::time::timeout(PATIENCE, read)
                .await
                .expect("the server closes it");
            assert!(!heard.starts_with(b"HTTP"), "{heard:?}");
        }
    }
    let in_clear = channel(&format!("http://localhost:{}", servers.grpc)).unwrap();
    assert!(is_retryable(&check(&in_clear).await.unwrap_err()));
    servers.stop().await;
}
