//! What is read from files, which faults are reported, and how changes are followed. No network and
//! no clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::rotation::{Look, Rotating, Watch};
use super::{ClientTls, ClientTlsFiles, ServerTls, TlsFiles, install_crypto};
use crate::tasks::with_causes;

/// A certificate and its key in PEM.
fn pair() -> [String; 2] {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    [made.cert.pem(), made.signing_key.serialize_pem()]
}

/// A folder with a good pair.
fn folder() -> (tempfile::TempDir, TlsFiles) {
    let folder = tempfile::tempdir().unwrap();
    let [cert, key] = ["tls.crt", "tls.key"].map(|name| folder.path().join(name));
    let files = TlsFiles {
        cert,
        key,
        client_ca: None,
    };
    write(&files, &pair());
    (folder, files)
}

fn write(files: &TlsFiles, [cert, key]: &[String; 2]) {
    std::fs::write(&files.cert, cert).unwrap();
    std::fs::write(&files.key, key).unwrap();
}

/// PEM around something that is no certificate.
const GARBAGE: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

/// A good pair, and faulty files beside it.
struct Faults {
    folder: tempfile::TempDir,
    good: TlsFiles,
    cert: String,
    key: String,
}

impl Faults {
    fn new() -> Self {
        let (folder, good) = folder();
        let [cert, key] = [&good.cert, &good.key].map(|file| read(file));
        Self {
            folder,
            good,
            cert,
            key,
        }
    }

    /// A line of the key.
    fn secret(&self) -> &str {
        self.key.lines().nth(1).unwrap()
    }

    fn written(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The error is one line that names the file and the reason and quotes no key.
    fn says(&self, files: &TlsFiles, file: &str, reason: &str) {
        let error = with_causes(&ServerTls::read(files).unwrap_err());
        let said = error.contains(file) && error.contains(reason);
        assert!(said && !error.contains('\n'), "{file}: {error}");
        assert!(!error.contains(self.secret()), "{error}");
    }
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn faulty_certificate_is_named_with_the_reason() {
    let faults = Faults::new();
    let says = |cert: PathBuf, file: &str, reason: &str| {
        let good = faults.good.clone();
        faults.says(&TlsFiles { cert, ..good }, file, reason);
    };
    let texts = [
        ("long", "a".repeat(2 << 20), "more than 1 MiB"),
        ("empty", String::new(), "no certificate"),
        ("text", "hello".to_owned(), "no certificate"),
        ("cut", faults.cert[..99].to_owned(), "a section has no end"),
        ("garbage", GARBAGE.to_owned(), "cannot be used"),
    ];
    for (name, text, reason) in texts {
        says(faults.written(name, &text), name, reason);
    }
    says(faults.good.key.clone(), "tls.key", "no certificate");
    says(faults.folder.path().into(), "", "not a regular file");
    says(faults.folder.path().join("none"), "none", "cannot be read");
}

#[test]
fn faulty_key_is_named_with_the_reason_and_never_quoted() {
    let faults = Faults::new();
    let says = |key: PathBuf, file: &str, reason: &str| {
        let good = faults.good.clone();
        faults.says(&TlsFiles { key, ..good }, file, reason);
    };
    let (key, secret) = (&faults.key, faults.secret());
    let zeros = "A".repeat(secret.len());
    let texts = [
        (
            "encrypted",
            key.replace("PRIVATE", "ENCRYPTED PRIVATE"),
            "not encrypted",
        ),
        ("cut", key[..99].to_owned(), "a section has no end"),
        ("odd", key.replace(secret, "?"), "not Base64"),
        ("start", key.replace("KEY-----\n", ""), "malformed line"),
        ("zeros", key.replace(secret, &zeros), "cannot be used"),
        ("other", pair()[1].clone(), "does not belong to"),
    ];
    for (name, text, reason) in texts {
        says(faults.written(name, &text), name, reason);
    }
    says(faults.good.cert.clone(), "tls.crt", "no private key");
    let printed = format!("{:?}", ServerTls::read(&faults.good).unwrap());
    assert!(
        printed.contains("tls.key") && !printed.contains(secret),
        "{printed}"
    );
}

#[test]
fn faulty_authority_is_named_with_the_reason() {
    let faults = Faults::new();
    for (file, name, reason) in [
        (faults.good.key.clone(), "tls.key", "no certificate"),
        (
            faults.written("garbage", GARBAGE),
            "garbage",
            "cannot be used",
        ),
    ] {
        let client_ca = Some(file);
        let good = faults.good.clone();
        faults.says(&TlsFiles { client_ca, ..good }, name, reason);
    }
}

#[test]
fn client_certificate_without_its_key_is_refused() {
    let (_folder, good) = folder();
    for (cert, key) in [
        (Some(good.cert.clone()), None),
        (None, Some(good.key.clone())),
    ] {
        let files = ClientTlsFiles {
            ca: Some(good.cert.clone()),
            cert,
            key,
        };
        let error = ClientTls::read(&files).unwrap_err().to_string();
        assert!(
            error.contains("both the certificate and its key"),
            "{error}"
        );
    }
}

/// A server's configuration and the watch over its files.
struct Looks {
    rotating: Arc<Rotating<TlsFiles>>,
    watch: Watch<TlsFiles>,
}

impl Looks {
    fn new(files: &TlsFiles) -> Self {
        install_crypto();
        let rotating = Arc::new(Rotating::read(files.clone()).unwrap());
        let watch = Watch::new(rotating.clone());
        Self { rotating, watch }
    }

    /// The outcome of three looks, and whether they changed the configuration.
    fn three(&mut self) -> ([Look; 3], bool) {
        let before = self.rotating.config();
        let looks = [(); 3].map(|()| self.watch.look());
        (looks, !Arc::ptr_eq(&before, &self.rotating.config()))
    }
}

#[test]
fn new_pair_is_used_and_a_half_written_one_is_not_reported() {
    let (_folder, files) = folder();
    let mut looks = Looks::new(&files);
    assert_eq!(looks.three(), ([Look::Same, Look::Same, Look::Same], false));
    let [cert, key] = pair();
    std::fs::write(&files.cert, cert).unwrap();
    assert_eq!(looks.watch.look(), Look::Changing);
    std::fs::write(&files.key, key).unwrap();
    let used = [Look::Changing, Look::Used, Look::Same];
    assert_eq!(looks.three(), (used, true));
}

#[test]
fn faulty_files_are_reported_once_and_the_pair_in_use_stays() {
    let (_folder, files) = folder();
    let mut looks = Looks::new(&files);
    let good = [&files.cert, &files.key].map(|file| read(file));
    let kept = || [Look::Changing, Look::Kept, Look::Same];
    let broken = [
        [pair()[0].clone(), good[1].clone()],
        [good[0].clone(), String::new()],
        ["hello".to_owned(), good[1].clone()],
    ];
    for texts in broken {
        write(&files, &texts);
        assert_eq!(looks.three(), (kept(), false));
    }
    std::fs::remove_file(&files.cert).unwrap();
    assert_eq!(looks.three(), (kept(), false));
    write(&files, &pair());
    assert_eq!(
        looks.three(),
        ([Look::Changing, Look::Used, Look::Same], true)
    );
}
