//! Reads files of JSON lines, plain or gzipped, from files, folders and standard
//! input, and says of every fault in which file and line it is.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;

use flate2::bufread::MultiGzDecoder;

/// What a file starts with when it is gzipped, whatever its name.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// No line of ours comes near it; a larger one is not JSON lines, or an attack.
const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// Endings that are looked for in folders.
const ENDINGS: [&str; 2] = [".jsonl", ".jsonl.gz"];

/// One line of a file.
pub struct Line {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line's number, from 1.
    pub number: usize,
    /// The text without the line break.
    pub text: String,
}

/// A fault of a file or of a line in it.
#[derive(Debug)]
pub struct LineError {
    file: PathBuf,
    number: Option<usize>,
    reason: String,
}

impl LineError {
    /// A fault of a line.
    pub fn at(line: &Line, reason: String) -> Self {
        Self {
            file: line.file.clone(),
            number: Some(line.number),
            reason,
        }
    }

    /// A fault of a file or folder.
    pub fn of(file: &Path, reason: impl fmt::Display) -> Self {
        Self {
            file: file.to_owned(),
            number: None,
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.file.in_line())?;
        if let Some(number) = self.number {
            write!(formatter, ":{number}")?;
        }
        write!(formatter, ": {}", self.reason)
    }
}

/// The files that a path names: itself, standard input, or those in a folder and
/// below it, in order of name.
pub fn files(path: &Path) -> Vec<Result<PathBuf, LineError>> {
    if !path.is_dir() {
        return vec![Ok(path.to_owned())];
    }
    let mut found = Vec::new();
    let mut faults = Vec::new();
    collect(path, &mut found, &mut faults);
    found.sort();
    if found.is_empty() && faults.is_empty() {
        faults.push(nothing_in(path));
    }
    let found = found.into_iter().map(Ok);
    found.chain(faults.into_iter().map(Err)).collect()
}

/// That there is no file to read in a folder.
pub fn nothing_in(folder: &Path) -> LineError {
    let wanted = ENDINGS.join(" or ");
    LineError::of(folder, format!("no {wanted} file in this folder"))
}

/// Whether files of this name are looked for in folders.
pub fn is_looked_for(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>, faults: &mut Vec<LineError>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return faults.push(LineError::of(folder, error)),
    };
    for entry in entries {
        match entry {
            // Symbolic links to folders are not followed: they may form a circle.
            Ok(entry) if entry.file_type().is_ok_and(|kind| kind.is_dir()) => {
                collect(&entry.path(), found, faults);
            }
            Ok(entry) => {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if is_looked_for(&name) {
                    found.push(entry.path());
                }
            }
            Err(error) => faults.push(LineError::of(folder, error)),
        }
    }
}

/// The lines of a file (`-` is standard input), blank ones left out. After a
/// fault of the file itself nothing more comes.
pub fn read(path: &Path) -> Box<dyn Iterator<Item = Result<Line, LineError>>> {
    match open(path) {
        Ok(reader) => Box::new(Lines {
            file: path.to_owned(),
            reader,
            number: 0,
            ended: false,
        }),
        Err(error) => Box::new(std::iter::once(Err(LineError::of(path, error)))),
    }
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut plain: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(path)?))
    };
    if plain.fill_buf()?.starts_with(&GZIP_MAGIC) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(plain))));
    }
    Ok(plain)
}

struct Lines {
    file: PathBuf,
    reader: Box<dyn BufRead>,
    number: usize,
    ended: bool,
}

impl Iterator for Lines {
    type Item = Result<Line, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            self.number += 1;
            match self.next_text() {
                Ok(None) => self.ended = true,
                Ok(Some(text)) if text.trim().is_empty() => {}
                Ok(Some(text)) => {
                    return Some(Ok(Line {
                        file: self.file.clone(),
                        number: self.number,
                        text,
                    }));
                }
                Err(reason) => {
                    self.ended = true;
                    let file = self.file.clone();
                    return Some(Err(LineError {
                        file,
                        number: Some(self.number),
                        reason,
                    }));
                }
            }
        }
        None
    }
}

impl Lines {
    fn next_text(&mut self) -> Result<Option<String>, String> {
        let mut bytes = Vec::new();
        let mut bounded = self.reader.by_ref().take(LONGEST_LINE);
        let read = bounded
            .read_until(b'\n', &mut bytes)
            .map_err(|error| error.to_string())?;
        if read == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if read as u64 == LONGEST_LINE {
            return Err(format!("the line is longer than {LONGEST_LINE} bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())?;
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn texts(path: &Path) -> Vec<Result<(usize, String), String>> {
        let line = |line: Result<Line, LineError>| {
            line.map(|line| (line.number, line.text))
                .map_err(|error| error.to_string())
        };
        read(path).map(line).collect()
    }

    #[test]
    fn blank_lines_are_left_out_and_numbers_stay_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "one\n\n  \nfour").unwrap();
        assert_eq!(
            texts(&path),
            [Ok((1, "one".to_owned())), Ok((4, "four".to_owned()))]
        );
    }

    #[test]
    fn gzip_is_known_by_its_content_and_a_truncated_one_is_a_fault_with_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        // Random-looking text, so that a cut loses lines rather than just the end mark.
        for number in 0..5000u64 {
            let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            writeln!(encoder, "{noise}").unwrap();
        }
        let whole = encoder.finish().unwrap();
        let path = folder.path().join("no-ending");
        fs::write(&path, &whole).unwrap();
        assert_eq!(texts(&path).len(), 5000);
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let cut = texts(&path);
        let fault = cut.last().unwrap().as_ref().unwrap_err();
        assert!(
            fault.contains(&format!("no-ending:{}: ", cut.len())),
            "{fault}"
        );
    }

    #[test]
    fn a_folder_is_searched_below_and_an_empty_one_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        assert!(files(folder.path())[0].is_err());
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("b.jsonl"), "").unwrap();
        fs::write(folder.path().join("c.jsonl.gz"), "").unwrap();
        fs::write(folder.path().join("readme.md"), "").unwrap();
        let found: Vec<PathBuf> = files(folder.path())
            .into_iter()
            .map(Result::unwrap)
            .collect();
        assert_eq!(
            found,
            [folder.path().join("c.jsonl.gz"), inner.join("b.jsonl")]
        );
    }
}
