//! Real processes of the `agon` binary: commands that end, and roles that run
//! until they are stopped or killed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crate::tree;

/// The name under which results know the model servers of tests, which listen on any port:
/// what one would answer, each would.
pub const MODEL_SERVERS: &str = "test";

/// The binary that `cargo build` made for the same profile as this test.
///
/// # Panics
/// It has not been built.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let profile = test
        .ancestors()
        .nth(2)
        .expect("target/<profile>/deps/<test>");
    let binary = profile.join("agon");
    assert!(
        binary.is_file(),
        "{} is missing: run `cargo build` first",
        binary.display()
    );
    binary
}

/// A command that runs in the project's folder, free of the caller's settings.
pub fn command(arguments: &[&str]) -> Command {
    command_of(path(), arguments)
}

/// The same, of a later version of the program in these respects (`rules`, `record`, `prompts`); of
/// the program itself when none is named.
pub fn command_of_version(raised: &str, arguments: &[&str]) -> Command {
    if raised.is_empty() {
        return command(arguments);
    }
    let mut command = command_of(path().with_file_name("agon-next"), arguments);
    command.env("AGON_NEXT", raised);
    command
}

fn command_of(program: PathBuf, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars() {
        if name.starts_with("AGON_") {
            command.env_remove(name);
        }
    }
    command.args(arguments);
    if arguments.contains(&"--base-url") && !arguments.contains(&"--endpoint") {
        command.args(["--endpoint", MODEL_SERVERS]);
    }
    command.current_dir(tree::root()).stdin(Stdio::null());
    command
}

/// A line of the shell with this as `$0`, in the project's folder and free of the caller's settings:
/// for what a process is born with.
pub fn command_in_shell(line: &str, zero: &str) -> Command {
    command_of(PathBuf::from("sh"), &["-c", line, zero])
}

/// Runs a command to its end.
pub fn run(arguments: &[&str]) -> Ended {
    let output = command(arguments).output().expect("the binary starts");
    Ended::from(output)
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; absent when a signal ended it.
    pub code: Option<i32>,
    /// Everything on standard output.
    pub out: String,
    /// Everything on standard error.
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ended {
    /// The same, when the exit code is the one expected.
    ///
    /// # Panics
    /// It is not; shows everything that was printed.
    #[must_use]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "out: {}\nerr: {}",
            self.out,
            self.err
        );
        self
    }
}

/// A role that runs until it is stopped. Killed when dropped.
pub struct Role {
    child: Child,
    out: BufReader<ChildStdout>,
    name: String,
    /// Gone with the role.
    _alive: Sender<()>,
}

/// A role that a test waits for in vain is killed after this time, so that the test fails and does not
/// hang.
const LONGEST: Duration = Duration::from_secs(15 * 60);

impl Role {
    /// Starts `agon ROLE ...` and returns when it has printed its first line.
    ///
    /// # Panics
    /// It ended without printing one.
    pub fn start(arguments: &[&str]) -> (Self, String) {
        Self::start_with(arguments, |command| command)
    }

    /// The same, with a chance to set environment variables.
    ///
    /// # Panics
    /// It ended without printing a line.
    pub fn start_with(
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> (Self, String) {
        let mut role = Self::launch_with(arguments, prepare);
        let first = role.line();
        assert!(!first.is_empty(), "`agon {}` ended at once", role.name);
        (role, first)
    }

    /// Starts a command that may print nothing for a long time; what it prints is
    /// kept for [`Role::end`].
    ///
    /// # Panics
    /// It does not start.
    pub fn start_silent(arguments: &[&str]) -> Self {
        Self::launch_with(arguments, |command| command.stderr(Stdio::piped()))
    }

    /// Starts a role and waits for nothing, not even its first line.
    ///
    /// # Panics
    /// It does not start.
    pub fn launch_with(
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Self {
        let mut command = command(arguments);
        prepare(&mut command);
        Self::of(command, &arguments.join(" "))
    }

    /// Starts a role of this command and waits for nothing; `name` is for messages.
    ///
    /// # Panics
    /// It does not start.
    pub fn of(mut command: Command, name: &str) -> Self {
        command.stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (alive, gone) = mpsc::channel();
        let id = child.id().to_string();
        thread::spawn(move || {
            if gone.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").args(["-KILL", &id]).status();
            }
        });
        Self {
            child,
            out,
            name: name.to_owned(),
            _alive: alive,
        }
    }

    /// Waits for the end of a command started by [`Role::start_silent`]: its exit
    /// code and what it printed on standard error.
    ///
    /// # Panics
    /// A pipe broke.
    pub fn end(&mut self) -> (Option<i32>, String) {
        let mut err = String::new();
        if let Some(pipe) = &mut self.child.stderr {
            pipe.read_to_string(&mut err).expect("a readable pipe");
        }
        (self.child.wait().expect("its end").code(), err)
    }

    /// Starts a role that announces `listening on ADDRESS`, and returns the address.
    ///
    /// # Panics
    /// It announces something else.
    pub fn listening(arguments: &[&str]) -> (Self, String) {
        Self::listening_with(arguments, |command| command)
    }

    /// The same, with a chance to change the command.
    ///
    /// # Panics
    /// It announces something else.
    pub fn listening_with(
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> (Self, String) {
        let (role, first) = Self::start_with(arguments, prepare);
        let address = first
            .trim()
            .rsplit("listening on ")
            .next()
            .unwrap_or_default()
            .to_owned();
        assert!(address.contains(':'), "`agon {}` said {first}", role.name);
        (role, address)
    }

    /// The next line of its standard output; empty at its end.
    ///
    /// # Panics
    /// The pipe broke.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("a readable pipe");
        line
    }

    /// Types a line on its standard input, which must be a pipe.
    ///
    /// # Panics
    /// It is none, or the process has ended.
    pub fn say(&mut self, line: &str) {
        let pipe = self.child.stdin.as_mut().expect("a pipe");
        writeln!(pipe, "{line}").expect("a process that reads");
    }

    /// Its next line with these words; everything before it is passed over.
    ///
    /// # Panics
    /// It ends without one.
    pub fn line_with(&mut self, words: &str) -> String {
        loop {
            let line = self.line();
            if line.contains(words) {
                return line;
            }
            if line.is_empty() {
                let (code, err) = self.end();
                panic!("`agon {}` never said {words}; {code:?}: {err}", self.name);
            }
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended by itself.
    ///
    /// # Panics
    /// The system refuses to say.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Kills it with SIGKILL and waits for its end.
    ///
    /// # Panics
    /// The system refuses.
    pub fn kill(&mut self) {
        self.child.kill().expect("a running process");
        self.child.wait().expect("its end");
    }

    /// Sends SIGTERM and waits for its end; returns its exit status and the rest
    /// of its standard output.
    ///
    /// # Panics
    /// The system refuses.
    pub fn terminate(&mut self) -> (ExitStatus, String) {
        self.signal("-TERM");
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("a readable pipe");
        (self.child.wait().expect("its end"), rest)
    }

    /// Sends a signal by name ("-INT").
    ///
    /// # Panics
    /// There is no `kill` command.
    pub fn signal(&self, signal: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill")
            .args([signal, &id])
            .status()
            .expect("a kill command");
        assert!(sent.success(), "cannot signal `agon {}`", self.name);
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// The system refuses.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("its end")
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
