//! What PEM files hold: chains of certificates, private keys and authorities. It checks that they
//! can be used together, and never shows what is in a key. Called for servers and for clients.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_outlets::InLine as _;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::{ParsedCertificate, VerifierBuilderError};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error as RustlsError, InconsistentKeys, RootCertStore};
use tracing::warn;

use crate::files::read_whole;

/// A system's whole bundle of authorities is less than half of this.
const MOST_BYTES: u64 = 1 << 20;

/// Why files cannot be used for TLS. With its causes it prints on one line.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// It is not there, may not be read, is no file, or is too long.
    #[error("{file} cannot be read")]
    Read {
        /// Its path.
        file: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// It has a PEM section that is malformed.
    #[error("{file} is not valid PEM: {reason}")]
    Pem {
        /// Its path.
        file: String,
        /// What is wrong, without quoting the file.
        reason: &'static str,
    },
    /// It may be empty, in another format, or a key.
    #[error("{file} holds no certificate in PEM")]
    NoCertificate {
        /// Its path.
        file: String,
    },
    /// It may be empty, in another format, or hold only certificates.
    #[error("{file} holds no private key in PEM (PKCS#8, PKCS#1 or SEC1, not encrypted)")]
    NoKey {
        /// Its path.
        file: String,
    },
    /// What it holds is malformed, or of a kind that is not supported.
    #[error("{file} cannot be used")]
    Unusable {
        /// Its path.
        file: String,
        /// What is wrong with it.
        source: RustlsError,
    },
    /// One of the two is outdated, or the chain starts with another certificate.
    #[error("the key in {key} does not belong to the first certificate in {cert}")]
    Mismatch {
        /// Path of the key.
        key: String,
        /// Path of the certificate.
        cert: String,
    },
    /// A client needs both or neither.
    #[error("{file} alone is no client certificate: both the certificate and its key are needed")]
    Half {
        /// Path of the one that was named.
        file: String,
    },
    /// Client certificates cannot be checked against these authorities.
    #[error("{file} cannot be used for client certificates")]
    ClientAuthorities {
        /// Its path.
        file: String,
        /// What is wrong with it.
        source: VerifierBuilderError,
    },
    /// There are none, or they cannot be read.
    #[error("no certificate authorities of the system can be used")]
    System(#[source] RustlsError),
}

/// A file as it was read. It may be a key, so it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct PemFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl PemFile {
    pub(super) fn read(path: &Path) -> Result<Self, TlsError> {
        let bytes = read_whole(path, MOST_BYTES).map_err(|source| TlsError::Read {
            file: path.in_line().to_string(),
            source,
        })?;
        let path = path.to_owned();
        Ok(Self { path, bytes })
    }

    pub(super) fn read_if_named(path: Option<&Path>) -> Result<Option<Self>, TlsError> {
        path.map(Self::read).transpose()
    }

    /// Its path, for errors.
    pub(super) fn file(&self) -> String {
        self.path.in_line().to_string()
    }

    /// Certificates whose signatures are trusted.
    pub(super) fn authorities(&self) -> Result<RootCertStore, TlsError> {
        let mut authorities = RootCertStore::empty();
        for certificate in self.certificates()? {
            let added = authorities.add(certificate);
            added.map_err(|source| self.unusable(source))?;
        }
        Ok(authorities)
    }

    /// When its first certificate ends, in seconds since 1970.
    pub(super) fn end(&self) -> Option<u64> {
        end_of(self.certificates().ok()?.first()?)
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let found: Vec<_> = CertificateDer::pem_slice_iter(&self.bytes)
            .collect::<Result<_, _>>()
            .map_err(|fault| self.malformed(&fault))?;
        if found.is_empty() {
            return Err(TlsError::NoCertificate { file: self.file() });
        }
        Ok(found)
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        PrivateKeyDer::from_pem_slice(&self.bytes).map_err(|fault| match fault {
            PemError::NoItemsFound => TlsError::NoKey { file: self.file() },
            other => self.malformed(&other),
        })
    }

    fn malformed(&self, fault: &PemError) -> TlsError {
        // The error's own words quote the file, which may be a key.
        let reason = match fault {
            PemError::MissingSectionEnd { .. } => "a section has no end",
            PemError::IllegalSectionStart { .. } => "a section begins with a malformed line",
            PemError::Base64Decode(_) => "a section is not Base64; a key must not be encrypted",
            _ => "a section cannot be read",
        };
        let file = self.file();
        TlsError::Pem { file, reason }
    }

    fn unusable(&self, source: RustlsError) -> TlsError {
        let file = self.file();
        TlsError::Unusable { file, source }
    }
}

