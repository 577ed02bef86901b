//! Secrets are found however they are written, wherever they stand, and what is no secret stays as
//! it is.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::*;

/// Long, odd, and with characters that encodings change.
const SECRET: &str = "q7/Zp+w.v9X-k2_M~51uh>";

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn json(text: &str) -> String {
    text.chars()
        .map(|letter| format!("\\u{:04x}", u32::from(letter)))
        .collect()
}

fn html(text: &str) -> String {
    text.chars()
        .map(|letter| format!("&#{};", u32::from(letter)))
        .collect()
}

/// In hexadecimal, byte by byte.
fn in_pairs(separator: &str) -> String {
    let bytes = SECRET.bytes().map(|byte| format!("{byte:02x}"));
    bytes.collect::<Vec<_>>().join(separator)
}

/// In parts of five characters.
fn split(text: &str, separator: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let parts = letters
        .chunks(5)
        .map(|part| part.iter().collect::<String>());
    parts.collect::<Vec<_>>().join(separator)
}

/// A text that holds the secret, and how it must look.
#[test]
fn a_secret_is_found_in_every_form_and_the_rest_stays() {
    keep(SECRET);
    let some = SECRET
        .replace('/', "%2f")
        .replace('+', "%2B")
        .replace('>', "%3e");
    for form in [
        SECRET.to_owned(),
        hex(SECRET),
        hex(SECRET).to_uppercase(),
        percent(SECRET),
        percent(SECRET).to_lowercase(),
        percent(SECRET).replace('%', "%25"),
        percent(SECRET).replace('%', "%2525"),
        some,
        json(SECRET),
        json(SECRET).to_uppercase().replace("\\U", "\\u"),
        json(SECRET).replace('\\', "\\\\"),
        json(SECRET).replace('\\', "\\\\\\\\"),
        SECRET.replace('/', "\\/"),
        SECRET.replace('>', "\\u003e"),
        html(SECRET),
        html(SECRET).replace("&#", "&#00"),
        SECRET
            .chars()
            .map(|letter| format!("&#x{:X};", u32::from(letter)))
            .collect(),
        SECRET.replace('>', "&gt;"),
        json(&percent(SECRET)[..]).replace("\\u0025", "%"),
        html(SECRET).replace(';', ""),
        html(SECRET).replace("&#", "&#000000000000"),
        SECRET
            .replace('/', "&sol;")
            .replace('+', "&plus;")
            .replace('.', "&period;"),
        json(SECRET).replace("\\u00", "\\x"),
        json(SECRET).replace("\\u", "\\U0000"),
        SECRET
            .chars()
            .map(|letter| format!("\\u{{{:x}}}", u32::from(letter)))
            .collect(),
        SECRET
            .chars()
            .map(|letter| format!("\\{:03o}", u32::from(letter)))
            .collect(),
        percent(SECRET).replace('%', "%25252525"),
        in_pairs(":"),
        in_pairs(" "),
        in_pairs(" 0x"),
        split(SECRET, "\n"),
        split(SECRET, "\u{200b}"),
        split(SECRET, "\\n"),
        split(SECRET, " \r\n "),
        split(&hex(SECRET), "\n"),
    ] {
        for (before, after) in [
            ("", ""),
            ("key ", " was wrong"),
            ("{\"a\":\"\\n", "\"}"),
            ("é", "ü"),
        ] {
            let text = format!("{before}{form}{after}");
            let clean = format!("{before}{INSTEAD}{after}");
            assert_eq!(without(&text), clean, "{form}");
            assert_eq!(
                without_in_bytes(text.as_bytes()),
                clean.as_bytes(),
                "{form}"
            );
            let twice = format!("{text} / {text}");
            assert_eq!(without(&twice), format!("{clean} / {clean}"), "{form}");
        }
    }
}

