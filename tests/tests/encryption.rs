//! TLS between real processes: coordinator, gateway, worker and commands with certificates of a CA of
//! one's own, certificates asked of callers, and certificates that change while everything runs.

use std::fs;
use std::path::{Path, PathBuf};

use agon_tests::binary::{Ended, MODEL_SERVERS, Role, command};
use agon_tests::redis::free_port;
use agon_tests::waiting::until;
use agon_tests::{model_server, runs};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};

/// A CA, and the files of what it signs.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: PathBuf,
}

impl Authority {
    fn new(name: &str, folder: &Path) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Self {
            issuer,
            folder: folder.to_owned(),
        };
        fs::write(authority.path("ca.pem"), authority.issuer.pem()).unwrap();
        authority
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Writes `NAME.pem` and `NAME.key`, signed, for this machine.
    fn sign(&self, name: &str) {
        self.sign_until(name, 4096);
    }

    /// The same, valid until this year begins: that moment, in seconds since 1970.
    fn sign_until(&self, name: &str, year: i32) -> i64 {
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let end = params.not_after.unix_timestamp();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.path(&format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(self.path(&format!("{name}.key")), key.serialize_pem()).unwrap();
        end
    }
}

fn agon(arguments: &[&str], flags: &[&str]) -> Ended {
    command(&[arguments, flags].concat())
        .output()
        .unwrap()
        .into()
}

#[test]
fn whole_cluster_speaks_tls_asks_for_certificates_and_takes_new_ones_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("ours", folder.path());
    for name in ["coordinator", "gateway", "client"] {
        authority.sign(name);
    }
    let path = |name: &str| authority.path(name);
    let (ca, cert, key) = (path("ca.pem"), path("client.pem"), path("client.key"));
    let known = ["--ca", &ca, "--client-cert", &cert, "--client-key", &key];
    let models = runs::model_server("20ms");
    let config = format!(
        "[providers.simulated]\nbase_url = '{}'\nendpoint = '{MODEL_SERVERS}'\n\
         keys = []\n[models.any]\nprovider = 'simulated'\n",
        models.base_url()
    );
    fs::write(path("agon.toml"), config).unwrap();
    let data = path("data");
    let serve = |role: &str, more: &[&str]| {
        let (own, own_key) = (path(&format!("{role}.pem")), path(&format!("{role}.key")));
        let tls = [
            "--tls-cert",
            &own,
            "--tls-key",
            &own_key,
            "--tls-client-ca",
            &ca,
        ];
        let listen = [role, "--listen", "127.0.0.1:0", "--data", &data];
        let (role, address) = Role::listening(&[&listen[..], &tls, &known, more].concat());
        (role, format!("https://{address}"))
    };
    let (_gateway, gateway) = serve("gateway", &["--config", &path("agon.toml")]);
    let (_coordinator, coordinator) = serve("coordinator", &["--gateway", &gateway]);
    let services = ["--coordinator", &coordinator, "--gateway", &gateway];
    let (_worker, _) = Role::start(&[&["worker"][..], &services, &known].concat());

    let experiment = runs::write(folder.path(), &runs::dividers("encrypted", 2));
    let experiment = experiment.display().to_string();
    let out = folder.path().join("out");
    let run = ["run", &experiment, "--out", &out.display().to_string()];
    let _ = agon(&run, &[&services[..], &known].concat()).expect_code(0);
    assert!(runs::records(&out) == runs::reference(&runs::dividers("encrypted", 2)));

    let list = ["experiments", "list", "--coordinator", &coordinator];
    let without = agon(&list, &["--ca", &ca]).expect_code(3);
    assert!(without.err.contains("ertificate"), "{}", without.err);
    let stranger = tempfile::tempdir().unwrap();
    let other = Authority::new("another", stranger.path());
    other.sign("client");
    let (other_ca, other_cert) = (other.path("ca.pem"), other.path("client.pem"));
    let other_key = other.path("client.key");
    let untrusted = agon(&list, &["--ca", &other_ca]).expect_code(3);
    assert!(untrusted.err.contains("UnknownIssuer"), "{}", untrusted.err);
    let shown = [
        "--ca",
        &ca,
        "--client-cert",
        &other_cert,
        "--client-key",
        &other_key,
    ];
    let _ = agon(&list, &shown).expect_code(3);
    let plain = coordinator.replace("https", "http");
    let _ = agon(&["experiments", "list", "--coordinator", &plain], &[]).expect_code(3);
    let useless = agon(
        &["experiments", "list", "--coordinator", &plain],
        &["--ca", &ca],
    );
    assert!(useless.expect_code(2).err.contains("not encrypted"));

    // Everybody gets certificates of another CA; nobody is restarted.
    for name in ["coordinator", "gateway", "client"] {
        other.sign(name);
        for suffix in ["pem", "key"] {
            let file = format!("{name}.{suffix}");
            fs::copy(other.path(&file), path(&file)).unwrap();
        }
    }
    fs::copy(other.path("ca.pem"), path("ca.pem")).unwrap();
    until("the new certificates", || {
        agon(&list, &known).code == Some(0)
    });
    fs::write(&experiment, runs::dividers("renewed", 2)).unwrap();
    let out = folder.path().join("renewed");
    let run = ["run", &experiment, "--out", &out.display().to_string()];
    let _ = agon(&run, &[&services[..], &known].concat()).expect_code(0);
    assert!(runs::records(&out) == runs::reference(&runs::dividers("renewed", 2)));
}

#[test]
fn end_of_a_certificate_stands_in_the_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("ours", folder.path());
    let first = authority.sign_until("gateway", 2090);
    let metrics = format!("127.0.0.1:{}", free_port());
    let path = |name: &str| authority.path(name);
    let (cert, key, data) = (path("gateway.pem"), path("gateway.key"), path("data"));
    let tls = ["--tls-cert", &cert, "--tls-key", &key];
    let listen = ["coordinator", "--listen", "127.0.0.1:0", "--data", &data];
    let (_role, _) = Role::listening(&[&listen[..], &tls, &["--metrics", &metrics]].concat());
    let shown = |end: i64| {
        let page = model_server::get(&metrics, "/metrics");
        let line = format!("agon_tls_certificate_ends_timestamp_seconds{{file=\"{cert}\"}} {end}");
        page.lines().any(|shown| shown == line)
    };
    until("the end is shown", || shown(first));
    let second = authority.sign_until("gateway", 2091);
    until("the end of the new one is shown", || shown(second));
}
