//! What a call may cost at most, what it did, and what is refused without a
//! price: the arithmetic of budgets without a store.

use super::*;
use crate::config::GatewayConfig;
use crate::decision::{Message, ReplyFormat, Role};

fn model(price: &str) -> ResolvedModel {
    let text = format!(
        "[providers.p]\nbase_url = 'http://h/v1'\n[models.m]\nprovider = 'p'\nmax_output_tokens = 100\n{price}"
    );
    let config = GatewayConfig::parse("test.toml", &text).unwrap();
    config.resolve("m").unwrap()
}

const PRICE: &str = "price = { input_per_million_dollars = '1', cache_write_per_million_dollars = \
                     '2', output_per_million_dollars = '10' }";

fn request(content: &str) -> Request {
    Request {
        model: "m".into(),
        messages: vec![Message {
            role: Role::User,
            content: content.into(),
        }],
        ..Request::default()
    }
}

fn payer(team: Option<u64>, experiment: Option<u64>) -> Payer {
    Payer {
        team: "t".to_owned(),
        experiment: "e".to_owned(),
        budgets: BudgetCaps {
            team: team.map(NanoDollars),
            experiment: experiment.map(NanoDollars),
        },
    }
}

#[test]
fn most_is_a_token_for_every_byte_at_the_dearest_price() {
    let quote = Quote::new(&payer(Some(1), None), &model(PRICE), &request("\u{1F600}a")).unwrap();
    // 5 bytes + 16 + 64 at two dollars a million, 100 at ten.
    assert_eq!(quote.most, NanoDollars(85 * 2_000 + 100 * 10_000));

    let mut formatted = request("");
    formatted.max_output_tokens = Some(1);
    formatted.reply_format = Some(ReplyFormat {
        name: "n".into(),
        json_schema: "{}".into(),
    });
    let quote = Quote::new(&payer(None, None), &model(PRICE), &formatted).unwrap();
    assert_eq!(
        quote.most,
        NanoDollars((16 + 64 + 1_024 + 3) * 2_000 + 10_000)
    );
}

#[test]
fn unknown_price_is_refused_under_any_budget_and_only_there() {
    let unpriced = model("");
    for budgets in [payer(Some(1), None), payer(None, Some(1))] {
        let refusal = Quote::new(&budgets, &unpriced, &request("x")).unwrap_err();
        let said = refusal.to_string();
        assert!(said.contains("model m has no known price"), "{said}");
        assert!(said.contains("under [models.\"m\"]"), "{said}");
    }
    let quote = Quote::new(&payer(None, None), &unpriced, &request("x")).unwrap();
    assert_eq!((quote.most, quote.price), (NanoDollars(0), None));
    // An experiment without a name has no account, so its budget binds nobody.
    let mut nameless = payer(None, Some(1));
    nameless.experiment.clear();
    assert!(Quote::new(&nameless, &unpriced, &request("x")).is_ok());
}

#[test]
fn decision_costs_what_all_its_calls_cost_if_that_is_known() {
    let payment = |price| Payment {
        attempt: CallId {
            owner: "o".to_owned(),
            number: 0,
        },
        quote: Quote::new(&payer(None, None), &model(price), &request("")).unwrap(),
        held: false,
    };
    let used = Usage {
        input_tokens: 3,
        output_tokens: 2,
        ..Usage::default()
    };
    let priced = payment(PRICE);
    let cost = DecisionCost::default();
    assert_eq!(cost.sum(), Some(NanoDollars(0)));
    for used in [
        BilledUsage::Nothing,
        BilledUsage::Known(used),
        BilledUsage::Unknown,
    ] {
        cost.add(priced.cost(used));
    }
    // 3 x 1000 + 2 x 10000, then 80 x 2000 + 100 x 10000.
    assert_eq!(cost.sum(), Some(NanoDollars(23_000 + 1_160_000)));
    cost.add(payment("").cost(BilledUsage::Known(used)));
    assert_eq!(cost.sum(), None);
    assert!(priced.bill(BilledUsage::Nothing).is_none());
    assert_eq!(
        priced
            .bill(BilledUsage::Unknown)
            .unwrap()
            .usage
            .input_tokens,
        80
    );
}
