//! The gRPC contracts `agon.v1`, generated from `agon/v1/*.proto` and committed.
//! Documentation of every call lives in the .proto files; `just proto` rewrites
//! the generated code, and the test command compares.

pub mod capabilities;
pub mod digest;
pub mod packed;
pub mod simulated;

/// Version 1 of the contracts.
#[allow(missing_docs, clippy::all, unused_qualifications)]
pub mod v1 {
    include!("agon.v1.rs");
}
