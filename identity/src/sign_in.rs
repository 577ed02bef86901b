//! People who sign in at an OpenID Connect provider instead of showing a token: where, and what somebody of
//! whom the provider says something may do. Knows no HTTP; whoever serves pages asks the provider. Read
//! from the identity file.

use std::time::Duration;

use agon_outlets::line;
use agon_service_kit::secret_source::SecretSource;
use serde_json::Value;
use url::Url;

use crate::holder::Holder;
use crate::scope::Scope;

/// The claim that names somebody for good (OpenID Connect Core, section 2).
const SUBJECT: &str = "sub";

/// A claim that counts only where the provider has verified it (section 5.1).
const EMAIL: &str = "email";

/// Claims that name somebody for people, the best first.
const NAMES: [&str; 3] = [EMAIL, "preferred_username", "name"];

/// Longer names are cut; they are for people.
const LONGEST_NAME: usize = 100;

/// Where people sign in, and what they may do here.
#[derive(Debug, Clone, PartialEq)]
pub struct SignIn {
    /// The provider, by its issuer identifier.
    pub issuer: Url,
    /// What it is called on the sign-in page.
    pub name: String,
    /// What this installation is called there.
    pub client_id: String,
    /// Absent for public clients.
    pub client_secret: Option<SecretSource>,
    /// What is asked of the provider beside `openid email profile`, such as `groups`.
    pub ask_for: Vec<String>,
    /// How long somebody stays signed in.
    pub lasts: Duration,
    /// Who may come in; the first that fits counts.
    pub people: Vec<Person>,
}

/// People of whom a claim says something.
#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    /// The name of the claim.
    pub claim: String,
    /// What it says, or what is among what it says.
    pub is: String,
    /// The team that they act for; absent: the installation.
    pub team: Option<String>,
    /// What they may do.
    pub scopes: Vec<Scope>,
}

impl SignIn {
    /// Somebody of whom the provider claims this; `None` when nobody has let them in.
    pub fn holder(&self, claims: &Value) -> Option<Holder> {
        let subject = claims[SUBJECT].as_str()?;
        let person = self.people.iter().find(|person| person.fits(claims))?;
        let mut names = NAMES.iter().filter(|name| can_be_believed(name, claims));
        let name = names.find_map(|name| claims[*name].as_str());
        let name: String = name.unwrap_or(subject).chars().take(LONGEST_NAME).collect();
        let id = format!("sign-in:{subject}");
        let team = person.team.as_deref();
        Some(Holder::of_token(
            &line(&name).to_string(),
            &id,
            team,
            &person.scopes,
        ))
    }
}

impl Person {
    fn fits(&self, claims: &Value) -> bool {
        if !can_be_believed(&self.claim, claims) {
            return false;
        }
        match &claims[&self.claim] {
            Value::String(said) => *said == self.is,
            Value::Array(all) => all.iter().any(|said| said.as_str() == Some(&self.is)),
            _ => false,
        }
    }
}

/// Anybody can say that an address is theirs.
fn can_be_believed(claim: &str, claims: &Value) -> bool {
    claim != EMAIL || claims["email_verified"] == Value::Bool(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sign_in() -> SignIn {
        let person = |claim: &str, is: &str, team: Option<&str>, scope| Person {
            claim: claim.to_owned(),
            is: is.to_owned(),
            team: team.map(str::to_owned),
            scopes: vec![scope],
        };
        SignIn {
            issuer: Url::parse("https://login.example.org").unwrap(),
            name: "Example".to_owned(),
            client_id: "agon".to_owned(),
            client_secret: None,
            ask_for: Vec::new(),
            lasts: Duration::from_secs(60),
            people: vec![
                person("sub", "42", None, Scope::Admin),
                person("email", "ann@example.org", Some("red"), Scope::Submit),
                person("groups", "lab", Some("blue"), Scope::Read),
            ],
        }
    }

    #[test]
    fn first_rule_that_fits_says_who_somebody_is() {
        let sign_in = sign_in();
        let holder = |claims: Value| {
            let holder = sign_in.holder(&claims)?;
            Some((holder.name.to_string(), holder.team().map(str::to_owned)))
        };
        let ann = json!({ "sub": "7", "email": "ann@example.org", "email_verified": true,
            "groups": ["lab"] });
        let red = Some("red".to_owned());
        assert_eq!(holder(ann), Some(("ann@example.org".to_owned(), red)));
        let root = json!({ "sub": "42", "groups": ["lab"], "name": "Root" });
        assert_eq!(holder(root), Some(("Root".to_owned(), None)));
        let blue = Some("blue".to_owned());
        for groups in [json!("lab"), json!(["x", "lab"])] {
            let member = json!({ "sub": "8", "groups": groups });
            assert_eq!(holder(member), Some(("8".to_owned(), blue.clone())));
        }
    }

    #[test]
    fn nobody_comes_in_by_what_is_not_verified_or_only_looks_alike() {
        let sign_in = sign_in();
        for claims in [
            json!({ "sub": "7", "email": "ann@example.org" }),
            json!({ "sub": "7", "email": "ann@example.org", "email_verified": false }),
            json!({ "sub": "7", "email": "ann@example.org", "email_verified": "true" }),
            json!({ "sub": "7", "email": "Ann@example.org", "email_verified": true }),
            json!({ "sub": "7", "groups": ["lab "] }),
            json!({ "sub": "7", "groups": { "lab": true } }),
            json!({ "sub": 42 }),
            json!({ "groups": ["lab"] }),
            json!([]),
        ] {
            assert_eq!(sign_in.holder(&claims), None, "{claims}");
        }
    }
}
