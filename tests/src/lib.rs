//! What the end-to-end tests share: the project's own tree, real processes of
//! the `agon` binary, a real Redis, simulated model servers, experiments.

pub mod benches;
pub mod binary;
pub mod cluster;
pub mod fake_gateway;
pub mod golden;
pub mod left_out;
pub mod measured;
pub mod model_server;
pub mod redis;
pub mod runs;
pub mod s3;
pub mod scripted_server;
pub mod small_disk;
pub mod talker;
pub mod tree;
pub mod waiting;
