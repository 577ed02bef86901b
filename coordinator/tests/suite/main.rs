//! The coordinator against its stores and its callers: one contract for both kinds of journal, and
//! the services over them.

mod archive;
mod experiments;
mod faults;
mod faulty;
mod journal;
mod journal_redis;
mod outages;
mod redis_server;
mod stand;
mod worker;
mod workers;
