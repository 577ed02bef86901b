//! Reads files of JSON lines, plain or gzipped, from files, folders and standard
//! input, and says of every fault in which file and line it is.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use agon_engine::extent::{Extent, RECORD};
use agon_outlets::InLine as _;
use flate2::bufread::GzDecoder;

use crate::storage;

/// What a file starts with when it is gzipped, whatever its name.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What a compressed file may unpack to, besides [`MOST_RATIO`]: a longer one is read in seconds no
/// more, and can be unpacked by whoever means it.
const MOST_UNPACKED: u64 = 1024 * 1024 * 1024;

/// How many times its size a compressed file may unpack to. Records come to about ten.
const MOST_RATIO: u64 = 100;

/// Compressed parts of a file, one after the other: appending makes a few of them, and a segment of a
/// coordinator's archive has one for each session, of which 8 MiB hold some ten thousand.
const MOST_MEMBERS: usize = 100_000;

/// A file that is this small may unpack to this much in any case.
const LEAST_UNPACKED: u64 = 16 * 1024 * 1024;

/// Unreadable lines of a file after which it is not read on: it is none of ours.
pub const MOST_UNREADABLE: usize = 100;

/// A line of so many bytes is a long one.
const LONG: u64 = 1024 * 1024;

/// What is read of a file at once.
const BUFFER: usize = 64 * 1024;

/// Endings that are looked for in folders.
const ENDINGS: [&str; 2] = [".jsonl", ".jsonl.gz"];

/// One line of a file.
pub struct Line {
    /// The file, as it was named.
    pub file: PathBuf,
    /// The line's number, from 1.
    pub number: usize,
    /// Where it begins, in bytes of what the file holds once it is unpacked.
    pub offset: u64,
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

    /// The same place, with what an error says.
    pub fn because(self, error: impl fmt::Display) -> Self {
        Self {
            reason: error.to_string(),
            ..self
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
        write!(formatter, ": {}", self.reason.in_line())
    }
}

/// The files that a path names: itself, standard input, or those in a folder and
/// below it, in order of name.
pub fn files(path: &Path) -> Vec<Result<PathBuf, LineError>> {
    files_that(path, &is_looked_for)
}

/// As [`files`], of names that fit.
pub fn files_that(path: &Path, fits: &dyn Fn(&str) -> bool) -> Vec<Result<PathBuf, LineError>> {
    if !path.is_dir() {
        return vec![Ok(path.to_owned())];
    }
    let mut found = Vec::new();
    let mut faults = Vec::new();
    collect(path, fits, &mut found, &mut faults);
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

fn collect(
    folder: &Path,
    fits: &dyn Fn(&str) -> bool,
    found: &mut Vec<PathBuf>,
    faults: &mut Vec<LineError>,
) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return faults.push(LineError::of(folder, error)),
    };
    for entry in entries {
        match entry {
            // Symbolic links to folders are not followed: they may form a circle.
            Ok(entry) if entry.file_type().is_ok_and(|kind| kind.is_dir()) => {
                collect(&entry.path(), fits, found, faults);
            }
            Ok(entry) => {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if fits(&name) {
                    match regular(entry.path()) {
                        Ok(file) => found.push(file),
                        Err(fault) => faults.push(fault),
                    }
                }
            }
            Err(error) => faults.push(LineError::of(folder, error)),
        }
    }
}

/// A file that was found in a folder, if it is one: nobody writes into a pipe that lies there.
///
/// # Errors
/// It is a pipe, a device or a socket, or leads nowhere.
pub fn regular(path: PathBuf) -> Result<PathBuf, LineError> {
    match fs::metadata(&path) {
        Ok(found) if found.is_file() => Ok(path),
        Ok(_) => Err(LineError::of(&path, "not a regular file; left out")),
        Err(error) => Err(LineError::of(&path, error)),
    }
}

/// The lines of a file (`-` is standard input), blank ones left out. After a
/// fault of the file itself nothing more comes.
pub fn read(path: &Path) -> Box<dyn Iterator<Item = Result<Line, LineError>> + Send> {
    match open(path) {
        Ok((reader, size)) => Box::new(Lines {
            file: path.to_owned(),
            reader,
            size,
            number: 0,
            at: 0,
            ended: false,
        }),
        Err(error) => Box::new(std::iter::once(Err(LineError::of(path, error)))),
    }
}

