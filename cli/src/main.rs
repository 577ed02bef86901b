//! The `agon` binary: chooses the allocator and hands over to the library, which
//! reads the command line.

use std::process::ExitCode;

/// Sessions allocate many small strings from several threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agon_cli::main()
}
