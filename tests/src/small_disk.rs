//! Disks so small that they fill up, for tests of full disks: a tmpfs, mounted by root, or
//! by an ordinary user in a namespace where it passes for root.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use tempfile::TempDir;

use crate::left_out::left_out;

/// Set in the process that passes for root.
const INSIDE: &str = "AGON_TEST_IN_NAMESPACE";

/// A mounted file system of a few megabytes; unmounted when it is dropped.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes up space, until the file that is returned is removed.
    ///
    /// # Panics
    /// There is less space than that.
    pub fn fill(&self, bytes: usize) -> PathBuf {
        let filler = self.path().join("filler");
        fs::write(&filler, vec![0; bytes]).expect("space for the filler");
        filler
    }
}

impl SmallDisk {
    /// Takes up all space that is left, until the file that is returned is removed.
    ///
    /// # Panics
    /// The file cannot be made.
    pub fn fill_up(&self) -> PathBuf {
        let filler = self.path().join("filler");
        let mut file = fs::File::create(&filler).expect("room for a name");
        let chunk = [0; 4096];
        while file.write_all(&chunk).is_ok() {}
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// Runs the body of a test with a disk of this size ("2m"). A user who may not mount one runs
/// the test, named by its path in the binary, once more in a namespace of its own; where that
/// is not allowed either, it is left out.
///
/// # Panics
/// The body does, or the test fails in the namespace.
pub fn with_small_disk(test: &str, size: &str, body: impl FnOnce(&SmallDisk)) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    if mount(size, folder.path()) {
        return body(&SmallDisk { folder });
    }
    if env::var_os(INSIDE).is_some() || !namespaces_are_allowed() {
        return left_out(
            test,
            "needs root, or user namespaces, to mount a small disk",
        );
    }
    let this: PathBuf = env::current_exe().expect("the path of this test");
    let ended = in_namespace()
        .arg(this)
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .expect("unshare was there just before");
    assert!(ended.success(), "{test} failed in its namespace");
}

fn namespaces_are_allowed() -> bool {
    let tried = in_namespace()
        .arg("true")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// A command in which this user passes for root and may mount.
fn in_namespace() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "--"]);
    command
}

fn mount(size: &str, path: &Path) -> bool {
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
        .arg(path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    mounted.is_ok_and(|status| status.success())
}
