//! How costs are summed and shown: the whole text, line by line, and the JSON for
//! programs, in which no digit of a dollar is lost.

use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::TokenUsage;
use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use tonic::service::Routes;

use super::*;
use crate::commands::gateway::address::Address;

fn row(day: &str, team: &str, experiment: &str, model: &str, cost: u64, unpriced: u64) -> CostRow {
    CostRow {
        day: day.to_owned(),
        team: team.to_owned(),
        experiment_id: experiment.to_owned(),
        model: model.to_owned(),
        calls: 2,
        usage: Some(TokenUsage {
            input_tokens: 100,
            output_tokens: 10,
            cached_input_tokens: 5,
            ..TokenUsage::default()
        }),
        cost_nanodollars: cost,
        unpriced_calls: unpriced,
    }
}

fn costs() -> ListCostsResponse {
    ListCostsResponse {
        rows: vec![
            row("2026-11-20", "a", "e", "m", 1_500_000_000, 0),
            row("2026-11-21", "a", "e", "m", 250_000_000, 0),
            row("2026-11-21", "a", "", "n", 0, 2),
            row("2026-11-21", "b", "f", "m", 7, 1),
        ],
        budgets: vec![
            BudgetStatus {
                team: "a".to_owned(),
                budget_nanodollars: Some(10_000_000_000),
                spent_nanodollars: 1_750_000_000,
                reserved_nanodollars: 250_000_000,
                ..BudgetStatus::default()
            },
            BudgetStatus {
                team: "b".to_owned(),
                spent_nanodollars: 7,
                ..BudgetStatus::default()
            },
            BudgetStatus {
                experiment_id: "e".to_owned(),
                budget_nanodollars: Some(1_000_000_000),
                spent_nanodollars: 1_750_000_000,
                ..BudgetStatus::default()
            },
        ],
    }
}

/// Every line without the padding between its columns.
fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn costs_are_summed_by_what_is_asked_for_and_in_total() {
    let by_team = lines(&as_tables(&costs(), &[By::Team]));
    let expected = [
        "team calls input output dollars",
        "a 6 300 30 $1.75 + 2 unpriced",
        "b 2 100 10 $0.000000007 + 1 unpriced",
        "total 8 400 40 $1.75 + 3 unpriced",
        "3 calls had no known price and are not in the dollars",
        "budget of dollars spent reserved left",
        "team a $10.00 $1.75 $0.2500 $8.00",
        "experiment e $1.00 $1.75 $0.00 $0.00",
    ];
    assert_eq!(by_team, expected);

    let by_day = lines(&as_tables(&costs(), &[By::Day, By::Model]));
    let expected = [
        "day / model calls input output dollars",
        "2026-11-20 / m 2 100 10 $1.50",
        "2026-11-21 / m 4 200 20 $0.2500 + 1 unpriced",
        "2026-11-21 / n 2 100 10 no price",
    ];
    assert_eq!(by_day[..4], expected);
    assert!(as_tables(&costs(), &[By::Experiment]).contains("\n -"));
}

#[test]
fn nothing_spent_is_said_in_words() {
    let nothing = ListCostsResponse::default();
    assert_eq!(as_tables(&nothing, &[By::Team]), "nothing was spent\n");
}

#[test]
fn json_has_exact_dollars_as_text() {
    let shown = as_json(&costs(), &[By::Team, By::Model]);
    assert_eq!(shown["rows"][0]["team"], "a");
    assert_eq!(shown["rows"][0]["model"], "m");
    assert_eq!(shown["rows"][0]["dollars"], "1.750000000");
    assert_eq!(shown["total"]["dollars"], "1.750000007");
    assert_eq!(shown["total"]["unpriced_calls"], 3);
    assert_eq!(shown["total"]["cached_input_tokens"], 20);
    assert_eq!(shown["budgets"][0]["left_dollars"], "8.000000000");
    assert_eq!(shown["budgets"][1]["left_dollars"], Value::Null);
    assert_eq!(shown["budgets"][2]["left_dollars"], "0.000000000");
}

#[test]
fn running_gateway_is_asked_and_a_day_that_never_was_is_wrong_input() {
    let folder = tempfile::tempdir().unwrap();
    crate::role::runtime().unwrap().block_on(async {
        let tasks = Tasks::new();
        let store = Store::Embedded(folder.path().join("ledger.db"));
        let gateway = Gateway::open(GatewayConfig::default(), store)
            .await
            .unwrap();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr());
        server::serve(&tasks, "gateway", listener, Routes::new(gateway.service()));
        let ask = async |from: Option<&str>, json| {
            let arguments = Costs {
                address: Address {
                    gateway: url.clone(),
                },
                team: None,
                experiment: None,
                from: from.map(str::to_owned),
                to: None,
                by: vec![By::Team],
                json,
            };
            run(&arguments).await
        };
        assert!(ask(None, false).await.is_ok());
        assert!(ask(Some("2026-11-21"), true).await.is_ok());
        let wrong = ask(Some("2026-02-30"), false).await.unwrap_err();
        assert!(matches!(&wrong, Failure::BadInput(said) if said.contains("is not a day")));
    });
}
