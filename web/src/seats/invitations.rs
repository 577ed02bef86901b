//! Who may play at which seat: invitations, each with a secret that opens one door of one experiment,
//! and who took it. Plain data and its rules; holds digests of secrets only, and is told the time.
//! Called by `seat_state.rs` and by the command line.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Bytes of randomness in secrets and cookies.
const SECRET_BYTES: usize = 24;

/// Bytes of randomness in the name of an invitation.
const NAME_BYTES: usize = 4;

/// Bytes of randomness in a pseudonym.
const PSEUDONYM_BYTES: usize = 2;

/// Tries to find a pseudonym that nobody has.
const MOST_TRIES: usize = 10_000;

/// What an invitation's name and secret are joined with in a link.
const JOINT: char = '.';

/// All invitations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Book {
    /// In the order in which they were made.
    pub invitations: Vec<Invitation>,
}

/// A link that opens a seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invitation {
    /// Its name; no secret.
    pub id: String,
    /// The experiment.
    pub experiment: String,
    /// The door at which its person is asked.
    pub door: String,
    /// Digest of the secret.
    secret: String,
    /// Until when it is good, in seconds since 1970.
    pub expires: u64,
    /// Whether somebody has taken it back.
    pub revoked: bool,
    /// Who took the seat with it.
    pub claim: Option<Claim>,
}

/// Who took a seat, and how far they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Digest of the cookie.
    cookie: String,
    /// What they are called in records.
    pub pseudonym: String,
    /// When, in seconds since 1970.
    pub at: u64,
    /// Whether they left, so that somebody else may take the seat.
    pub left: bool,
    /// Whether they agreed to take part.
    pub consented: bool,
    /// Whether they have read the instructions and passed the check.
    pub understood: bool,
    /// Whether they are ready to play.
    pub ready: bool,
    /// Whether they answered the questions at the end.
    pub answered: bool,
    /// Whether they were told that they have done everything.
    pub finished: bool,
    /// The games in which they were asked, in order.
    pub games: Vec<PlayedGame>,
}

/// A game of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedGame {
    /// The session.
    pub session: String,
    /// Their seat.
    pub seat: usize,
}

/// Why somebody does not get a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// No invitation has this secret.
    #[error("this is not a link that opens a seat; check that you copied all of it")]
    Unknown,
    /// It was taken back.
    #[error("this invitation was withdrawn; ask whoever invited you for another one")]
    Revoked,
    /// Its time is over.
    #[error("this invitation has expired; ask whoever invited you for another one")]
    Expired,
    /// Somebody else has the seat.
    #[error(
        "this seat is taken; if it is yours, open the link in the browser in which you opened it first"
    )]
    Taken,
}

/// Somebody has a seat now.
#[derive(Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The invitation.
    pub id: String,
    /// What they are called.
    pub pseudonym: String,
    /// The cookie that is theirs from now on; none if they had it already.
    pub cookie: Option<String>,
}

