//! How the status looks: the whole text, line by line, and that nothing makes it
//! wider than a terminal.

use super::*;

fn status() -> GetGatewayStatusResponse {
    let limit = |name: &str, limit, used, lowered_by_provider| LimitStatus {
        name: name.to_owned(),
        limit,
        used,
        lowered_by_provider,
    };
    GetGatewayStatusResponse {
        decided: 12_345,
        answered_from_ledger: 67,
        waiting_for_quota: 1_000,
        in_flight: 12,
        cost_nanodollars: 12_340_000_000,
        configuration_fault: "agon.toml:3:1: unknown field `limit`".to_owned(),
        teams: vec![TeamStatus {
            team: "red".to_owned(),
            weight: 3.0,
            waiting: 988,
            in_flight: 12,
            decided: 12_345,
            refused_by_provider: 2,
            longest_wait_ms: 1_234,
            spent_nanodollars: 12_340_000_000,
            reserved_nanodollars: 500_000,
            budget_nanodollars: Some(100_000_000_000),
        }],
        keys: vec![
            KeyStatus {
                provider: "openai".to_owned(),
                source: "env OPENAI_API_KEY".to_owned(),
                account: "lab".to_owned(),
                in_flight: 12,
                calls: 12_400,
                refused_by_provider: 2,
                failed: 1,
                limits: vec![limit("requests/min", 500, 480, false)],
                errors: [("timeout".to_owned(), 1), ("429".to_owned(), 2)].into(),
                last_error: "rate limit reached".to_owned(),
                ..KeyStatus::default()
            },
            KeyStatus {
                provider: "openai".to_owned(),
                source: "env OPENAI_API_KEY".to_owned(),
                model: "gpt-4o".to_owned(),
                held_for_ms: 3_200,
                circuit: "half-open".to_owned(),
                adaptive_places: 12,
                limits: vec![limit("input tokens/min", 60_000, 51_200, true)],
                ..KeyStatus::default()
            },
        ],
        ..GetGatewayStatusResponse::default()
    }
}

#[test]
fn everything_is_shown_in_order() {
    let expected = "\
decided 12,345, 67 more from the ledger, 1,000 waiting, 12 at providers, $12.34
the configuration on disk is NOT in use:
  agon.toml:3:1: unknown field `limit`

team           weight  waiting  longest  calling   decided  refused       spent
red                 3      988    1.2 s       12    12,345        2      $12.34
  of its budget of $100.00: $12.34 spent, $0.000500 reserved for calls under way

openai: key from env OPENAI_API_KEY
  shares the limits of account lab
  12 calling, 12,400 calls, 2 refused, 1 failed
  requests/min              480 of         500   96 %
  errors: 429 2, timeout 1
  last error: rate limit reached
  model gpt-4o: held for 3.2 s, circuit half-open, 12 places
    input tokens/min       51,200 of      60,000   85 %  lowered by provider";
    let shown = of(&status());
    assert_eq!(shown, expected, "{shown}");
}

#[test]
fn whoever_is_not_told_where_keys_come_from_reads_no_half_sentence() {
    let mut status = status();
    for key in &mut status.keys {
        key.source = String::new();
    }
    let shown = of(&status);
    assert!(
        shown.contains("\nopenai\n") && !shown.contains("key from"),
        "{shown}"
    );
}

#[test]
fn no_line_is_wider_than_80_columns() {
    let mut status = status();
    let long = "word ".repeat(60);
    status.configuration_fault = long.clone();
    status.teams[0].team = long.clone();
    for key in &mut status.keys {
        key.source = format!("file /{long}");
        key.last_error = long.clone();
        key.quarantine_reason = long.clone();
    }
    status.keys[1].model = long;
    for line in of(&status).lines() {
        assert!(line.chars().count() <= WIDTH, "{line}");
    }
}
