//! Recorded games as the tests read them: from `tests/recorded`, or another set of the same
//! form in the folder that `AGON_RECORDED` names. A file that is missing fails the test.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The folder of recorded games.
pub fn folder() -> PathBuf {
    let ours = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/recorded");
    std::env::var_os("AGON_RECORDED").map_or_else(ours, PathBuf::from)
}

/// The lines of a file in it, which is packed.
pub fn lines(file: &str) -> Vec<String> {
    let path = folder().join(file);
    let file =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    let read = GzDecoder::new(file).read_to_string(&mut text);
    read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).collect()
}
