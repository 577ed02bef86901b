//! Claims about invitations: who gets a seat, who does not and why, and that secrets are kept as
//! digests. The clock is a number.

use super::{Book, ClaimError, Claimed};

/// An invitation to the door `ann` that is good until 1,000.
fn invited() -> (Book, String, String) {
    let mut book = Book::default();
    let (id, link) = book.invite("x", "ann", 1_000).unwrap();
    (book, id, link)
}

fn claim(book: &mut Book, id: &str, link: &str) -> Claimed {
    book.claim(id, link, &[], 1).unwrap()
}

#[test]
fn links_open_their_own_seat_once_and_nothing_else() {
    let (mut book, id, link) = invited();
    let (other, other_link) = book.invite("x", "bob", 1_000).unwrap();
    let secret = link.split_once('.').unwrap().1.to_owned();
    let stolen = [
        (String::new(), "nothing"),
        (id.clone(), "the name alone"),
        (secret.clone(), "the secret alone"),
        (format!("{id}.{}", &secret[1..]), "a part of the secret"),
        (format!("{id}.{secret}0"), "more than the secret"),
        (other_link.clone(), "the link of another seat"),
        (format!("{other}.{secret}"), "another seat's name"),
        (format!("{id}{secret}"), "no joint"),
    ];
    for (shown, what) in stolen {
        let refused = book.claim(&id, &shown, &[], 1);
        assert_eq!(refused, Err(ClaimError::Unknown), "{what}");
    }
    let claimed = claim(&mut book, &id, &link);
    assert!(claimed.pseudonym.starts_with("person-"));
    let reused = book.claim(&id, &link, &[], 2);
    assert_eq!(reused, Err(ClaimError::Taken));
    let guessed = book.claim(&id, &link, &["0".to_owned()], 2);
    assert_eq!(guessed, Err(ClaimError::Taken));
    // With its cookie the same browser returns, as the same person.
    let cookie = claimed.cookie.unwrap();
    let again = book
        .claim(&id, &link, std::slice::from_ref(&cookie), 3)
        .unwrap();
    assert_eq!((again.cookie, again.pseudonym), (None, claimed.pseudonym));
    // The cookie is that of this seat alone.
    assert!(book.admit(&id, std::slice::from_ref(&cookie), 3).is_some());
    claim(&mut book, &other, &other_link);
    assert!(book.admit(&other, &[cookie], 3).is_none());
    assert!(book.admit(&id, &[], 3).is_none());
    assert!(book.admit(&id, &[secret, link], 3).is_none());
}

#[test]
fn what_is_over_or_taken_back_opens_nothing_and_says_so() {
    let (mut book, id, link) = invited();
    assert_eq!(book.claim(&id, &link, &[], 1_000), Err(ClaimError::Expired));
    let cookie = claim(&mut book, &id, &link).cookie.unwrap();
    let shown = [cookie];
    assert!(book.admit(&id, &shown, 999).is_some());
    assert!(book.admit(&id, &shown, 1_000).is_none());
    assert!(book.revoke(&id));
    assert!(book.admit(&id, &shown, 2).is_none());
    assert_eq!(book.claim(&id, &link, &shown, 2), Err(ClaimError::Revoked));
    assert!(!book.revoke("00000000"));
}

#[test]
fn seat_that_was_left_goes_to_whoever_comes_first_and_never_to_two() {
    let (mut book, id, link) = invited();
    let first = claim(&mut book, &id, &link);
    let cookie = [first.cookie.unwrap()];
    book.claim_mut(&id).unwrap().left = true;
    // Who left is known still, and comes back.
    assert!(book.admit(&id, &cookie, 2).is_some());
    book.come_back(&id, 2).unwrap();
    assert_eq!(book.claim(&id, &link, &[], 2), Err(ClaimError::Taken));
    // Somebody else takes it: another person, and the first one has no seat any more.
    book.claim_mut(&id).unwrap().left = true;
    let second = claim(&mut book, &id, &link);
    assert_ne!(second.pseudonym, first.pseudonym);
    assert!(book.admit(&id, &cookie, 3).is_none());
    let refused = book.claim(&id, &link, &cookie, 3);
    assert_eq!(refused, Err(ClaimError::Taken));
}

#[test]
fn two_invitations_to_one_door_seat_one_person() {
    let (mut book, id, link) = invited();
    let (newer, newer_link) = book.invite("x", "ann", 1_000).unwrap();
    let (elsewhere, elsewhere_link) = book.invite("y", "ann", 1_000).unwrap();
    let cookie = [claim(&mut book, &id, &link).cookie.unwrap()];
    let refused = book.claim(&newer, &newer_link, &[], 2);
    assert_eq!(refused, Err(ClaimError::Taken));
    // The same door of another experiment is another seat.
    claim(&mut book, &elsewhere, &elsewhere_link);
    let sits = |book: &Book| {
        let seats = book.seats("x", 2);
        seats.iter().map(|seat| seat.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(sits(&book).join(" "), id);
    book.claim_mut(&id).unwrap().left = true;
    claim(&mut book, &newer, &newer_link);
    assert_eq!(sits(&book).join(" "), newer);
    let refused = book.claim(&id, &link, &cookie, 3);
    assert_eq!(refused, Err(ClaimError::Taken));
    assert_eq!(book.come_back(&id, 3), Err(ClaimError::Taken));
    // Once the other one is withdrawn, the first may come back.
    assert!(book.revoke(&newer));
    assert!(book.claim(&id, &link, &cookie, 4).is_ok());
}

#[test]
fn secrets_and_cookies_are_kept_as_digests() {
    let (mut book, id, link) = invited();
    let cookie = claim(&mut book, &id, &link).cookie.unwrap();
    let kept = serde_json::to_string(&book).unwrap();
    let secret = link.split_once('.').unwrap().1;
    assert!(!kept.contains(secret) && !kept.contains(&cookie), "{kept}");
    let read: Book = serde_json::from_str(&kept).unwrap();
    assert!(read.admit(&id, &[cookie], 2).is_some());
}

#[test]
fn no_two_people_have_one_pseudonym() {
    let mut book = Book::default();
    let mut names = std::collections::BTreeSet::new();
    for door in 0..2_000 {
        let (id, link) = book.invite("x", &door.to_string(), 1_000).unwrap();
        assert!(names.insert(claim(&mut book, &id, &link).pseudonym));
    }
}
