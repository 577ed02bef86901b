//! What goes into the queue and comes out of it, and how sessions and leases are named. Plain
//! data, shared by everything that speaks to the queue.

use agon_identity::holder::in_words;
use agon_proto::v1::journal_entry::Change;
use bytes::Bytes;

/// Names a stream to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// A session of the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    /// The experiment, by the number that the journal gave it.
    pub experiment: u32,
    /// The place in its grid.
    pub position: u32,
}

/// A lease as a worker names it, once its seal was found whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId {
    /// The session, where it stood when it was granted.
    pub session: SessionKey,
    /// The grid that it stood in, as `grid_of` names it.
    pub grid: u64,
    /// Unique among all leases of the installation.
    pub grant: u64,
}

/// What a worker is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The lease.
    pub lease: LeaseId,
    /// 1 for the first try.
    pub attempt: u32,
    /// A worker was lost with it.
    pub suspect: bool,
    /// The budget that counts for its experiment.
    pub budget: Option<u64>,
}

/// How a session ended, as its worker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With a record, which was found to be one of this session.
    Finished(SessionResult),
    /// Without one.
    Failed(Failure, String),
}

/// What a finished session left, packed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionResult {
    /// Its id.
    pub session_id: String,
    /// The beginning of the record's digest.
    pub digest: u64,
    /// The record.
    pub record: Bytes,
    /// Telemetry.
    pub telemetry: Bytes,
}

/// Why a session failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It crashed; [`MOST_CRASHES`] make it dead.
    Crashed,
    /// The outside did not answer in time.
    Parked,
    /// It can never run as it is written.
    Impossible,
    /// The worker has other rules or prompts than it was planned with.
    Unplayable,
    /// A budget is spent.
    BudgetSpent,
}

/// What became of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It is the session's record now.
    Stored,
    /// The session was done, with the same record.
    Same,
    /// The session was done, with another record: a determinism fault, noted.
    Different,
    /// The lease had ended; nothing was changed.
    Fenced,
    /// The failure was taken in.
    Noted,
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Append this to the journal; nothing behind it may be done before.
    Append(Change),
    /// Tell a worker what it got.
    Grant(StreamId, Vec<Granted>),
    /// Tell it that these are not to be played any more.
    Revoke(StreamId, Vec<LeaseId>),
}

/// Why a command is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no experiment of this name.
    #[error("no experiment {}", in_words(.0))]
    Unknown(String),
    /// The experiment's name belongs to another team.
    #[error("experiment {} belongs to team \"{team}\"; give yours another name", in_words(.experiment))]
    OtherTeam {
        /// The experiment.
        experiment: String,
        /// Whose it is.
        team: String,
    },
    /// Other versions make other sessions of those that are done.
    #[error(
        "{leaving} finished sessions of experiment {} were played under other \
         versions ({what}) and would be played, and paid for, again; {staying} stay. Go on with the \
         program that played them, or add --new to play them anew (`agon plan` says what that costs)",
        in_words(.experiment)
    )]
    OtherVersions {
        /// The experiment.
        experiment: String,
        /// Finished sessions that are none of the new grid.
        leaving: u32,
        /// Finished sessions that stay.
        staying: u32,
        /// What differs.
        what: String,
    },
    /// What had this name before is still being removed.
    #[error("experiment {} is still being removed; try again in a moment", in_words(.0))]
    BeingRemoved(String),
    /// Something of it is still to be played.
    #[error("experiment {} is not over; cancel it first", in_words(.0))]
    NotOver(String),
    /// Nothing of it is left to play.
    #[error("experiment {} has nothing left to play", in_words(.0))]
    NothingLeft(String),
    /// Only a new submission goes on with it.
    #[error("experiment {} was cancelled; `agon run` with the same file goes on with it", in_words(.0))]
    Cancelled(String),
    /// It goes on, or pauses for another reason.
    #[error("experiment {} is not paused for the reason \"{reason}\"", in_words(.experiment))]
    NotPausedFor {
        /// The experiment.
        experiment: String,
        /// The reason for which it was to be resumed.
        reason: String,
    },
}