impl Book {
    /// Invites somebody to a door; the invitation's name and the secret part of its link, which is
    /// told once.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn invite(
        &mut self,
        experiment: &str,
        door: &str,
        expires: u64,
    ) -> Result<(String, String), getrandom::Error> {
        let (id, secret) = (random(NAME_BYTES)?, random(SECRET_BYTES)?);
        let link = format!("{id}{JOINT}{secret}");
        self.invitations.push(Invitation {
            id: id.clone(),
            experiment: experiment.to_owned(),
            door: door.to_owned(),
            secret: digest(&secret),
            expires,
            revoked: false,
            claim: None,
        });
        Ok((id, link))
    }

    /// Takes an invitation back; whoever has its seat loses it.
    pub fn revoke(&mut self, id: &str) -> bool {
        let found = self.invitations.iter_mut().find(|one| one.id == id);
        found.map(|one| one.revoked = true).is_some()
    }

    /// Lets somebody with the secret part of a link take its seat, or return to it with its cookie.
    ///
    /// # Errors
    /// The link opens nothing, or somebody else has the seat; or there is no randomness, which is
    /// told as a link that opens nothing.
    pub fn claim(
        &mut self,
        id: &str,
        secret: &str,
        cookies: &[String],
        now: u64,
    ) -> Result<Claimed, ClaimError> {
        let secret = secret.trim().strip_prefix(id);
        let secret = secret.and_then(|rest| rest.strip_prefix(JOINT));
        let secret = secret.map(digest).ok_or(ClaimError::Unknown)?;
        let mut all = self.invitations.iter();
        let at = all.position(|one| one.id == id && is_same(&one.secret, &secret));
        let at = at.ok_or(ClaimError::Unknown)?;
        let invitation = &self.invitations[at];
        invitation.is_good(now)?;
        if let Some(claim) = invitation.claim_of(cookies) {
            let pseudonym = claim.pseudonym.clone();
            if claim.left && self.is_taken_besides(at, now) {
                return Err(ClaimError::Taken);
            }
            if let Some(claim) = &mut self.invitations[at].claim {
                claim.left = false;
            }
            return Ok(Claimed {
                id: id.to_owned(),
                pseudonym,
                cookie: None,
            });
        }
        let has_left = invitation.claim.as_ref().is_none_or(|claim| claim.left);
        if !has_left || self.is_taken_besides(at, now) {
            return Err(ClaimError::Taken);
        }
        let cookie = random(SECRET_BYTES).map_err(|_| ClaimError::Unknown)?;
        let pseudonym = self.pseudonym().ok_or(ClaimError::Unknown)?;
        self.invitations[at].claim = Some(Claim {
            cookie: digest(&cookie),
            pseudonym: pseudonym.clone(),
            at: now,
            left: false,
            consented: false,
            understood: false,
            ready: false,
            answered: false,
            finished: false,
            games: Vec::new(),
        });
        Ok(Claimed {
            id: id.to_owned(),
            pseudonym,
            cookie: Some(cookie),
        })
    }

    /// The invitation of whoever shows its cookie, whether they left or not.
    pub fn admit(&self, id: &str, cookies: &[String], now: u64) -> Option<&Invitation> {
        let found = self.invitations.iter().find(|one| one.id == id)?;
        found.is_good(now).ok()?;
        found.claim_of(cookies).map(|_| found)
    }

    /// The claim of an invitation, to change it.
    pub fn claim_mut(&mut self, id: &str) -> Option<&mut Claim> {
        let found = self.invitations.iter_mut().find(|one| one.id == id)?;
        found.claim.as_mut()
    }

    /// Lets somebody who left come back, unless the seat was taken meanwhile.
    ///
    /// # Errors
    /// Somebody else has the seat.
    pub fn come_back(&mut self, id: &str, now: u64) -> Result<(), ClaimError> {
        let mut all = self.invitations.iter();
        let at = all.position(|one| one.id == id);
        let at = at.ok_or(ClaimError::Unknown)?;
        if self.is_taken_besides(at, now) {
            return Err(ClaimError::Taken);
        }
        if let Some(claim) = &mut self.invitations[at].claim {
            claim.left = false;
        }
        Ok(())
    }

    /// Invitations of an experiment that are good or were used, the newest of each door that counts:
    /// who sits there, or who may come.
    pub fn seats(&self, experiment: &str, now: u64) -> Vec<&Invitation> {
        let mut seats: Vec<&Invitation> = Vec::new();
        let good = self.invitations.iter();
        let good = good.filter(|one| one.experiment == experiment && one.is_good(now).is_ok());
        for one in good {
            match seats.iter_mut().find(|seat| seat.door == one.door) {
                None => seats.push(one),
                Some(seat) if !seat.is_taken() => *seat = one,
                Some(_) => {}
            }
        }
        seats
    }

    /// Whether another invitation to the same door is in use.
    fn is_taken_besides(&self, at: usize, now: u64) -> bool {
        let this = &self.invitations[at];
        let mut others = self.invitations.iter().enumerate();
        others.any(|(place, one)| {
            let is_same_seat = one.experiment == this.experiment && one.door == this.door;
            place != at && is_same_seat && one.is_taken() && one.is_good(now).is_ok()
        })
    }

    /// One that nobody has.
    fn pseudonym(&self) -> Option<String> {
        for _ in 0..MOST_TRIES {
            let drawn = format!("person-{}", random(PSEUDONYM_BYTES).ok()?);
            let mut claims = self.invitations.iter().filter_map(|one| one.claim.as_ref());
            if claims.all(|claim| claim.pseudonym != drawn) {
                return Some(drawn);
            }
        }
        None
    }
}

impl Invitation {
    /// Whether somebody sits there.
    pub fn is_taken(&self) -> bool {
        self.claim.as_ref().is_some_and(|claim| !claim.left)
    }

    /// Whether it opens its seat.
    ///
    /// # Errors
    /// It was taken back, or its time is over.
    pub fn is_good(&self, now: u64) -> Result<(), ClaimError> {
        match (self.revoked, now >= self.expires) {
            (true, _) => Err(ClaimError::Revoked),
            (_, true) => Err(ClaimError::Expired),
            _ => Ok(()),
        }
    }

    fn claim_of(&self, cookies: &[String]) -> Option<&Claim> {
        let claim = self.claim.as_ref()?;
        let mut shown = cookies.iter().map(|cookie| digest(cookie));
        shown
            .any(|shown| is_same(&shown, &claim.cookie))
            .then_some(claim)
    }
}

fn digest(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

/// Compares digests in constant time.
fn is_same(one: &str, other: &str) -> bool {
    let hashes = [one, other].map(blake3::Hash::from_hex);
    matches!(hashes, [Ok(one), Ok(other)] if one == other)
}

fn random(count: usize) -> Result<String, getrandom::Error> {
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests;
