//! What a command of the binary costs as a process: time, and the most memory it had. For benchmarks,
//! which print it.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::binary::command;

/// How often the memory of a command is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What a command cost.
pub struct Measured {
    /// Seconds on the wall.
    pub seconds: f64,
    /// The most memory that it had, in KiB.
    pub kib: u64,
    /// Its exit code; absent when it was stopped.
    pub code: Option<i32>,
}

/// Runs a command, stopped after so long.
///
/// # Panics
/// The binary does not start.
pub fn measured(arguments: &[&str], patience: Duration) -> Measured {
    let begun = Instant::now();
    let mut child = command(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut kib = 0;
    loop {
        kib = kib.max(peak_kib(&child));
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return Measured {
                seconds: begun.elapsed().as_secs_f64(),
                kib,
                code: status.code(),
            };
        }
        if begun.elapsed() > patience {
            child.kill().expect("it can be stopped");
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The most memory that a process has had so far.
fn peak_kib(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}
