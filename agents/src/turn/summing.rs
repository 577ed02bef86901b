//! Makes room in a conversation that is full: the player's own model sums up the
//! oldest exchanges in a call of its own, and the summary takes their place. Where no
//! summary can be had, what has no room is forgotten. Called once per ask, before it
//! is put first; an ask that is put again makes no further summary.

use crate::dialogue::{Dialogue, Turn};
use crate::memory::{Excess, Put, words};
use crate::mind::{Message, Mind, MindError, Reply, Role, Thought};
use crate::narrator::Summing;
use crate::notes::{Source, Summary};
use crate::reading;

/// How often a summary is asked for.
const TRIES: usize = 2;

/// A shorter summary says nothing, in tokens.
const SHORTEST: usize = 20;

/// Makes room for an ask, if its conversation is full and the player is to sum up.
pub async fn make_room(
    dialogue: &mut Dialogue,
    turn: Turn<'_>,
    mind: &dyn Mind,
) -> Result<(), MindError> {
    let ask = dialogue.wording(turn)?;
    let put = Put {
        advice: turn.advice,
        ask: &ask,
        later: None,
    };
    // Every pass takes exchanges out of the past, so there is an end to them.
    while let Some(excess) = dialogue.memory.excess(put) {
        let Some((exchanges, summing)) = question(dialogue, excess)? else {
            let problem = "there is no room for a summary".to_owned();
            forget(dialogue, put, 0, &[problem]);
            return Ok(());
        };
        let rounds = summing.rounds;
        let (mut problems, mut found) = (Vec::new(), None);
        while found.is_none() && problems.len() < TRIES {
            let problem = problems.last().map(String::as_str);
            let instruction = dialogue.narrator.sum_up(&summing, problem)?;
            let messages = dialogue.memory.to_sum_up(exchanges, &instruction);
            let Some(messages) = messages else { break };
            let settings = dialogue.settings();
            let reply = mind.think(Thought::new("summarise", settings, messages, None));
            match read(&reply.await?, excess.most_tokens) {
                Ok(text) => found = Some(text),
                Err(problem) => problems.push(problem),
            }
        }
        let Some(text) = found else {
            forget(dialogue, put, problems.len(), &problems);
            return Ok(());
        };
        let told = dialogue.narrator.summary(rounds, &text)?;
        dialogue.memory.sum_up(exchanges, told);
        dialogue.note(Summary {
            rounds,
            tries: problems.len() + 1,
            source: Source::Model,
            text: Some(text),
            problems,
        });
    }
    Ok(())
}

/// How many of the exchanges go into one call within the bound, and its question; none
/// where not even one does, or where there is no room for their summary.
fn question(dialogue: &Dialogue, excess: Excess) -> Result<Option<(usize, Summing)>, MindError> {
    if excess.most_tokens < SHORTEST {
        return Ok(None);
    }
    for exchanges in (1..=excess.exchanges).rev() {
        let summing = Summing {
            rounds: dialogue.memory.rounds(exchanges),
            earlier: dialogue.memory.has_summary(),
            words: words(excess.most_tokens),
        };
        let instruction = dialogue.narrator.sum_up(&summing, None)?;
        if dialogue.memory.to_sum_up(exchanges, &instruction).is_some() {
            return Ok(Some((exchanges, summing)));
        }
    }
    Ok(None)
}

/// The summary in a reply, or what is wrong with it.
fn read(reply: &Reply, most_tokens: usize) -> Result<String, String> {
    let text = reading::said(reply);
    let complete = reading::is_complete(reply);
    let length = Message::new(Role::Assistant, text).tokens();
    match text {
        _ if !complete => Err("it was cut off or withheld".to_owned()),
        "" => Err("it is empty".to_owned()),
        _ if length > most_tokens => Err(format!(
            "it is too long, about {length} tokens where {most_tokens} are allowed"
        )),
        text => Ok(text.to_owned()),
    }
}

/// Forgets what has no room, and writes that down.
fn forget(dialogue: &mut Dialogue, put: Put<'_>, tries: usize, problems: &[String]) {
    let Some(rounds) = dialogue.memory.forget_for(put) else {
        return;
    };
    dialogue.note(Summary {
        rounds,
        tries,
        source: Source::Forgotten,
        text: None,
        problems: problems.to_vec(),
    });
}
