//! The status update of a `harbor` bidder: when it is asked for, what is put right, and
//! that the auction is the same with it and without.

use super::*;

/// How the auction stands after so many houses, when this bidder bought each for 100 of
/// its 1000 and a rival none.
fn status(over: usize, profit: i64) -> String {
    let names = [
        "City Loft",
        "Garden Cottage",
        "Farm",
        "City Flat",
        "Garden Villa",
        "Farmstead",
    ];
    let won = names[..over].iter();
    let won: Vec<Value> = won
        .map(|name| json!({ "item": name, "bid": 100 }))
        .collect();
    json!({
        "summary": "s", "remaining_budget": 1000 - 100 * over,
        "total_profits": { "player_0": profit, "player_1": 0 },
        "winning_bids": { "player_0": won, "player_1": [] },
    })
    .to_string()
}

/// Buys every house for the least that it takes, and takes stock as `stock` says: of how
/// many houses are over, and for which time it is asked.
fn played(settings: Value, stock: impl Fn(usize, bool) -> String + Sync) -> Played {
    let over = Mutex::new(0);
    let answer = |thought: &Thought| match thought.purpose {
        "belief" => {
            let again = thought.messages.len() > 2;
            let mut over = over.lock().unwrap();
            *over += usize::from(!again);
            stock(*over, again)
        }
        "bid" => least_bid(asked(thought)),
        _ => reader(thought),
    };
    let rival = wants("nothing", 0);
    auction(
        &with(settings, world(&["city"])),
        &params(),
        &[&rival],
        &answer,
    )
}

#[test]
fn stock_is_taken_after_every_house_before_profiles_and_plans() {
    let right = |over: usize, _: bool| status(over, 200 * over as i64);
    let played = played(json!({ "beliefs": true, "profile": true }), right);
    let after: Vec<&str> = played.purposes();
    let after: Vec<&str> = after
        .into_iter()
        .filter(|purpose| *purpose != "bid")
        .collect();
    let mut expected = vec!["plan"];
    for place in 0..6 {
        expected.extend(["belief", "profile"]);
        expected.extend((place < 5).then_some("replan"));
    }
    assert_eq!(after, expected);
    let beliefs = played.of("belief");
    assert_eq!(beliefs.len(), 6);
    for (place, belief) in beliefs.iter().enumerate() {
        assert_eq!(belief["after_item"], place);
        assert_eq!(
            (&belief["checked"], &belief["wrong"]),
            (&json!(5), &json!(0))
        );
        assert_eq!(belief["source"], "model");
        assert_eq!(belief["believed"], belief["truth"]);
    }
    let first = asked(played.thoughts("belief")[0]);
    assert!(
        first.contains("You bought it for $100; its true value is $300."),
        "{first}"
    );
    assert!(
        first.contains("the money that is left of your $1000"),
        "{first}"
    );
    // The price is in the sale's own rounds.
    assert!(first.contains("player_0 bid $100."), "{first}");
}

#[test]
fn the_prompt_of_a_belief_holds_all_that_the_belief_must_state() {
    // This bidder remembers nothing: what it states, it works out from the one prompt.
    let answer = |thought: &Thought| match thought.purpose {
        "belief" => worked_out(asked(thought)),
        "bid" => least_bid(asked(thought)),
        _ => reader(thought),
    };
    let rival = wants("Farm", 150);
    let settings = with(json!({ "beliefs": true }), world(&["city"]));
    let played = auction(&settings, &params(), &[&rival], &answer);
    let beliefs = played.of("belief");
    assert_eq!(beliefs.len(), 6);
    for belief in beliefs {
        assert_eq!(belief["wrong"], 0, "{belief}");
        assert_eq!(belief["tries"], 1);
    }
}

