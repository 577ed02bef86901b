//! The program: parses the command line, runs the command, reports its failure and ends
//! with its exit code. Called by `main.rs`.

use std::process::ExitCode;

use agon_outlets::line;
use agon_service_kit::secrets;
use clap::Parser as _;

use crate::commands::{self, Cli};
use crate::failure::{Failure, SURROUNDINGS};
use crate::output;

/// Parses the command line, runs the command, reports its failure.
pub fn main() -> ExitCode {
    for argument in std::env::args_os() {
        secrets::keep_argument(&argument.to_string_lossy());
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(fault) => return refused(fault),
    };
    output::tell_of_panics();
    // Each call to a model is a connection, and each connection a file.
    let _ = agon_service_kit::open_files::limit();
    agon_service_kit::server::install_crypto();
    match commands::run(cli) {
        Ok(()) if output::lost() => {
            output::tell("error: standard output could not be written to its end");
            ExitCode::from(SURROUNDINGS)
        }
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let word = match failure {
                Failure::Interrupted(_) => "stopped",
                Failure::Paused(_) => "paused",
                _ => "error",
            };
            output::tell(&format!("{word}: {failure}"));
            ExitCode::from(failure.code())
        }
    }
}

/// What is wrong with the command line, in colours unless something in it would speak to the
/// terminal.
fn refused(fault: clap::Error) -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let harmless: Vec<String> = arguments.iter().map(|one| line(one).to_string()).collect();
    let fault = match harmless == arguments {
        true => fault,
        // The same fault, told of the same arguments as they may be shown.
        false => Cli::try_parse_from(harmless).err().unwrap_or(fault),
    };
    let code = u8::try_from(fault.exit_code()).unwrap_or(SURROUNDINGS);
    let text = fault.render().to_string();
    let shown = output::told(&text);
    let printed = match fault.use_stderr() && shown != text {
        true => {
            output::tell(shown.trim_end());
            Ok(())
        }
        false => fault.print(),
    };
    ExitCode::from(printed.map_or(SURROUNDINGS, |()| code))
}
