//! Prints what a model player is sent in a game with random players, for authors
//! of templates: `cargo run -p agon-agents --example prompts -- GAME [VERSION]
//! [SEAT] [PLAYER SETTINGS AS JSON] [GAME PARAMETERS AS JSON]`.

use agon_agents::Role;

#[path = "../tests/conversations/table.rs"]
#[allow(dead_code, missing_docs)]
mod table;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, default: &str| {
        arguments
            .get(at)
            .cloned()
            .unwrap_or_else(|| default.to_owned())
    };
    let name = argument(0, "guess_two_thirds");
    let mut settings: serde_json::Value =
        serde_json::from_str(&argument(3, "{}")).unwrap_or_default();
    settings["prompt"] = argument(1, "v1").into();
    let seat = argument(2, "3").parse().unwrap_or(0);
    let params = serde_json::from_str(&argument(4, "{}")).unwrap_or_default();
    let game = table::play(&name, &table::settings(params), 1, 23);
    let player = table::player(settings);
    let thoughts = game.thoughts(&player, seat, &game.events, table::as_json);
    let Some(last) = thoughts.last() else {
        println!("seat {seat} is never asked");
        return;
    };
    for message in &last.messages {
        let speaker = match message.role {
            Role::System => "SYSTEM",
            Role::User => "USER",
            Role::Assistant => "ASSISTANT",
        };
        println!("--- {speaker}\n{}", message.content);
    }
    let format = last.format.as_ref().map_or("none", |format| &format.schema);
    println!(
        "--- FORMAT\n{format}\n--- {} bytes in all",
        table::bytes(last)
    );
}
