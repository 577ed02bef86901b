//! Questions that are put again: in which order, with what, and how often.
//! A scripted mind answers; no model is called.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::*;
use crate::mind::{Message, Role};

#[derive(Default)]
struct Scripted {
    replies: Mutex<VecDeque<&'static str>>,
    heard: Mutex<Vec<Thought>>,
}

impl Mind for Scripted {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        self.heard.lock().unwrap().push(thought);
        let reply = self.replies.lock().unwrap().pop_front();
        let answer = reply.map(|text| Reply {
            text: text.to_owned(),
            finish_reason: "stop".to_owned(),
        });
        let gone = || MindError::NoAnswer("nothing left to say".to_owned());
        Box::pin(std::future::ready(answer.ok_or_else(gone)))
    }
}

/// Questions whose answers are numbers.
struct Numbers<'a>(&'a [&'a str]);

impl Questions for Numbers<'_> {
    type Found = i64;

    fn count(&self) -> usize {
        self.0.len()
    }

    fn thought(&mut self, at: usize, later: Option<Later>) -> Result<Thought, MindError> {
        let asked = vec![Message::new(Role::User, self.0[at])];
        let messages = match later {
            Some(later) => later.behind(asked, usize::MAX),
            None => asked,
        };
        Ok(Thought::new("plan", Arc::default(), messages, None))
    }

    fn read(&mut self, _: usize, reply: &Reply) -> Result<i64, String> {
        let number = reply.text.parse();
        number.map_err(|_| format!("{:?} is no number", reply.text))
    }

    fn again(&mut self, at: usize, reply: &Reply, problem: &str) -> Result<Later, MindError> {
        let said = format!("question {at}: {problem}");
        Ok(Later::new(&reply.text, usize::MAX, &said))
    }
}

fn ask(
    questions: &[&str],
    replies: &[&'static str],
    tries: u32,
) -> (Vec<Answered<i64>>, Vec<String>) {
    let mind = Scripted::default();
    mind.replies.lock().unwrap().extend(replies);
    let answered = ask_until(&mind, Numbers(questions), tries);
    let answered = answered.now_or_never().unwrap().unwrap();
    let heard = mind.heard.lock().unwrap();
    let said = heard.iter().map(|thought| {
        let texts: Vec<&str> = thought.messages.iter().map(|said| &*said.content).collect();
        texts.join(" | ")
    });
    (answered, said.collect())
}

#[test]
fn only_what_failed_is_put_again_in_the_order_of_the_questions() {
    let (answered, said) = ask(&["a", "b", "c"], &["x", "2", "", "1", "3"], 4);
    let found: Vec<_> = answered
        .iter()
        .map(|answer| (answer.found, answer.tries))
        .collect();
    assert_eq!(found, [(Some(1), 2), (Some(2), 1), (Some(3), 2)]);
    assert_eq!(
        said,
        [
            "a",
            "b",
            "c",
            "a | x | question 0: \"x\" is no number",
            "c | (no answer) | question 2: \"\" is no number",
        ]
    );
}

#[test]
fn a_question_ends_with_its_tries() {
    let (answered, said) = ask(&["a"], &["x", "y", "z"], 2);
    assert_eq!(answered[0].found, None);
    assert_eq!(answered[0].tries, 2);
    assert_eq!(answered[0].problems.len(), 2);
    // Only the last reply is shown again.
    assert_eq!(said[1], "a | x | question 0: \"x\" is no number");
    let (answered, _) = ask(&["a"], &["7"], 0);
    assert_eq!(answered[0].found, Some(7));
}

#[test]
fn a_call_that_fails_ends_the_question() {
    let mind = Scripted::default();
    let asked = ask_until(&mind, Numbers(&["a"]), 3);
    let failed = asked.now_or_never().unwrap();
    assert!(matches!(failed, Err(MindError::NoAnswer(_))), "{failed:?}");
}
