//! The bounded conversation: what a model is told again, and what it forgets first.
//! Rounds are made up; no game and no model takes part.

use super::*;

fn remember(memory: &mut Memory, round: u32) {
    memory.close(format!("Round {round}?"), Some(format!("answer {round}")));
    memory.add_news(format!("result {round}"));
}

fn contents(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| &*message.content).collect()
}

#[test]
fn the_past_is_told_in_turns() {
    let mut memory = Memory::new(1_000, WhenFull::Forget);
    memory.set_rules("rules".into());
    remember(&mut memory, 1);
    remember(&mut memory, 2);
    let messages = memory.conversation(Put::plain("Round 3: choose."));
    let expected = [
        "rules",
        "Round 1?",
        "answer 1",
        "result 1\nRound 2?",
        "answer 2",
        "result 2\nRound 3: choose.",
    ];
    assert_eq!(contents(&messages), expected);
}

#[test]
fn the_oldest_exchange_is_forgotten_first() {
    let mut memory = Memory::new(20, WhenFull::Forget);
    memory.set_rules("rules".into());
    for round in 1..=9 {
        remember(&mut memory, round);
    }
    let messages = memory.conversation(Put::plain("Round 10?"));
    let expected = [
        "rules",
        "result 8\nRound 9?",
        "answer 9",
        "result 9\nRound 10?",
    ];
    assert_eq!(contents(&messages), expected);
    assert!(messages.iter().map(Message::tokens).sum::<usize>() <= 20);
}

#[test]
fn rules_and_ask_stay_whatever_the_bound() {
    let mut memory = Memory::new(1, WhenFull::Forget);
    memory.set_rules("rules".into());
    remember(&mut memory, 1);
    let messages = memory.conversation(Put::plain("choose"));
    assert_eq!(contents(&messages), ["rules", "choose"]);
}

/// What is left of a conversation of past, news, advice, ask and a refused answer, in a
/// memory of so many tokens.
fn squeezed(bound: u32) -> Vec<String> {
    let mut memory = Memory::new(bound, WhenFull::Forget);
    memory.set_rules("the rules of it".into());
    for round in 1..=2 {
        remember(&mut memory, round);
    }
    let later = Later::new(&"so I say again: 7. ".repeat(30), 1_000, "That is wrong.");
    let messages = memory.conversation(Put {
        advice: Some("Think of the others."),
        ask: "Round 3: choose.",
        later: Some(&later),
    });
    let length: usize = messages.iter().map(Message::tokens).sum();
    let least = "the rules of it".len() + "Round 3: choose.\nThat is wrong.".len();
    assert!(length <= (bound as usize).max(least.div_ceil(LETTERS_PER_TOKEN)));
    let told = contents(&messages).into_iter();
    told.map(str::to_owned).collect()
}

#[test]
fn what_has_no_room_goes_in_order_down_to_rules_and_ask() {
    let said = "so I say again: 7. ".repeat(30);
    let said = said.trim();
    let newest = "result 2\nThink of the others.\nRound 3: choose.";
    let whole = [
        "the rules of it",
        "Round 1?",
        "answer 1",
        "result 1\nRound 2?",
        "answer 2",
        newest,
        said,
        "That is wrong.",
    ];
    assert_eq!(squeezed(1_000), whole);
    let without_past = ["the rules of it", newest, said, "That is wrong."];
    assert_eq!(squeezed(165), without_past);
    let advised = "Think of the others.\nRound 3: choose.";
    assert_eq!(squeezed(161)[1], advised);
    assert_eq!(squeezed(155)[1], "Round 3: choose.");
    // Less of the answer is shown, and in the end nothing.
    let shorter = squeezed(60);
    assert_eq!(shorter.len(), 4);
    assert!(said.ends_with(&shorter[2]) && shorter[2].len() < said.len());
    let least = ["the rules of it", "Round 3: choose.\nThat is wrong."];
    for bound in [20, 12, 1] {
        assert_eq!(squeezed(bound), least);
    }
}