/// In Base64 the neighbours decide how a secret looks.
#[test]
fn a_secret_is_found_in_base64_wherever_it_begins() {
    keep(SECRET);
    for before in ["", "a", "me:", "Bearer ", "user:"] {
        for after in ["", "\n", "==", "more of it"] {
            for alphabet in [STANDARD, URL_SAFE] {
                let encoded = alphabet.encode(format!("{before}{SECRET}{after}"));
                let clean = without(&encoded).into_owned();
                assert!(clean.contains(INSTEAD), "{before}+{after}: {clean}");
                // What is left was made of the neighbours: no window of the secret's own text.
                let own = alphabet.encode(SECRET);
                let longest = (0..own.len() - 4).find(|at| clean.contains(&own[*at..at + 4]));
                assert_eq!(longest, None, "{clean}");
            }
        }
    }
}

/// Of what is encoded twice, a few characters at the border may stay.
#[test]
fn a_secret_is_found_when_it_is_encoded_twice() {
    keep(SECRET);
    let in_base64 = |text: &str| STANDARD.encode(text);
    let in_url_base64 = |text: &str| URL_SAFE.encode(text);
    let upper = |text: &str| hex(text).to_uppercase();
    let encodings: [&dyn Fn(&str) -> String; 4] = [&in_base64, &in_url_base64, &hex, &upper];
    for inner in encodings {
        for outer in encodings {
            for before in ["", "a", "me:", "Bearer "] {
                let once = inner(&format!("{before}{SECRET} and more"));
                let twice = outer(&format!("{before}{once}"));
                let clean = without(&twice).into_owned();
                assert!(clean.contains(INSTEAD), "{twice}: {clean}");
                let own = outer(&inner(SECRET));
                let left = (0..own.len() - 8).find(|at| clean.contains(&own[*at..at + 8]));
                assert_eq!(left, None, "{twice}: {clean}");
            }
        }
    }
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    keep("short");
    keep("   ");
    let unlike = [
        "",
        "short",
        "EMPTY",
        "100 % of %zz \\u12 & &#; &amp; \\",
        "ünï ☃ \\ud83d\\ude00",
    ];
    for text in unlike {
        assert_eq!(without(text), text);
        assert!(matches!(without(text), Cow::Borrowed(_)));
    }
    assert_eq!(without_in_bytes(b"\xff\xfe%\xff"), &b"\xff\xfe%\xff"[..]);
}

#[test]
fn secrets_within_and_beside_each_other_are_all_replaced() {
    keep("inner-secret-1");
    keep("outer-inner-secret-1-outer");
    keep("secret-1-outer-and-more");
    assert_eq!(without("<outer-inner-secret-1-outer>"), "<[key]>");
    assert_eq!(without("<inner-secret-1inner-secret-1>"), "<[key][key]>");
    let clean = without("<outer-inner-secret-1-outer-and-more>").into_owned();
    assert!(!clean.contains("secret"), "{clean}");
}

#[test]
fn addresses_give_away_no_password() {
    for (address, shown, password) in [
        (
            "redis://me:pass-word-1@host:6379/1?x=y",
            "redis://host:6379/1",
            "pass-word-1",
        ),
        ("redis://:pa#ss?wo/rd2@host", "redis://host", "pa#ss?wo/rd2"),
        (
            "redis://:p%40ssw%23rd3@host/0",
            "redis://host/0",
            "p@ssw#rd3",
        ),
        (
            "redis://u:with@at-sign4@host",
            "redis://host",
            "with@at-sign4",
        ),
        ("me:no-scheme-5@host", "host", "no-scheme-5"),
        (
            "https://user-alone-6@proxy:80",
            "https://proxy:80",
            "user-alone-6",
        ),
        ("redis://host", "redis://host", ""),
        (
            "redis://[::1]:1,two:2/main",
            "redis://[::1]:1,two:2/main",
            "",
        ),
        ("redis+unix:///run/redis", "redis+unix:///run/redis", ""),
        // A password where the host or the port belongs: nothing marks it as one.
        ("rediss://:no-host-9", "rediss://[no address]", ""),
        ("redis://me:no-host-10/0", "redis://[no address]", ""),
        ("redis://:p,w-11", "redis://[no address]", ""),
        ("me:s@cret-8-8@host", "host", "s@cret-8-8"),
        ("redis://host/0?password=query-7", "redis://host/0", ""),
    ] {
        assert_eq!(keep_address(address), shown);
        let told = format!("cannot reach {address}");
        assert!(
            password.is_empty() || !without(&told).contains(password),
            "{told}"
        );
        assert!(password.is_empty() || !without(password).contains(password));
    }
}

