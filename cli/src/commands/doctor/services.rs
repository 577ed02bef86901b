//! What coordinators and gateways have in common for whoever checks them: whether one is reached and
//! serves, why not, and what its refusal of a call means. Used by the checks of both.

use std::error::Error;
use std::io;
use std::time::Duration;

use agon_service_kit::server::health;
use agon_service_kit::status::ErrorClass;
use rustls::Error as RustlsError;
use tonic::{Code, Response, Status};

use super::findings::Findings;
use crate::connecting::{channel_to, shows_a_token};
use crate::failure::Failure;
use crate::results::reason;

/// A service inside a cluster answers within milliseconds; one that hangs is not waited for.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// A service that is not reached.
pub struct Unreached {
    /// The reason.
    pub why: String,
    /// What to do.
    pub advice: &'static str,
}

/// Whether the service at an address says that it serves.
///
/// # Errors
/// It is no address.
pub async fn reach(url: &str) -> Result<Result<bool, Unreached>, Failure> {
    let answered = within(health(channel_to(url)?)).await;
    Ok(answered.map_err(|status| Unreached {
        why: reason(&status),
        advice: advice(&status),
    }))
}

/// The answer to a call, or that there was none in time.
pub async fn ask<T>(call: impl Future<Output = Result<Response<T>, Status>>) -> Result<T, Status> {
    within(async { call.await.map(Response::into_inner) }).await
}

async fn within<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let answered = tokio::time::timeout(ANSWERS_WITHIN, call).await;
    let seconds = ANSWERS_WITHIN.as_secs();
    answered.unwrap_or_else(|_| {
        Err(Status::deadline_exceeded(format!(
            "no answer in {seconds} s"
        )))
    })
}

fn advice(status: &Status) -> &'static str {
    match tls_fault(status) {
        Some(RustlsError::InvalidCertificate(_)) => {
            "name the CA of its certificate with --ca, and call it by a name in its certificate"
        }
        Some(RustlsError::AlertReceived(_)) => {
            "it wants a certificate of its CA: name yours with --client-cert and --client-key"
        }
        Some(_) => "write http:// if it serves no TLS",
        None => "start it, or correct the address (https:// if it serves TLS)",
    }
}

fn tls_fault(status: &Status) -> Option<&RustlsError> {
    let mut cause = status.source();
    while let Some(error) = cause {
        // What an error of input and output wraps is not among its causes.
        let wrapped = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        let wrapped = wrapped.and_then(|inner| inner.downcast_ref());
        if let Some(fault) = error.downcast_ref().or(wrapped) {
            return Some(fault);
        }
        cause = error.source();
    }
    None
}

/// Says what a service that lets in whoever comes means, where this process was given a token: it knows
/// of none. A fault where the store of an installation is named, whose services share their tokens.
pub fn open_to_all(check: &str, is_installation: bool, findings: &mut Findings) {
    let found = "the door lets in whoever comes, with a token or without one: it knows of none";
    let advice = "if it belongs to those who know the token shown here, start it with their --redis, \
                  --data or --identity";
    match is_installation {
        true => findings.fail(check, found, advice),
        false => findings.warn(check, found, advice),
    }
}

/// Says what becomes of this process's token at a service.
pub fn accepted(check: &str, detail: &str, findings: &mut Findings) {
    let found = match shows_a_token() {
        true => format!("accepted{detail}"),
        false => format!("none is shown, and none is needed here{detail}"),
    };
    findings.ok(check, found);
}

/// Says what the refusal of a call means.
pub fn refused(check: &str, refusal: &Status, findings: &mut Findings) {
    let said = reason(refusal);
    match (ErrorClass::of(refusal), refusal.code()) {
        (ErrorClass::Unauthenticated, _) => findings.fail(
            check,
            format!("refused: {said}"),
            "`agon token create` makes one: set it as AGON_TOKEN or name its file with --token-file",
        ),
        (ErrorClass::Forbidden, Code::PermissionDenied) => findings.warn(
            check,
            format!("known, but {said}"),
            "use a token with the scope read or admin to see more here",
        ),
        _ => findings.fail(check, said, "see its log, and its store"),
    }
}
