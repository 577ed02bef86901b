//! Looks for the queue of versions before the journal, which lies beside it in Redis. One with
//! unfinished experiments is refused: they would stand still without a word. Called on connecting.

use std::collections::BTreeSet;

use redis::aio::ConnectionLike;
use redis::{AsyncCommands as _, RedisResult};

/// Began every key of that queue.
const PREFIX: &str = "{agon}:coordinator:v1:";

/// An experiment in that queue: how many sessions it will have while it is being submitted, whether
/// it was cancelled, and how many sessions are done, parked, dead, or stopped behind such.
type Row = (
    Option<u64>,
    Option<u8>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
);

/// What is left of that queue.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Older {
    /// Experiments with something to play.
    pub unfinished: usize,
    /// Experiments whose results are there and nothing else.
    pub finished: usize,
}

/// Reads what there is.
pub async fn look(
    connection: &mut (impl ConnectionLike + Clone + Send + Sync),
) -> RedisResult<Older> {
    let names: BTreeSet<String> = connection.smembers(format!("{PREFIX}experiments")).await?;
    let mut older = Older::default();
    for name in names {
        let key = format!("{PREFIX}e:{name}");
        let fields = [
            "submitting",
            "cancelled",
            "n:done",
            "n:parked",
            "n:dead",
            "n:stopped",
        ];
        let (row, placed): (Row, u64) = redis::pipe()
            .hmget(&key, &fields)
            .zcard(format!("{key}:places"))
            .query_async(connection)
            .await?;
        let (submitting, cancelled, done, parked, dead, stopped) = row;
        let settled: u64 = [done, parked, dead, stopped].into_iter().flatten().sum();
        if cancelled != Some(1) && (submitting.is_some() || settled < placed) {
            older.unfinished += 1;
        } else {
            older.finished += 1;
        }
    }
    Ok(older)
}
