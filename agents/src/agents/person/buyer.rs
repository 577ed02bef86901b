//! What a person is told of the personas of its world, in the words in which the bidder
//! `harbor` is told the same (`english_auction_harbor/v1`): who it is, what other kinds of
//! buyer there are, and who the others are. They stand here and not among the templates
//! because no model is told them; a test holds them against what a model is told.

use std::fmt::Write as _;

use agon_engine::Seat;
use agon_engine::game::player_name;

use crate::agents::world::World;

/// What stands before the rules; nothing for a world without personas.
pub(super) fn words(world: &World, seat: Seat) -> String {
    let mut text = String::new();
    let own: Vec<_> = world.own().collect();
    // Writing to a string cannot fail.
    let _ = match own[..] {
        [] => Ok(()),
        [one] => writeln!(text, "This is who you are ({}): {}", one.name, one.text),
        [first, second, ..] => writeln!(
            text,
            "You are two kinds of buyer in one person, both in equal measure.\n\
             The first ({}): {}\nThe second ({}): {}",
            first.name, first.text, second.name, second.text
        ),
    };
    if !own.is_empty() {
        text.push_str(
            "Stay true to who you are: such a buyer prefers some houses to others, and you keep to \
             these preferences in everything that you decide. At the same time, pursue your goal \
             over all houses of the auction, whether they suit you or not. Neither comes second.\n",
        );
    }
    let worn = |name: &String| {
        world.own.contains(name) || world.seats.iter().flatten().any(|one| one == name)
    };
    if world.personas.iter().any(|one| !worn(&one.name)) {
        text.push_str("\nThe kinds of buyer are:\n");
        for one in &world.personas {
            let _ = writeln!(text, "- {}: {}", one.name, one.about());
        }
    }
    let others = world.seats.iter().enumerate();
    let others: Vec<_> = others.filter(|(other, _)| *other != seat).collect();
    if !others.is_empty() {
        text.push_str("\nWhat you know of your rivals:\n");
    }
    for (other, personas) in others {
        let who = match &personas[..] {
            [] => "a buyer without special wishes".to_owned(),
            worn => {
                let worn: Vec<String> = worn.iter().map(|name| world.described(name)).collect();
                format!("this kind of buyer: {}", worn.join(" and "))
            }
        };
        let _ = writeln!(text, "- {} is {who}.", player_name(other));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}
