//! Something for each player by name, in the order in which players first sat. A player
//! in several seats is one player here. Groups of players are kept the same way.

/// Players and what is kept of each.
#[derive(Debug, Clone)]
pub(crate) struct ByPlayer<T> {
    players: Vec<(String, T)>,
}

impl<T> Default for ByPlayer<T> {
    fn default() -> Self {
        Self {
            players: Vec::new(),
        }
    }
}

impl<T: Default> ByPlayer<T> {
    /// What is kept of a player, new when it has not been seen.
    pub fn of(&mut self, player: &str) -> &mut T {
        let place = self.players.iter().position(|(name, _)| name == player);
        let place = place.unwrap_or_else(|| {
            self.players.push((player.to_owned(), T::default()));
            self.players.len() - 1
        });
        &mut self.players[place].1
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.players.iter().map(|(name, kept)| (&**name, kept))
    }
}
