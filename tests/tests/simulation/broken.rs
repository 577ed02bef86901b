//! Mechanisms that a simulation can switch off, to show that an invariant notices. Each is something
//! that the owner's surroundings do right in production: nothing of this is in production code.

/// What is switched off; the name says what happens instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Everybody is answered before the batch is in the journal.
    AnswersBeforeItIsDurable,
    /// Results are told apart by their length.
    ComparesNoBytes,
    /// Whoever watches is told of the state before the last message.
    TellsOldCounts,
    /// The worker of a session gets the next one of the series with it.
    GrantsTheNextToo,
    /// Entries about pauses do not reach the journal.
    JournalsNoPauses,
    /// A worker does not look at the time.
    PlaysOnWhenCutOff,
    /// Tokens are sealed without the name of the worker.
    SealsForAnybody,
    /// A new owner does not read the last batch.
    ReadsNotAll,
    /// The journal takes batches of any epoch.
    ChecksNoEpoch,
    /// A segment is called written before it is in the archive.
    TrustsTheArchive,
    /// Segments are written when they are closed in memory.
    ArchivesBeforeItIsDurable,
    /// Workers that fall silent keep what they hold.
    LosesNoWorker,
    /// Streams of workers that were lost stay open.
    KeepsStreamsOfLostWorkers,
    /// Sessions in hand are dropped without a word when nothing was heard for a while.
    DropsWithoutRelease,
}
