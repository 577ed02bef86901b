//! Who sits at a game, by model or strategy: what rows of tables compare. Called by whatever names
//! players.

use agon_engine::PlayerSpec;

/// Who plays in a seat of a session: its model or strategy, before it its name where another player
/// there has the same.
pub(crate) fn player_of(seat: &PlayerSpec, seats: &[PlayerSpec]) -> String {
    let own = players_of(std::slice::from_ref(seat));
    let mut others = seats.iter().filter(|other| other.name != seat.name);
    match others.any(|other| players_of(std::slice::from_ref(other)) == own) {
        true => format!("{} ({own})", seat.name),
        false => own,
    }
}

/// The same of these seats.
pub(crate) fn players_of(seats: &[PlayerSpec]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for player in seats {
        let named = ["model", "strategy"]
            .iter()
            .find_map(|key| player.settings.get(*key)?.as_str());
        let name = named.unwrap_or(&player.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" + ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_of_one_model_are_told_apart_by_their_names() {
        let seat = |name: &str, model: &str| PlayerSpec {
            name: name.to_owned(),
            kind: agon_engine::PlayerKind::Model,
            settings: [("model".to_owned(), model.into())].into(),
        };
        let seats = [
            seat("adaptive", "m"),
            seat("static", "m"),
            seat("static", "m"),
        ];
        let named = seats.each_ref().map(|one| player_of(one, &seats));
        assert_eq!(named, ["adaptive (m)", "static (m)", "static (m)"]);
        assert_eq!(player_of(&seats[1], &seats[1..]), "m");
        assert_eq!(player_of(&seats[0], &[seat("other", "n")]), "m");
    }
}
