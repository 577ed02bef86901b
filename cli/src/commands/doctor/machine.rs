//! Checks of this machine: room on the disks that services write to, how many files they may open, and
//! the certificates of their doors. Writes nothing. Called by `commands/doctor.rs`.

use std::path::Path;
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::open_files;
use agon_service_kit::space::free_bytes;
use agon_service_kit::tasks::with_causes;
use agon_service_kit::tls::{ServerTls, TlsFiles, not_valid_in};

use super::findings::{Findings, SOON};
use crate::storage;

/// Some hours of a busy installation's ledger and records.
const ROOM_WARNS: u64 = 1 << 30;

/// Above the gateway's reserve, below which it stops asking models.
const ROOM_FAILS: u64 = 100 << 20;

/// Each connection is a file; a gateway has one for each call at a provider, too.
const FEWEST_FILES: usize = 4_096;

/// Checks the room on the disk of a folder.
pub fn room(what: &str, folder: &Path, findings: &mut Findings) {
    let name = folder.in_line();
    let free = match free_bytes(folder) {
        Ok(free) => free,
        Err(error) => {
            let found = format!("{name} cannot be used: {error}");
            findings.fail(what, found, "name the folder that the services use");
            return;
        }
    };
    let found = format!("{} MiB free in {name}", free >> 20);
    let advice = "free some space: without it nothing more can be recorded, and no model is asked";
    match free {
        ..ROOM_FAILS => findings.fail(what, found, advice),
        ROOM_FAILS..ROOM_WARNS => findings.warn(what, found, advice),
        ROOM_WARNS.. => findings.ok(what, found),
    }
}

/// Checks where finished records go: a folder, or a bucket.
pub fn archive(place: &str, findings: &mut Findings) {
    let path = Path::new(place);
    if !storage::is_address(path) {
        return room("archive", path, findings);
    }
    match storage::answers(path) {
        Ok(()) => findings.ok("archive", format!("{place} can be read")),
        Err(failure) => findings.fail(
            "archive",
            failure.to_string(),
            "correct --archive, and the variables AWS_* with credentials, region and endpoint",
        ),
    }
}

/// Checks how many files a process that is started like this one may open.
pub fn files(findings: &mut Findings) {
    let limit = open_files::limit();
    let found = format!("a process may have {limit} open");
    match limit < FEWEST_FILES {
        false => findings.ok("open files", found),
        true => findings.warn(
            "open files",
            found,
            format!("raise it: `ulimit -Hn {FEWEST_FILES}`, or LimitNOFILE of the service"),
        ),
    }
}

/// Checks the certificate and key of the doors.
pub fn certificates(files: &TlsFiles, findings: &mut Findings) {
    const CHECK: &str = "certificate";
    if let Err(fault) = ServerTls::read(files) {
        let advice = "correct AGON_TLS_CERT, AGON_TLS_KEY or AGON_TLS_CLIENT_CA, or these files";
        findings.fail(CHECK, with_causes(&fault), advice);
        return;
    }
    let name = files.cert.in_line();
    let advice = "renew it (services take the new one without a restart)";
    let after = |time| not_valid_in(&files.cert, time).unwrap_or_default();
    let days = SOON.as_secs() / (24 * 3_600);
    match (after(Duration::ZERO), after(SOON)) {
        (Some(fault), _) => findings.fail(CHECK, format!("{name}: {fault}"), advice),
        (None, Some(_)) => {
            findings.warn(CHECK, format!("{name} expires within {days} days"), advice);
        }
        (None, None) => findings.ok(CHECK, format!("{name} fits its key")),
    }
}
