//! A process that can be killed and started again, or stopped and continued: an Agon role at an address
//! of its own, a Redis or a sentinel. Decides nothing. Called by `stand.rs` and `killer.rs`.

use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

use agon_tests::binary::Role;
use agon_tests::redis::{RedisServer, Sentinel};

/// What a process does at present.
#[derive(Clone, Copy, PartialEq)]
pub enum State {
    /// It runs.
    Up,
    /// It was killed, and is started again then.
    Dead(Instant),
    /// It was stopped, and is continued then.
    Stopped(Instant),
}

/// See the module.
pub struct Process {
    /// For the log.
    pub name: String,
    /// The program.
    pub program: Program,
    /// What was done to it.
    pub state: State,
}

/// What runs.
pub enum Program {
    /// A role of the binary.
    Agon(Agon),
    /// A Redis.
    Redis(RedisServer),
    /// A sentinel.
    Sentinel(Sentinel),
}

impl Process {
    /// One that runs.
    pub fn new(name: &str, program: Program) -> Self {
        Self {
            name: name.to_owned(),
            program,
            state: State::Up,
        }
    }

    /// Kills it; it is to be started again at that time.
    pub fn kill(&mut self, until: Instant) {
        match &mut self.program {
            Program::Agon(agon) => agon.role.kill(),
            Program::Redis(redis) => redis.kill(),
            Program::Sentinel(sentinel) => sentinel.kill(),
        }
        self.state = State::Dead(until);
    }

    /// Stops it where it is; it is to be continued at that time.
    pub fn stop(&mut self, until: Instant) {
        match &mut self.program {
            Program::Agon(agon) => agon.role.signal("-STOP"),
            Program::Redis(redis) => redis.pause(),
            Program::Sentinel(sentinel) => sentinel.pause(),
        }
        self.state = State::Stopped(until);
    }

    /// Starts or continues it.
    pub fn revive(&mut self) {
        match (self.state, &mut self.program) {
            (State::Up, _) => {}
            (State::Dead(_), Program::Agon(agon)) => agon.start(),
            (State::Dead(_), Program::Redis(redis)) => redis.restart(),
            (State::Dead(_), Program::Sentinel(sentinel)) => sentinel.restart(),
            (State::Stopped(_), Program::Agon(agon)) => agon.role.signal("-CONT"),
            (State::Stopped(_), Program::Redis(redis)) => redis.resume(),
            (State::Stopped(_), Program::Sentinel(sentinel)) => sentinel.resume(),
        }
        self.state = State::Up;
    }

    /// Whether it runs, as far as it was not disturbed.
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// Whether an Agon process ended although nobody killed it. It is to be started again at that time,
    /// as whoever runs it in production does.
    pub fn has_ended(&mut self, until: Instant) -> bool {
        let is_up = self.is_up();
        let Program::Agon(agon) = &mut self.program else {
            return false;
        };
        let has_ended = is_up && agon.role.has_ended();
        if has_ended {
            self.state = State::Dead(until);
        }
        has_ended
    }

    /// The Redis.
    ///
    /// # Panics
    /// It is none.
    pub fn redis(&self) -> &RedisServer {
        match &self.program {
            Program::Redis(redis) => redis,
            _ => panic!("{} is no Redis", self.name),
        }
    }
}

/// A role of the binary with all its arguments, whose log goes to the end of a file.
pub struct Agon {
    role: Role,
    arguments: Vec<String>,
    log: PathBuf,
}

impl Agon {
    /// Starts one and waits for nothing.
    pub fn launch(arguments: &[&str], log: PathBuf) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        Self {
            role: launch(&arguments, &log),
            arguments,
            log,
        }
    }

    fn start(&mut self) {
        self.role = launch(&self.arguments, &self.log);
    }
}

fn launch(arguments: &[String], log: &PathBuf) -> Role {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let log = File::options().create(true).append(true).open(log);
    let log = log.expect("a writable folder");
    Role::launch_with(&arguments, |command| command.stderr(log))
}
