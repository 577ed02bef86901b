//! Records and telemetry as they travel and are stored: one line of JSON with its line break, as one
//! gzip member. Members that stand one after the other are one gzip file, which every tool reads.
//! What a compressor needs is kept by each thread: for a short line it costs more than the work.

use std::cell::RefCell;

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};

/// A line, unpacked.
pub const MOST_BYTES: usize = 512 * 1024 * 1024;

/// A gzip header (RFC 1952) without options: deflated, no time, made fast, system unknown.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// The part of a header that is always the same: what it is, and that it has no options.
const MAGIC: usize = 4;

/// Checksum and length at the end, of 4 bytes each.
const TRAILER: usize = 8;

/// A line that is shorter is not compressed: it would become little shorter, and of a session without
/// models that would take a twentieth of the time.
const SHORT: usize = 400;

/// The head of a block of deflate (RFC 1951) that is the last one and holds its bytes as they are.
const LAST_STORED: u8 = 1;

/// Spare room behind a line: without it the decoder writes the last few hundred bytes one at a time.
const SPARE: usize = 512;

/// Deflate makes at most so many bytes of one.
const BEST_RATIO: usize = 1032;

thread_local! {
    static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), false));
    static DECOMPRESS: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

/// Packs a line, which has no line break yet.
pub fn pack(line: &str) -> Bytes {
    let mut packed = Vec::with_capacity(line.len().min(SHORT) + line.len() / 3 + 64);
    packed.extend(HEADER);
    let mut crc = Crc::new();
    for part in [line.as_bytes(), b"\n"] {
        crc.update(part);
    }
    match line.len() < SHORT {
        true => store(line, &mut packed),
        false => COMPRESS.with_borrow_mut(|compress| {
            compress.reset();
            deflate(compress, line.as_bytes(), false, &mut packed);
            deflate(compress, b"\n", true, &mut packed);
        }),
    }
    packed.extend(crc.sum().to_le_bytes());
    packed.extend(crc.amount().to_le_bytes());
    packed.into()
}

/// A short line with its line break, as one block.
fn store(line: &str, packed: &mut Vec<u8>) {
    let length = line.len() as u16 + 1;
    packed.push(LAST_STORED);
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(line.as_bytes());
    packed.push(b'\n');
}

fn deflate(compress: &mut Compress, part: &[u8], last: bool, packed: &mut Vec<u8>) {
    let flush = match last {
        true => FlushCompress::Finish,
        false => FlushCompress::None,
    };
    let start = compress.total_in();
    loop {
        let done = (compress.total_in() - start) as usize;
        // Writing into memory cannot fail: it only runs out of room.
        let status = compress.compress_vec(&part[done..], packed, flush);
        let all_in = (compress.total_in() - start) as usize == part.len();
        let ended = matches!(status, Ok(Status::StreamEnd) | Err(_));
        if ended || (all_in && !last && packed.len() < packed.capacity()) {
            return;
        }
        packed.reserve(part.len() / 4 + 64);
    }
}

/// How many bytes a line has with its line break, as its packed form says; `None` of what is too short to
/// be one. [`unpack`] finds out whether that is so.
pub fn claimed_bytes(packed: &[u8]) -> Option<u64> {
    let length = packed.last_chunk::<4>()?;
    Some(u32::from_le_bytes(*length).into())
}

/// The line of one gzip member, without its line break; `None` when there is anything else: other
/// bytes, another member, more lines, no text, or more than [`MOST_BYTES`].
pub fn unpack(packed: &[u8]) -> Option<String> {
    let (header, rest) = packed.split_at_checked(HEADER.len())?;
    let (body, trailer) = rest.split_at_checked(rest.len().checked_sub(TRAILER)?)?;
    let number = |first: usize| {
        Some(u32::from_le_bytes(
            trailer.get(first..first + 4)?.try_into().ok()?,
        ))
    };
    let (sum, length) = (number(0)?, number(4)? as usize);
    let possible = length <= MOST_BYTES && length / BEST_RATIO <= body.len();
    if header[..MAGIC] != HEADER[..MAGIC] || !possible {
        return None;
    }
    let mut line = Vec::with_capacity(length + SPARE);
    let ended = DECOMPRESS.with_borrow_mut(|decompress| {
        decompress.reset(false);
        // The trailer is passed on, too: it is not read, but the decoder is fast only while bytes follow.
        let status = decompress.decompress_vec(rest, &mut line, FlushDecompress::Finish);
        let all = decompress.total_in() == body.len() as u64;
        matches!(status, Ok(Status::StreamEnd)) && all
    });
    let mut crc = Crc::new();
    crc.update(&line);
    if !ended || line.len() != length || crc.sum() != sum || line.pop() != Some(b'\n') {
        return None;
    }
    String::from_utf8(line)
        .ok()
        .filter(|line| !line.contains('\n'))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use flate2::read::MultiGzDecoder;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn lines_come_back_and_others_read_them() {
        let long = "{\"text\":\"ä\u{1F600} 0123456789\"}".repeat(100_000);
        let (shortest, longest) = ("x".repeat(SHORT), "x".repeat(SHORT - 1));
        for line in ["", "{}", &long, &longest, &shortest] {
            let packed = pack(line);
            assert_eq!(unpack(&packed).as_deref(), Some(line));
            let mut read = String::new();
            let twice = [&packed[..], &packed[..]].concat();
            MultiGzDecoder::new(&twice[..])
                .read_to_string(&mut read)
                .unwrap();
            assert_eq!(read, format!("{line}\n{line}\n"));
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(format!("{line}\n").as_bytes()).unwrap();
            assert_eq!(unpack(&encoder.finish().unwrap()).as_deref(), Some(line));
        }
    }

    #[test]
    fn anything_else_is_nothing() {
        let packed = pack("{\"a\":1}").to_vec();
        for cut in 0..packed.len() {
            assert_eq!(unpack(&packed[..cut]), None, "cut at {cut}");
        }
        for (at, _) in packed
            .iter()
            .enumerate()
            .filter(|(at, _)| !(4..10).contains(at))
        {
            let mut changed = packed.clone();
            changed[at] ^= 1;
            assert_eq!(unpack(&changed), None, "byte {at}");
        }
        assert_eq!(
            unpack(&[&packed[..], &packed[..]].concat()),
            None,
            "two members"
        );
        assert_eq!(
            unpack(&[&packed[..], b"x"].concat()),
            None,
            "more behind it"
        );
        assert_eq!(unpack(&pack("one\ntwo")), None, "two lines");
        let deflated = pack(&"{\"a\":1}".repeat(SHORT)).to_vec();
        for at in HEADER.len()..deflated.len() {
            let mut changed = deflated.clone();
            changed[at] ^= 1;
            assert_eq!(unpack(&changed), None, "byte {at} of compressed ones");
        }
        let mut lying = packed;
        let length = lying.len();
        lying[length - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(unpack(&lying), None, "a length that no such member has");
    }
}