/// The line that begins at this place of a file. A file that is packed, or in a bucket, is read up to
/// there.
///
/// # Errors
/// It cannot be read, or no line begins there.
pub fn at(path: &Path, offset: u64) -> Result<Line, LineError> {
    let open_at = || {
        let (mut reader, size) = open(path)?;
        let mut before = reader.by_ref().take(offset);
        io::copy(&mut before, &mut io::sink())?;
        Ok((reader, size))
    };
    let opened = match is_plain(path) {
        Ok(true) => File::open(path).and_then(|mut file| {
            let size = file.metadata()?.len();
            file.seek(SeekFrom::Start(offset))?;
            let reader = BufReader::with_capacity(BUFFER, file);
            Ok((Box::new(reader) as Box<dyn BufRead + Send>, size))
        }),
        Ok(false) => open_at(),
        Err(error) => Err(error),
    };
    let (reader, size) = opened.map_err(|error| LineError::of(path, error))?;
    let mut lines = Lines {
        file: path.to_owned(),
        reader,
        size,
        number: 0,
        at: offset,
        ended: false,
    };
    match lines.next() {
        Some(line) => line,
        None => Err(LineError::of(path, "a record that was there is gone")),
    }
}

/// Whether a file that lies here is packed; one that cannot be read is not.
pub fn is_packed(path: &Path) -> bool {
    !storage::is_address(path) && path.is_file() && is_plain(path).is_ok_and(|plain| !plain)
}

/// Whether a file lies here and is not packed.
fn is_plain(path: &Path) -> io::Result<bool> {
    if storage::is_address(path) {
        return Ok(false);
    }
    let mut begin = Vec::new();
    File::open(path)?
        .take(GZIP_MAGIC.len() as u64)
        .read_to_end(&mut begin)?;
    Ok(begin != GZIP_MAGIC)
}

/// The text of a file that is one JSON document, within the bounds of a line.
///
/// # Errors
/// It cannot be read, is no text or larger than any record.
pub fn whole(path: &Path) -> Result<String, LineError> {
    let fault = |reason: String| LineError::of(path, reason);
    let (reader, _) = open(path).map_err(|error| fault(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = reader.take(RECORD.bytes + 1).read_to_end(&mut bytes);
    read.map_err(|error| fault(error.to_string()))?;
    if bytes.len() as u64 > RECORD.bytes {
        let most = RECORD.bytes;
        return Err(fault(format!("the file is longer than {most} bytes")));
    }
    text(bytes).map_err(|why| fault(format!("the file {why}")))
}

/// Bytes as text, if they hold no more than a record may.
fn text(bytes: Vec<u8>) -> Result<String, String> {
    let within = Extent::check_json(&bytes, &RECORD);
    within.map_err(|error| format!("is no record of a game: {error}"))?;
    String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())
}

/// A file, and how many bytes it holds at most once it is unpacked.
fn open(path: &Path) -> io::Result<(Box<dyn BufRead + Send>, u64)> {
    // Of standard input nobody knows how much there will be.
    let (mut plain, size): (Box<dyn BufRead + Send>, _) = if path == Path::new("-") {
        (Box::new(BufReader::new(io::stdin())), u64::MAX)
    } else if storage::is_address(path) {
        let (object, size) = storage::reader(path)?;
        (Box::new(BufReader::new(object)), size)
    } else {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        // A pipe says nothing of what will come.
        let size = if size == 0 { u64::MAX } else { size };
        (Box::new(BufReader::with_capacity(BUFFER, file)), size)
    };
    if plain.fill_buf()?.starts_with(&GZIP_MAGIC) {
        let most = size.saturating_mul(MOST_RATIO).max(LEAST_UNPACKED);
        let unpacked = Unpacked {
            decoder: Some(GzDecoder::new(plain)),
            members: 1,
            most: most.min(MOST_UNPACKED),
            left: most.min(MOST_UNPACKED),
        };
        return Ok((Box::new(BufReader::new(unpacked)), u64::MAX));
    }
    Ok((plain, size))
}

/// What a compressed file holds, as far as it may be unpacked.
struct Unpacked<R> {
    decoder: Option<GzDecoder<R>>,
    members: usize,
    most: u64,
    left: u64,
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(decoder) = &mut self.decoder else {
                return Ok(0);
            };
            let read = decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                self.left = self
                    .left
                    .checked_sub(read as u64)
                    .ok_or_else(|| too_much(self.most))?;
                return Ok(read);
            }
            // A member has ended; another may follow.
            let Some(mut rest) = self.decoder.take().map(GzDecoder::into_inner) else {
                return Ok(0);
            };
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.members += 1;
            if self.members > MOST_MEMBERS {
                let message = format!(
                    "the file has more than {MOST_MEMBERS} compressed parts; unpack it with gunzip"
                );
                return Err(io::Error::other(message));
            }
            self.decoder = Some(GzDecoder::new(rest));
        }
    }
}

fn too_much(most: u64) -> io::Error {
    io::Error::other(format!(
        "the file unpacks to more than {most} bytes, {MOST_RATIO} times its size or a gigabyte; if \
         that is meant, unpack it with gunzip and name what comes out"
    ))
}

struct Lines {
    file: PathBuf,
    reader: Box<dyn BufRead + Send>,
    /// Bytes that there are at most.
    size: u64,
    number: usize,
    /// Bytes that were read so far.
    at: u64,
    ended: bool,
}