#[test]
fn an_ask_without_an_answer_is_part_of_the_news() {
    let mut memory = Memory::new(1_000, WhenFull::Forget);
    memory.close("Round 1? You gave no valid answer.".to_owned(), None);
    memory.add_news("result 1".to_owned());
    let messages = memory.conversation(Put::plain("Round 2?"));
    let told = "Round 1? You gave no valid answer.\nresult 1\nRound 2?";
    assert_eq!(contents(&messages), [told]);
}

#[test]
fn tokens_are_letters_by_four_rounded_up() {
    assert_eq!(Message::new(Role::User, "").tokens(), 0);
    assert_eq!(Message::new(Role::User, "abcde").tokens(), 2);
    assert_eq!(Message::new(Role::User, "éééé").tokens(), 1);
}

#[test]
fn rounds_without_an_answer_are_forgotten_when_their_time_comes() {
    let mut memory = Memory::new(1_000, WhenFull::Forget);
    memory.set_rules("rules".into());
    memory.remember_rounds(3);
    for round in 1..=6 {
        memory.enter_round(round);
        let answer = (round > 2).then(|| format!("answer {round}"));
        memory.close(format!("Round {round}?"), answer);
        memory.add_news(format!("result {round}"));
    }
    memory.enter_round(7);
    let messages = memory.conversation(Put::plain("Round 7?"));
    // Rounds 4 to 6, each with what it began with.
    let expected = [
        "rules",
        "result 4\nRound 5?",
        "answer 5",
        "result 5\nRound 6?",
        "answer 6",
        "result 6\nRound 7?",
    ];
    assert_eq!(contents(&messages), expected);
    let mut memory = Memory::new(1_000, WhenFull::Forget);
    memory.remember_rounds(3);
    for round in 1..=3 {
        memory.enter_round(round);
        let answer = (round > 2).then(|| "answer 3".to_owned());
        memory.close(format!("Round {round}?"), answer);
        memory.add_news(format!("result {round}"));
    }
    memory.enter_round(4);
    memory.close("Round 4?".to_owned(), Some("answer 4".to_owned()));
    memory.enter_round(5);
    let told = &memory.conversation(Put::plain("Round 5?"))[0].content;
    assert_eq!(&**told, "Round 2?\nresult 2\nRound 3?");
    let tokens = memory
        .past
        .iter()
        .map(|one| one.told.tokens() + one.answer.tokens());
    assert_eq!(memory.past_tokens, tokens.sum::<usize>());
}

#[test]
fn a_game_may_say_how_many_rounds_are_remembered() {
    for (history, expected) in [
        (0, &["rules", "Round 5?"][..]),
        (1, &["rules", "result 4\nRound 5?"]),
        (
            2,
            &[
                "rules",
                "result 3\nRound 4?",
                "answer 4",
                "result 4\nRound 5?",
            ],
        ),
    ] {
        let mut memory = Memory::new(1_000, WhenFull::Forget);
        memory.set_rules("rules".into());
        memory.remember_rounds(history);
        for round in 1..=4 {
            memory.enter_round(round);
            remember(&mut memory, round);
        }
        memory.enter_round(5);
        let messages = memory.conversation(Put::plain("Round 5?"));
        assert_eq!(contents(&messages), expected, "history {history}");
        assert_eq!(
            memory.past_tokens,
            messages[1..messages.len() - 1]
                .iter()
                .map(Message::tokens)
                .sum::<usize>()
        );
    }
}

#[test]
fn unanswered_asks_are_forgotten_like_answered_ones() {
    let mut memory = Memory::new(1_000, WhenFull::Forget);
    memory.remember_rounds(1);
    for round in 1..=4 {
        memory.enter_round(round);
        memory.close(format!("Round {round}?"), None);
        memory.add_news(format!("result {round}"));
    }
    memory.enter_round(5);
    let messages = memory.conversation(Put::plain("Round 5?"));
    assert_eq!(contents(&messages), ["Round 4?\nresult 4\nRound 5?"]);
}