/// A belief from the notes of before and the sale that is over, and from nothing else.
fn worked_out(asked: &str) -> String {
    let between = |text: &str, start: &str, end: &str| -> Option<String> {
        let (_, rest) = text.split_once(start)?;
        Some(rest.split_once(end)?.0.to_owned())
    };
    let amount = |text: &str| text.replace('$', "").parse::<i64>().unwrap();
    let mut budget = amount(&between(asked, "remaining budget was ", ".").unwrap());
    let house = between(asked, "The sale of ", " is over").unwrap();
    let (mut profits, mut wins) = (Map::new(), Map::new());
    for (name, said) in [("player_0", "- You had"), ("player_1", "- player_1 had")] {
        let line = asked.lines().find(|line| line.starts_with(said)).unwrap();
        let mut profit = amount(&between(line, "total profit of ", " and").unwrap());
        let bought = between(line, "had bought ", ".").unwrap();
        let mut won: Vec<Value> = bought
            .split(", ")
            .filter_map(|one| one.split_once(" for "))
            .map(|(item, price)| json!({ "item": item, "bid": amount(price) }))
            .collect();
        let buyer = if name == "player_0" { "You" } else { name };
        let sold = asked
            .lines()
            .find(|line| line.starts_with(&format!("{buyer} bought it for ")));
        if let Some(sold) = sold {
            let price = amount(&between(sold, "bought it for ", ";").unwrap());
            profit += amount(&between(sold, "true value is ", ".").unwrap()) - price;
            won.push(json!({ "item": house, "bid": price }));
            budget -= if name == "player_0" { price } else { 0 };
        }
        profits.insert(name.to_owned(), json!(profit));
        wins.insert(name.to_owned(), json!(won));
    }
    json!({
        "summary": "s", "remaining_budget": budget,
        "total_profits": profits, "winning_bids": wins,
    })
    .to_string()
}

#[test]
fn what_is_wrong_is_listed_and_put_right_by_the_bidder_or_by_the_auctioneer() {
    // A wrong profit at first, the right one when asked again.
    let second = |over: usize, again: bool| {
        let profit = 200 * over as i64;
        status(over, if again { profit } else { profit + 1 })
    };
    let mended = played(json!({ "beliefs": true }), second);
    let beliefs = mended.of("belief");
    assert!(
        beliefs
            .iter()
            .all(|one| one["wrong"] == 1 && one["tries"] == 2)
    );
    assert!(
        beliefs
            .iter()
            .all(|one| one["corrected"] == true && one["source"] == "model")
    );
    let again = mended.thoughts("belief");
    let again = again.iter().find(|one| one.messages.len() > 2).unwrap();
    let listed = "- the total profit of player_0 is 200, not 201";
    assert!(asked(again).contains(listed), "{}", asked(again));

    let never = played(json!({ "beliefs": true, "tries": 2 }), |_, _| {
        "Hm.".to_owned()
    });
    let beliefs = never.of("belief");
    assert!(
        beliefs
            .iter()
            .all(|one| one["source"] == "auctioneer" && one["checked"] == 0)
    );
    assert!(
        beliefs
            .iter()
            .all(|one| one["errors"].as_array().unwrap().len() == 2)
    );
    assert_eq!(beliefs[5]["truth"]["remaining_budget"], 400);
}

#[test]
fn the_auction_is_the_same_without_it_and_nothing_is_asked() {
    let wrong = |_: usize, _: bool| "{}".to_owned();
    let with = played(json!({ "beliefs": true }), wrong);
    let without = played(json!({}), wrong);
    assert!(without.of("belief").is_empty() && without.thoughts("belief").is_empty());
    let others = |played: &Played| -> Vec<Vec<String>> {
        let kept = played.thoughts.iter().filter(|one| one.purpose != "belief");
        let said = kept.map(|one| one.messages.iter().map(|said| said.content.to_string()));
        said.map(Iterator::collect).collect()
    };
    assert_eq!(others(&with), others(&without));
    assert_eq!(with.sales, without.sales);
}
