//! The `agon` binary: reads the command line and hands over to the library.

use std::process::ExitCode;

/// Sessions allocate many small strings from several threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agon_cli::main()
}
