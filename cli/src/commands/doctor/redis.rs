//! Checks of the Redis that coordinator and gateway share: that nothing of what they keep there is
//! lost, that it has room, and that its clock, by which leases and limits are counted, is right. It
//! changes nothing but a key that expires at once. Called by `commands/doctor.rs`.

use std::time::Duration;

use agon_coordinator::journal::{Examination, JournalError, Survey, examine};
use agon_service_kit::tasks::with_causes;

use super::findings::Findings;

/// What Agon is tested with; older ones lack commands that its scripts use.
const OLDEST_VERSION: u64 = 7;

/// Clocks of one site agree to some milliseconds.
const CLOCK_WARNS_MS: u64 = 1_000;

/// Half of the shortest time for which a coordinator holds its claim; tokens expire wrongly, too.
const CLOCK_FAILS_MS: u64 = 5_000;

/// Every decision waits for several answers in turn.
const SLOW: Duration = Duration::from_millis(10);

/// Percent of its memory limit, above which there is little time to act.
const MEMORY_WARNS: u64 = 75;

/// Percent of its memory limit, above which writes will soon be refused.
const MEMORY_FAILS: u64 = 90;

/// Checks the Redis at an address.
pub async fn check(url: &str, findings: &mut Findings) {
    match examine(url).await {
        Ok(examined) => {
            judge(&examined.address, &examined.survey, findings);
            older(&examined, findings);
            let by_sentinels = url.contains("+sentinel://");
            replicas(&examined.survey, by_sentinels, findings);
        }
        Err(error) => {
            let advice = match error {
                JournalError::Unreachable { .. } => {
                    "start it, or correct --redis (of a replica, name its master)"
                }
                _ => "correct user, password and files in --redis",
            };
            findings.fail("redis", with_causes(&error), advice);
        }
    }
}

fn judge(address: &str, survey: &Survey, findings: &mut Findings) {
    writes(address, survey, findings);
    version(survey, findings);
    persistence(survey, findings);
    eviction(survey, findings);
    memory(survey, findings);
    clock(survey, findings);
    latency(survey, findings);
    let unknown = withheld(survey);
    if !unknown.is_empty() {
        findings.warn(
            "redis settings",
            format!("this user may not see {}", unknown.join(", ")),
            "grant it +info and +config|get, or look there as another user",
        );
    }
}

fn withheld(survey: &Survey) -> Vec<&'static str> {
    let all = [
        ("its version", survey.version.is_none()),
        ("appendonly", survey.append_only.is_none()),
        ("appendfsync", survey.append_sync.is_none()),
        ("maxmemory-policy", survey.eviction.is_none()),
        ("maxmemory", survey.most_bytes.is_none()),
        ("min-replicas-to-write", survey.least_replicas.is_none()),
        ("its clock", survey.ahead_ms.is_none()),
    ];
    let unknown = all.into_iter().filter(|(_, is_unknown)| *is_unknown);
    unknown.map(|(name, _)| name).collect()
}

fn writes(address: &str, survey: &Survey, findings: &mut Findings) {
    match &survey.refuses_writes {
        None => findings.ok("redis", format!("{address} is a master and takes writes")),
        Some(reason) => findings.fail(
            "redis",
            format!("{address} is a master and takes no writes: {reason}"),
            "free memory or disk, or connect the replicas that it waits for",
        ),
    }
}

fn version(survey: &Survey, findings: &mut Findings) {
    let Some(version) = &survey.version else {
        return;
    };
    let major = version.split('.').next();
    let major: Option<u64> = major.and_then(|major| major.parse().ok());
    match major {
        Some(major) if major >= OLDEST_VERSION => findings.ok("redis version", version),
        _ => findings.fail(
            "redis version",
            version,
            format!("use Redis {OLDEST_VERSION} or newer"),
        ),
    }
}

fn persistence(survey: &Survey, findings: &mut Findings) {
    match survey.append_only {
        Some(false) => findings.fail(
            "redis appendonly",
            "no: a restart loses everything since the last snapshot, paid answers included",
            "set `appendonly yes`",
        ),
        known => {
            if known == Some(true) {
                findings.ok("redis appendonly", "yes");
            }
            append_only_file(survey, findings);
        }
    }
    last_write("redis snapshot", survey.last_snapshot.as_deref(), findings);
}

