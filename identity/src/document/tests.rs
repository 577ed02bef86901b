//! Tests of teams and tokens: what is valid when, and that a refused change changes nothing.
//! Part of `document.rs`.

use super::*;

fn token(id: &str, team: Option<&str>, scopes: &[Scope]) -> TokenRecord {
    TokenRecord {
        id: id.to_owned(),
        name: "for a test".to_owned(),
        team: team.map(str::to_owned),
        scopes: scopes.to_vec(),
        digest: TokenDigest::of(id).unwrap(),
        created_ms: 1_000,
        expires_ms: Some(2_000),
        revoked_ms: None,
    }
}

#[test]
fn token_is_valid_until_it_expires_or_is_revoked() {
    let mut document = IdentityDocument::default();
    assert!(document.is_empty());
    document
        .create_team("red", TeamRecord::default(), false)
        .unwrap();
    document
        .create_token(token("a", Some("red"), &[Scope::Read]))
        .unwrap();
    assert_eq!(document.tokens[0].state(1_999), TokenState::Valid);
    assert_eq!(document.tokens[0].state(2_000), TokenState::Expired);
    document.revoke_token("a", 1_500).unwrap();
    document.revoke_token("a", 1_700).unwrap();
    assert_eq!(document.tokens[0].revoked_ms, Some(1_500));
    assert_eq!(document.tokens[0].state(1_999), TokenState::Revoked);
    assert_eq!(
        document.revoke_token("b", 1),
        Err(ChangeError::NoToken("b".to_owned()))
    );
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut document = IdentityDocument::default();
    document
        .create_team("red", TeamRecord::default(), false)
        .unwrap();
    let before = document.clone();
    let nobody = document.create_token(token("a", Some("blue"), &[Scope::Read]));
    assert_eq!(nobody, Err(ChangeError::NoTeam("blue".to_owned())));
    let scopes = document.create_token(token("a", Some("red"), &[Scope::Worker]));
    assert_eq!(
        scopes,
        Err(ChangeError::Scopes(ScopeError::OfInstallation(
            Scope::Worker
        )))
    );
    let late = TokenRecord {
        created_ms: 2_000,
        ..token("a", Some("red"), &[Scope::Read])
    };
    assert_eq!(
        document.create_token(late),
        Err(ChangeError::ExpiresInThePast)
    );
    let unnamed = TokenRecord {
        name: "\u{1b}[2J".to_owned(),
        ..token("a", Some("red"), &[Scope::Read])
    };
    assert_eq!(document.create_token(unnamed), Err(ChangeError::TokenName));
    let again = document.create_team("red", TeamRecord::default(), false);
    assert_eq!(again, Err(ChangeError::TeamExists("red".to_owned())));
    assert!(
        document
            .create_team("a b", TeamRecord::default(), false)
            .is_err()
    );
    assert_eq!(document, before);
}

#[test]
fn team_goes_with_its_tokens_or_not_at_all() {
    let limited = TeamRecord {
        sessions: Some(5),
        ..TeamRecord::default()
    };
    let mut document = IdentityDocument::default();
    document.create_team("red", limited.clone(), false).unwrap();
    document
        .create_token(token("a", Some("red"), &[Scope::Submit]))
        .unwrap();
    let refused = document.remove_team("red", false, 1_500);
    assert!(matches!(
        refused,
        Err(ChangeError::HasTokens { tokens: 1, .. })
    ));
    document.remove_team("red", true, 1_500).unwrap();
    assert_eq!(document.tokens[0].state(1_600), TokenState::Revoked);
    assert_eq!(document.present_teams().count(), 0);
    assert_eq!(
        document.teams["red"].sessions,
        Some(5),
        "what it left goes on under its limit"
    );

    // Its experiments may still be there: nobody gets them by chance.
    let by_chance = document.create_team("red", TeamRecord::default(), false);
    assert_eq!(by_chance, Err(ChangeError::TeamRemoved("red".to_owned())));
    let token = document.create_token(token("b", Some("red"), &[Scope::Read]));
    assert_eq!(token, Err(ChangeError::NoTeam("red".to_owned())));
    document.create_team("red", limited, true).unwrap();
    assert_eq!(document.present_teams().count(), 1);
}