#[test]
fn what_was_said_in_the_round_in_play_is_no_past_round() {
    let mut memory = Memory::new(1_000, WhenFull::Forget);
    memory.set_rules("rules".into());
    memory.remember_rounds(0);
    memory.enter_round(3);
    memory.close("Round 3, price 5?".to_owned(), Some("stay".to_owned()));
    memory.enter_round(3);
    let messages = memory.conversation(Put::plain("Round 3, price 10?"));
    let kept = ["rules", "Round 3, price 5?", "stay", "Round 3, price 10?"];
    assert_eq!(contents(&messages), kept);
    memory.enter_round(4);
    let messages = memory.conversation(Put::plain("Round 4, price 5?"));
    assert_eq!(contents(&messages), ["rules", "Round 4, price 5?"]);
}

/// A memory that sums up, full of rounds of 8 tokens each.
fn full(bound: u32, rounds: u32) -> Memory {
    let mut memory = Memory::new(bound, WhenFull::Summarise);
    memory.set_rules("rules rules rules rules".into());
    for round in 1..=rounds {
        memory.enter_round(round);
        memory.close("a question, asked".to_owned(), Some("an answer".to_owned()));
    }
    memory
}

#[test]
fn so_much_is_summed_up_that_the_past_takes_half_of_its_room() {
    for rounds in 10..60 {
        // Rules and ask take 8 tokens.
        let mut memory = full(168, rounds);
        let Some(excess) = memory.excess(Put::plain("choose.")) else {
            assert!(rounds * 8 <= 160, "{rounds}");
            continue;
        };
        assert!(rounds * 8 > 160, "{rounds}");
        assert_eq!(excess.most_tokens, 160 / SUMMARY_PART);
        let last = u32::try_from(excess.exchanges).unwrap();
        assert_eq!(memory.rounds(excess.exchanges), (1, last));
        memory.sum_up(excess.exchanges, "s".repeat(4 * excess.most_tokens - 1));
        let taken = memory.past_tokens + memory.summary_tokens();
        assert!(
            (70..=80).contains(&taken),
            "{taken} of 160 for {rounds} rounds"
        );
        assert_eq!(memory.excess(Put::plain("choose.")), None);
        // The next is summed up together with what there is.
        assert_eq!(memory.rounds(1), (1, last + 1));
    }
}

#[test]
fn a_memory_that_sums_up_forgets_nothing_by_itself() {
    let mut memory = full(100, 20);
    let refused = Later::new("no", 1_000, &"no".repeat(100));
    let tight = memory.conversation(Put {
        later: Some(&refused),
        ..Put::plain("choose.")
    });
    let roomy = memory.conversation(Put::plain("choose."));
    assert!(tight.len() < roomy.len());
    assert!(tight.iter().map(Message::tokens).sum::<usize>() <= 100);
    assert_eq!(memory.past.len(), 20);
    assert_eq!(memory.forget_for(Put::plain("choose.")), Some((1, 9)));
    assert_eq!(memory.forget_for(Put::plain("choose.")), None);
    assert_eq!(memory.conversation(Put::plain("choose.")), roomy);
}

#[test]
fn a_summary_that_is_too_long_for_an_ask_is_left_out() {
    let mut memory = full(100, 3);
    memory.sum_up(3, "s".repeat(300));
    let long = "choose ".repeat(20);
    let contents = |memory: &mut Memory, ask: &str| -> Vec<String> {
        let told = memory.conversation(Put::plain(ask));
        told.iter()
            .map(|message| message.content.to_string())
            .collect()
    };
    assert_eq!(contents(&mut memory, &long)[1], long);
    let short = contents(&mut memory, "choose");
    assert!(short[1].starts_with("sss") && short[1].ends_with("s\nchoose"));
}

#[test]
fn a_call_that_sums_up_keeps_to_the_bound() {
    let memory = full(100, 20);
    let fits = memory.to_sum_up(8, "sum up").unwrap();
    assert_eq!(fits.len(), 1 + 2 * 8 + 1);
    assert!(fits.iter().map(Message::tokens).sum::<usize>() <= 100);
    assert_eq!(memory.to_sum_up(12, "sum up"), None);
}
