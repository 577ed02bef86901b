//! Rewrites `proto/src/agon.v1.rs` from the .proto files; run by `just proto`.
//! With `--check` it writes nothing and fails when the committed code is stale.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["agent_gateway", "experiment", "session_lease", "journal"]
        .map(|name| root.join(format!("agon/v1/{name}.proto")));
    let descriptors = protox::compile(&files, [root])?;
    let scratch = std::env::temp_dir().join(format!("agon-proto-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    tonic_prost_build::configure()
        .out_dir(&scratch)
        .bytes(".")
        // Few questions have one, and thousands of calls wait with their request.
        .boxed(".agon.v1.DecideRequest.stand_in")
        .compile_fds(descriptors)?;
    let fresh = std::fs::read_to_string(scratch.join("agon.v1.rs"))?;
    std::fs::remove_dir_all(&scratch)?;
    let committed = root.join("src/agon.v1.rs");
    if std::env::args().any(|argument| argument == "--check") {
        if std::fs::read_to_string(&committed)? != fresh {
            return Err("proto/src/agon.v1.rs is stale: run `just proto`".into());
        }
        return Ok(());
    }
    std::fs::write(committed, fresh)?;
    Ok(())
}
