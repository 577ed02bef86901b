//! Certificates that change on disk while servers and clients run: files that are written again, and
//! links that are swapped, as Kubernetes does it.

use agon_service_kit::tls::{ClientTls, ClientTlsFiles, TlsFiles};

use crate::ground::{
    Authority, Files, HERE, PATIENCE, Pair, check, open, shake_hands, shown, trusting,
};

/// Makes the link `data` point to a new folder with this pair.
fn swap_to(files: &Files, version: &str, pair: &Pair) -> TlsFiles {
    std::fs::create_dir(files.at(version)).unwrap();
    files.write(&format!("{version}/tls.crt"), &pair.cert);
    files.write(&format!("{version}/tls.key"), &pair.key);
    std::os::unix::fs::symlink(version, files.at("next")).unwrap();
    std::fs::rename(files.at("next"), files.at("data")).unwrap();
    TlsFiles {
        cert: files.at("data/tls.crt"),
        key: files.at("data/tls.key"),
        client_ca: None,
    }
}

#[tokio::test]
async fn new_connections_see_the_new_certificate_and_old_ones_go_on() {
    let (before, after) = (Authority::new("before"), Authority::new("after"));
    let files = Files::new();
    let servers = open(&swap_to(&files, "1", &before.certify(&HERE))).await;
    let old = servers.channel("localhost", &files.client(&before, None));
    check(&old).await.unwrap();
    let first = shown(&shake_hands(servers.grpc, trusting(&before, "h2")).await);

    swap_to(&files, "2", &before.certify(&HERE));
    let config = trusting(&before, "h2");
    let changed =
        async { while shown(&shake_hands(servers.grpc, config.clone()).await) == first {} };
    tokio::time::timeout(PATIENCE, changed)
        .await
        .expect("the second is shown");

    // Who trusts the old authority could not connect any more, but is connected.
    swap_to(&files, "3", &after.certify(&HERE));
    let new = servers.channel("localhost", &files.client(&after, None));
    let changed = async { while check(&new).await.is_err() {} };
    tokio::time::timeout(PATIENCE, changed)
        .await
        .expect("the third is shown");
    check(&old).await.unwrap();
    let late = servers.channel("localhost", &files.client(&before, None));
    assert!(check(&late).await.is_err());
    servers.stop().await;
}

#[tokio::test]
async fn client_trusts_a_new_authority_from_its_next_connection_on() {
    let (before, after) = (Authority::new("before"), Authority::new("after"));
    let files = Files::new();
    let servers = open(&files.server(&after.certify(&HERE), None)).await;
    let ca = files.write("trusted.crt", &before.pem());
    let tls = ClientTls::read(&ClientTlsFiles {
        ca: Some(ca),
        ..ClientTlsFiles::default()
    });
    let tls = tls.unwrap();
    tls.follow(&servers.tasks);
    let client = servers.channel("localhost", &tls);
    assert!(check(&client).await.is_err());
    files.write("trusted.crt", &(before.pem() + &after.pem()));
    let changed = async { while check(&client).await.is_err() {} };
    tokio::time::timeout(PATIENCE, changed)
        .await
        .expect("the new authority is trusted");
    servers.stop().await;
}