/// A chain with the key of its first certificate. Warns when that is not valid today.
pub(super) fn certified(
    provider: &CryptoProvider,
    cert: &PemFile,
    key: &PemFile,
) -> Result<Arc<CertifiedKey>, TlsError> {
    let chain = cert.certificates()?;
    let signing = provider.key_provider.load_private_key(key.key()?);
    let signing = signing.map_err(|source| key.unusable(source))?;
    let certified = CertifiedKey::new(chain, signing);
    match certified.keys_match() {
        // Where the public half cannot be derived, the first handshake shows a mismatch.
        Ok(()) | Err(RustlsError::InconsistentKeys(InconsistentKeys::Unknown)) => {}
        Err(RustlsError::InconsistentKeys(_)) => {
            let (key, cert) = (key.file(), cert.file());
            return Err(TlsError::Mismatch { key, cert });
        }
        Err(source) => return Err(cert.unusable(source)),
    }
    if let Some(fault) = untimely(provider, &certified.cert[0], UnixTime::now()) {
        let file = cert.file();
        warn!(file, %fault, "a certificate is used that is not valid today");
    }
    Ok(Arc::new(certified))
}

/// Why the first certificate of a file is not valid after a time from now, if it is not.
///
/// # Errors
/// The file cannot be read, or holds no certificate.
pub fn not_valid_in(cert: &Path, from_now: Duration) -> Result<Option<String>, TlsError> {
    let chain = PemFile::read(cert)?.certificates()?;
    let at = SystemTime::now() + from_now;
    let at = UnixTime::since_unix_epoch(at.duration_since(UNIX_EPOCH).unwrap_or_default());
    let provider = rustls::crypto::ring::default_provider();
    Ok(untimely(&provider, &chain[0], at).map(|fault| fault.to_string()))
}

/// When a certificate ends, in seconds since 1970. Said by the refusal at the end of time.
fn end_of(certificate: &CertificateDer<'_>) -> Option<u64> {
    let provider = rustls::crypto::ring::default_provider();
    let end_of_time = UnixTime::since_unix_epoch(Duration::from_secs(u64::MAX));
    match untimely(&provider, certificate, end_of_time)? {
        RustlsError::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. }) => {
            Some(not_after.as_secs())
        }
        _ => None,
    }
}

/// Why a certificate is not valid at a time, if it is not. Rustls does not expose the period of
/// validity, but checks it before it looks for an issuer, and here there is none to find.
fn untimely(
    provider: &CryptoProvider,
    certificate: &CertificateDer<'_>,
    at: UnixTime,
) -> Option<RustlsError> {
    let certificate = ParsedCertificate::try_from(certificate).ok()?;
    let fault = verify_server_cert_signed_by_trust_anchor(
        &certificate,
        &RootCertStore::empty(),
        &[],
        at,
        provider.signature_verification_algorithms.all,
    )
    .err()?;
    let of_time = matches!(
        fault,
        RustlsError::InvalidCertificate(
            CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. }
        )
    );
    of_time.then_some(fault)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    #[test]
    fn certificate_that_is_not_valid_today_is_noticed() {
        let key = KeyPair::generate().unwrap();
        let provider = rustls::crypto::ring::default_provider();
        let fault = |from: i32, to: i32| {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_before = date_time_ymd(from, 1, 1);
            params.not_after = date_time_ymd(to, 1, 1);
            let certificate = params.self_signed(&key).unwrap();
            untimely(&provider, certificate.der(), UnixTime::now()).map(|fault| fault.to_string())
        };
        assert_eq!(fault(2000, 4000), None);
        let expired = fault(2000, 2001).unwrap();
        assert!(expired.contains("certificate expired"), "{expired}");
        let early = fault(3000, 4000).unwrap();
        assert!(early.contains("not valid yet"), "{early}");
    }

    #[test]
    fn end_of_a_certificate_is_known_to_the_second() {
        let key = KeyPair::generate().unwrap();
        for year in [2001, 2030, 4000] {
            let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
            params.not_after = date_time_ymd(year, 1, 1);
            let certificate = params.self_signed(&key).unwrap();
            let expected = u64::try_from(date_time_ymd(year, 1, 1).unix_timestamp()).unwrap();
            assert_eq!(end_of(certificate.der()), Some(expected), "{year}");
        }
    }
}
