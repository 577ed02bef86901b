//! Packs records and telemetry, long ones off the threads that serve.
//! Called when a session has ended.

use agon_proto::packed;
use agon_service_kit::compute;
use bytes::Bytes;

/// Shorter lines are packed where they are: handing them to another thread takes longer.
const PACKED_AT_ONCE: usize = 64 * 1024;

/// Packs a line.
pub async fn pack(line: String) -> Bytes {
    if line.len() <= PACKED_AT_ONCE {
        return packed::pack(&line);
    }
    let packing = compute::SHORT.run(move || packed::pack(&line));
    // It cannot panic; when the process stops nobody hears of it.
    packing.await.unwrap_or_default()
}