#[test]
fn what_looks_like_a_key_is_replaced_and_words_are_not() {
    keep("gsk_owned");
    for (text, clean) in [
        ("wrong gsk_owned, gsk_owned", "wrong [key], [key]"),
        ("key: sk-proj-Ab12_x.", "key: [key]."),
        (r#"{"m":"\nsk-0123456789"}"#, r#"{"m":"\n[key]"}"#),
        ("sk-ab*******yz", "[key]"),
        ("'sk-012345678901', sk-short", "'[key]', sk-short"),
        ("risk-assessment-failed", "risk-assessment-failed"),
        ("größe sk-", "größe sk-"),
        ("AIzaSy0123456789, gsk_0123456789ab", "[key], [key]"),
        ("AIza gsk_short", "AIza gsk_short"),
        (
            "token agon_0123abcd_0123456789abcdef0123456789abcdef0123456789abcdef.",
            "token [key].",
        ),
        (
            "value = 'agon_0123abcd_0123456789abcdef'",
            "value = '[key]'",
        ),
        ("agon_0123abcd_unknown", "agon_0123abcd_unknown"),
        ("agon_callers_refused_total", "agon_callers_refused_total"),
        ("", ""),
    ] {
        assert_eq!(without_what_looks_like_keys(text), clean);
    }
}

#[test]
fn secret_in_two_parts_is_noticed_and_whole_ones_and_neighbours_are_not() {
    let secret = "two-parts-of-9Kx2vQ7";
    keep(secret);
    for (first, second, is_split) in [
        ("it is two-parts-", "of-9Kx2vQ7", true),
        ("t", "wo-parts-of-9Kx2vQ7 he said", true),
        ("two-parts-of-9Kx2vQ7", " he said", false),
        ("", "two-parts-of-9Kx2vQ7", false),
        ("two-parts-", "of-9Kx2vQ8", false),
        ("", "", false),
    ] {
        assert_eq!(is_split_over(first, second), is_split, "{first} | {second}");
    }
    let hex = hex(secret);
    let (first, second) = hex.split_at(11);
    assert!(is_split_over(
        &format!("{}{first}", "\u{e9}".repeat(9_000)),
        second
    ));
}

#[test]
fn secrets_of_arguments_are_kept_and_places_of_secrets_are_not() {
    for (argument, secret) in [
        ("api_key=argued-1-Xk29vQ", "argued-1-Xk29vQ"),
        ("--set=players.a.token=argued-2-Xk29vQ", "argued-2-Xk29vQ"),
        ("http://host/?token=argued-3-Xk29vQ&x=y", "argued-3-Xk29vQ"),
        ("s3://me:argued-4-Xk29vQ@bucket/x", "argued-4-Xk29vQ"),
    ] {
        keep_argument(argument);
        assert_eq!(without(secret), INSTEAD, "{argument}");
    }
    for (argument, place) in [
        ("--key-env=ARGUED_MODEL_KEY", "ARGUED_MODEL_KEY"),
        ("--token-file=argued/token.txt", "argued/token.txt"),
        ("--tls-key=argued-server.pem", "argued-server.pem"),
        ("players.subject.model=argued-model", "argued-model"),
        ("model.max_output_tokens=12345678", "12345678"),
    ] {
        keep_argument(argument);
        assert_eq!(without(place), place, "{argument}");
    }
}
