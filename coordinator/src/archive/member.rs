//! One line in one gzip member: what concatenated makes a file of JSON lines. Unpacking is bounded,
//! since a few kilobytes can unpack to gigabytes.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::{ArchiveResult, damaged, too_large};

/// The longest line that is unpacked.
pub const LARGEST_LINE_BYTES: u64 = 256 * 1024 * 1024;

/// What every gzip member begins with.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// Whether it may be a gzip member. Unpacking finds the rest.
pub fn is_member(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Packs a line, which comes without its line break. Takes a millisecond or two for a megabyte.
pub fn pack(line: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing into a vector cannot fail.
    let _ = encoder.write_all(line);
    let _ = encoder.write_all(b"\n");
    encoder.finish().unwrap_or_default().into()
}

/// The opposite: the line without its line break.
pub fn unpack(member: &[u8], what: &str, most: u64) -> ArchiveResult<Vec<u8>> {
    let mut decoder = GzDecoder::new(member);
    let mut line = Vec::new();
    // One more for the line break, one more to see that there is more.
    let read = decoder.by_ref().take(most + 2).read_to_end(&mut line);
    if line.len() as u64 > most + 1 {
        return Err(too_large(what, most));
    }
    if read.is_err() || !decoder.into_inner().is_empty() {
        return Err(damaged(what, "it is not one gzip member"));
    }
    match line.pop() {
        Some(b'\n') => Ok(line),
        _ => Err(damaged(what, "its line break is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ArchiveError;
    use super::*;

    #[test]
    fn line_comes_back_and_any_gzip_tool_reads_several() {
        let (one, two) = (pack(b"{\"a\":1}"), pack(b""));
        assert_eq!(unpack(&one, "it", 100).unwrap(), b"{\"a\":1}");
        assert_eq!(unpack(&two, "it", 100).unwrap(), b"");
        let both = [one, two].concat();
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&*both)
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "{\"a\":1}\n\n");
        let two_in_one = unpack(&both, "it", 100);
        assert!(matches!(two_in_one, Err(ArchiveError::Damaged { .. })));
    }

    #[test]
    fn line_that_unpacks_to_more_than_is_taken_is_an_error() {
        let bomb = pack(&vec![b' '; 1_000_000]);
        assert!(bomb.len() < 10_000);
        let unpacked = unpack(&bomb, "it", 999_999);
        assert!(matches!(unpacked, Err(ArchiveError::TooLarge { .. })));
        assert_eq!(unpack(&bomb, "it", 1_000_000).unwrap().len(), 1_000_000);
    }

    #[test]
    fn every_cut_and_every_changed_byte_of_the_content_is_noticed() {
        let member = pack(b"some line of text");
        for length in 0..member.len() {
            assert!(unpack(&member[..length], "it", 100).is_err(), "{length}");
        }
        // The header's time and system mean nothing.
        for place in 10..member.len() {
            let mut other = member.to_vec();
            other[place] ^= 1;
            let unpacked = unpack(&other, "it", 100);
            assert!(unpacked.is_err(), "{place}: {unpacked:?}");
        }
    }
}