impl Iterator for Lines {
    type Item = Result<Line, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            self.number += 1;
            let passed = self.pass_empty();
            let offset = self.at;
            match passed.and_then(|()| self.next_text()) {
                Ok(None) => self.ended = true,
                Ok(Some(text)) if text.trim().is_empty() => {}
                Ok(Some(text)) => {
                    return Some(Ok(Line {
                        file: self.file.clone(),
                        number: self.number,
                        offset,
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
    /// Passes over empty lines, of which there may be a billion.
    fn pass_empty(&mut self) -> Result<(), String> {
        loop {
            let buffer = self.reader.fill_buf().map_err(|error| error.to_string())?;
            let available = buffer.len();
            let empty = buffer.iter().take_while(|byte| **byte == b'\n').count();
            self.reader.consume(empty);
            self.number += empty;
            self.at += empty as u64;
            if empty == 0 || empty < available {
                return Ok(());
            }
        }
    }

    fn next_text(&mut self) -> Result<Option<String>, String> {
        let mut bytes = Vec::new();
        let mut read = 0;
        // One more, for the line break.
        for most in [LONG, RECORD.bytes + 1] {
            let mut bounded = self.reader.by_ref().take(most - read as u64);
            let more = bounded.read_until(b'\n', &mut bytes);
            read += more.map_err(|error| error.to_string())?;
            if (read as u64) < most || bytes.last() == Some(&b'\n') {
                break;
            }
            // Memory that is never touched costs nothing, and a line that is moved as it grows as much
            // as reading it.
            let left = self.size.saturating_sub(self.at).min(RECORD.bytes + 1);
            bytes.reserve_exact(left.saturating_sub(LONG) as usize);
        }
        self.at += read as u64;
        if read == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if read as u64 > RECORD.bytes {
            let most = RECORD.bytes;
            return Err(format!(
                "the line is longer than {most} bytes, and no record of a game is"
            ));
        }
        text(bytes)
            .map(Some)
            .map_err(|why| format!("the line {why}"))
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
    fn reasons_that_quote_a_record_stay_in_one_line() {
        let fault = LineError::of(
            Path::new("a\nb.jsonl"),
            "no strategy \"x\n1 of 1 records verified\u{9b}2J\"",
        );
        assert_eq!(
            fault.to_string(),
            "a\\nb.jsonl: no strategy \"x\\n1 of 1 records verified\\u{9b}2J\""
        );
    }

    #[test]
    fn line_is_found_again_by_where_it_begins_packed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"\n{\"a\":1}\n\n\n{\"b\":2}\n{\"c\":3}";
        let (plain, packed) = (
            folder.path().join("a.jsonl"),
            folder.path().join("a.jsonl.gz"),
        );
        fs::write(&plain, text).unwrap();
        let mut encoder = GzEncoder::new(File::create(&packed).unwrap(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap();
        for path in [&plain, &packed] {
            let read: Vec<Line> = read(path).map(Result::unwrap).collect();
            assert_eq!(read.len(), 3);
            for line in read {
                assert_eq!(at(path, line.offset).unwrap().text, line.text);
            }
            assert!(at(path, 1_000).is_err());
        }
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

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_parts_are_read_one_after_the_other_and_bombs_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.gz");
        fs::write(&path, [packed(b"1\n2\n"), packed(b"3\n")].concat()).unwrap();
        assert_eq!(texts(&path).len(), 3);
        let line = [b"[".as_slice(), &vec![b' '; 1024], b"]\n"].concat();
        for (bomb, said) in [
            (packed(&line.repeat(40_000)), "unpacks to more than"),
            (packed(&vec![b'0'; 40 << 20]), "unpacks to more than"),
            (
                packed(b"").repeat(200_000),
                "more than 100000 compressed parts",
            ),
        ] {
            fs::write(&path, bomb).unwrap();
            let fault = texts(&path).pop().unwrap().unwrap_err();
            assert!(fault.contains(said), "{fault}");
            assert!(fault.contains("gunzip"), "{fault}");
        }
        let plain = folder.path().join("a.jsonl");
        let longest = "x".repeat(RECORD.bytes as usize);
        fs::write(&plain, &longest).unwrap();
        assert_eq!(texts(&plain).pop().unwrap().unwrap().1.len(), longest.len());
        for (line, said) in [
            (format!("{longest}x"), "longer than 104857600 bytes"),
            (
                format!("[{}]", "1,".repeat(3_000_000)),
                "3000001 values, and 2000000 are the most",
            ),
            (
                format!("[{}]", "{},".repeat(400_000)),
                "400000 tables, and 300000 are the most",
            ),
        ] {
            fs::write(&plain, line).unwrap();
            let fault = texts(&plain).pop().unwrap().unwrap_err();
            assert!(fault.contains(said), "{fault}");
        }
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
