//! What a command of the binary costs as a process, and what Linux says of a process: time and memory.
//! For benchmarks, which print it.

use std::fs;
use std::process::Stdio;
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
        kib = kib.max(memory_kib(Process::Id(child.id()), Memory::Peak));
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

/// What Linux says of the memory of a process, in KiB; 0 where it says nothing.
pub fn memory_kib(process: Process, which: Memory) -> u64 {
    let status = process.file("status").unwrap_or_default();
    let name = match which {
        Memory::Now => "VmRSS:",
        Memory::Peak => "VmHWM:",
    };
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// What a process has taken of the processor, all its threads together; none where nothing is said.
pub fn processor_time(process: Process) -> Option<Duration> {
    times(process, 11)
}

/// What those of our commands have taken that have ended and were waited for.
pub fn processor_time_of_commands() -> Option<Duration> {
    times(Process::This, 13)
}

/// User and system time, so many fields behind the name of the program, which may hold blanks.
fn times(process: Process, from: usize) -> Option<Duration> {
    const TICKS_PER_SECOND: u32 = 100;
    let stat = process.file("stat")?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let times: Vec<&str> = fields.split(' ').skip(from).take(2).collect();
    let ticks = |time: &str| time.parse().map(Duration::from_secs);
    let (user, system) = (times.first()?, times.get(1)?);
    Some((ticks(user).ok()? + ticks(system).ok()?) / TICKS_PER_SECOND)
}

/// A process that is looked at.
#[derive(Debug, Clone, Copy)]
pub enum Process {
    /// The one that looks.
    This,
    /// Another, by its id.
    Id(u32),
}

/// Which memory.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// What it holds now.
    Now,
    /// The most that it has held.
    Peak,
}

impl Process {
    /// What Linux has under a name in `/proc`.
    fn file(self, name: &str) -> Option<String> {
        let path = match self {
            Self::This => format!("/proc/self/{name}"),
            Self::Id(id) => format!("/proc/{id}/{name}"),
        };
        fs::read_to_string(path).ok()
    }
}