fn append_only_file(survey: &Survey, findings: &mut Findings) {
    match survey.append_sync.as_deref() {
        Some("no") => findings.warn(
            "redis appendfsync",
            "no: a crash of its machine loses what its system had not written yet, half a minute",
            "set `appendfsync everysec`, or `always`",
        ),
        Some("everysec") => findings.ok(
            "redis appendfsync",
            "everysec: a crash of its machine may lose the last two seconds",
        ),
        Some(sync) => findings.ok("redis appendfsync", sync),
        None => {}
    }
    let last = survey.last_append.as_deref();
    last_write("redis append-only file", last, findings);
}

fn last_write(check: &str, last: Option<&str>, findings: &mut Findings) {
    match last {
        Some("ok") => findings.ok(check, "the last write succeeded"),
        Some(_) => findings.fail(
            check,
            "the last write failed",
            "free space on its disk, and see its log",
        ),
        None => {}
    }
}

fn eviction(survey: &Survey, findings: &mut Findings) {
    match survey.eviction.as_deref() {
        Some("noeviction") => findings.ok("redis maxmemory-policy", "noeviction"),
        Some(policy) => findings.fail(
            "redis maxmemory-policy",
            format!("{policy}: it deletes recorded decisions when memory is short"),
            "set `maxmemory-policy noeviction`",
        ),
        None => {}
    }
}

fn memory(survey: &Survey, findings: &mut Findings) {
    let (Some(most), Some(used)) = (survey.most_bytes, survey.used_bytes) else {
        return;
    };
    let used_mib = used >> 20;
    if most == 0 {
        findings.ok(
            "redis memory",
            format!("{used_mib} MiB used, without a limit"),
        );
        return;
    }
    let percent = used.saturating_mul(100) / most;
    let found = format!("{used_mib} of {} MiB used, {percent} %", most >> 20);
    let advice = "raise maxmemory, or move records out with --archive";
    match percent {
        MEMORY_FAILS.. => findings.fail("redis memory", found, advice),
        MEMORY_WARNS.. => findings.warn("redis memory", found, advice),
        _ => findings.ok("redis memory", found),
    }
}

fn clock(survey: &Survey, findings: &mut Findings) {
    let Some(ahead_ms) = survey.ahead_ms else {
        return;
    };
    let apart_ms = ahead_ms.unsigned_abs();
    let side = match ahead_ms {
        ..0 => "behind",
        _ => "ahead of",
    };
    let found = format!("{apart_ms} ms {side} the clock of this machine");
    let advice = "have both machines follow a time server (NTP)";
    match apart_ms {
        apart if apart > CLOCK_FAILS_MS => findings.fail("redis clock", found, advice),
        apart if apart > CLOCK_WARNS_MS => findings.warn("redis clock", found, advice),
        _ => findings.ok("redis clock", found),
    }
}

fn latency(survey: &Survey, findings: &mut Findings) {
    let found = format!("answers in {:.1} ms", survey.round_trip.as_secs_f64() * 1e3);
    match survey.round_trip > SLOW {
        false => findings.ok("redis latency", found),
        true => findings.warn(
            "redis latency",
            found,
            "run it near the services, or see what keeps it busy (SLOWLOG GET)",
        ),
    }
}

fn replicas(survey: &Survey, by_sentinels: bool, findings: &mut Findings) {
    let connected = survey.replicas.unwrap_or(0);
    if by_sentinels && survey.replicas == Some(0) {
        findings.warn(
            "redis replicas",
            "none is connected, so sentinels have nothing to fail over to",
            "start a replica, or see the log of the one that is away",
        );
    }
    let Some(least) = survey
        .least_replicas
        .filter(|_| by_sentinels || connected > 0)
    else {
        return;
    };
    match least {
        0 => findings.warn(
            "redis min-replicas-to-write",
            "0: a master that is cut off goes on taking writes, which are lost when it comes back",
            "set `min-replicas-to-write 1` and `min-replicas-max-lag 10`",
        ),
        least => findings.ok(
            "redis min-replicas-to-write",
            format!("{least}, with {connected} connected"),
        ),
    }
}

fn older(examined: &Examination, findings: &mut Findings) {
    let (unfinished, finished) = (examined.older_unfinished, examined.older_finished);
    match (unfinished, finished) {
        (0, 0) => findings.ok("redis keys", "none of an older agon"),
        (0, finished) => findings.warn(
            "redis keys",
            format!("experiments of an older agon, finished: {finished}"),
            "fetch their results with that version",
        ),
        (unfinished, _) => findings.fail(
            "redis keys",
            format!("experiments of an older agon, unfinished: {unfinished}"),
            "let that version finish them, or give another number of the database behind the address",
        ),
    }
}

#[cfg(test)]
mod tests;
