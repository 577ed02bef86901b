//! Tests of the gateway from outside: one contract suite per trait against both
//! back ends, decisions through the gRPC service with scripted providers, and
//! real HTTP against small servers. Redis tests start a server of their own.

mod accounts;
mod admission_contract;
mod budget_store;
mod content_cache;
mod dead_keys;
mod decisions;
mod doors;
mod doors_decisions;
mod doors_http;
mod failover;
mod ground;
mod health;
mod hedging;
mod http;
mod learnt;
mod ledger_contract;
mod money;
mod operation;
mod outages;
mod providers;
mod redis_server;
mod reload;
mod replicas;
mod secrets;
mod sharing;
mod support;
mod wiring;
