//! Who sends a request, once the gate has let them in, and how names of a team's experiments are told
//! apart from those of other teams. Handlers find it among the extensions of a request; a request
//! without one comes from this process itself.

use std::sync::Arc;

use http::Extensions;

use crate::scope::Scope;

/// What stands between an experiment's own name and its team; no name of either holds it.
pub const OF_TEAM: char = '@';

/// A kept experiment in a sentence, for its team and for the installation alike: `"x" of team "red"`.
pub fn in_words(kept: &str) -> String {
    match kept.rsplit_once(OF_TEAM) {
        Some((own, team)) => format!("\"{own}\" of team \"{team}\""),
        None => format!("\"{kept}\""),
    }
}

/// Who sends a request. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The name of the token, for people.
    pub name: Arc<str>,
    /// The id of the token; empty when there is none.
    pub token_id: Arc<str>,
    /// Who pays, if the token belongs to a team.
    team: Option<Arc<str>>,
    scopes: Arc<[Scope]>,
    anybody: bool,
}

impl Holder {
    /// Whoever reaches a door that has no tokens and only its own machine reaches, and this process
    /// itself.
    pub fn anybody() -> Self {
        Self {
            name: "anybody on this machine".into(),
            token_id: "".into(),
            team: None,
            scopes: Arc::new([]),
            anybody: true,
        }
    }

    /// Whoever changes the store itself with a command, by the name of the user if there is one.
    pub fn command_line(user: &str) -> Self {
        let name = match user {
            "" => "command line".into(),
            user => format!("command line of {user}").into(),
        };
        Self {
            name,
            ..Self::anybody()
        }
    }

    /// The holder of a token.
    pub fn of_token(name: &str, id: &str, team: Option<&str>, scopes: &[Scope]) -> Self {
        Self {
            name: name.into(),
            token_id: id.into(),
            team: team.map(Arc::from),
            scopes: scopes.into(),
            anybody: false,
        }
    }

    /// Whoever the gate let in with this request; anybody when it passed no gate.
    pub fn of(extensions: &Extensions) -> Self {
        extensions.get().cloned().unwrap_or_else(Self::anybody)
    }

    /// The team that this holder acts for, and beyond which it sees nothing.
    pub fn team(&self) -> Option<&str> {
        self.team.as_deref()
    }

    /// There are no tokens here, so there is nobody to keep apart.
    pub fn is_anybody(&self) -> bool {
        self.anybody
    }

    /// Whether any of these scopes is among its own.
    pub fn has_any(&self, scopes: &[Scope]) -> bool {
        let has = |asked: &Scope| self.scopes.iter().any(|own| own.includes(*asked));
        self.anybody || scopes.iter().any(has)
    }

    /// The name under which an experiment that this holder names is kept.
    pub fn kept_name(&self, experiment: &str) -> String {
        match self.team() {
            Some(team) => format!("{experiment}{OF_TEAM}{team}"),
            None => experiment.to_owned(),
        }
    }

    /// The name by which this holder knows what is kept under a name; `None` when it is another
    /// team's.
    pub fn own_name<'a>(&self, kept: &'a str) -> Option<&'a str> {
        match self.team() {
            Some(team) => kept.strip_suffix(team)?.strip_suffix(OF_TEAM),
            None => Some(kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_teams_do_not_meet_and_the_installation_sees_all() {
        let red = Holder::of_token("ci", "1", Some("red"), &[Scope::Submit]);
        let admin = Holder::of_token("ops", "2", None, &[Scope::Admin]);
        assert_eq!(red.kept_name("x"), "x@red");
        assert_eq!(red.own_name("x@red"), Some("x"));
        for others in ["x@blue", "x", "x@infrared", "red", "xred"] {
            assert_eq!(red.own_name(others), None, "{others}");
        }
        assert_eq!(admin.own_name(&admin.kept_name("x@red")), Some("x@red"));
        assert_eq!(in_words(&red.kept_name("x")), "\"x\" of team \"red\"");
        assert_eq!(in_words(&admin.kept_name("x")), "\"x\"");
    }

    #[test]
    fn submitting_includes_reading_and_nothing_else_includes_anything() {
        let holds =
            |own: Scope, asked: Scope| Holder::of_token("t", "1", None, &[own]).has_any(&[asked]);
        for own in Scope::ALL {
            for asked in Scope::ALL {
                let expected = own == asked || (own, asked) == (Scope::Submit, Scope::Read);
                assert_eq!(holds(own, asked), expected, "{own} {asked}");
            }
        }
        assert!(Holder::anybody().has_any(&[Scope::Admin]));
    }
}
