//! Benchmarks of the engine alone.
fn main() {}
