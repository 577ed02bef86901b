//! A model that thinks and writes much before it answers: sessions of a hundred megabytes are made of it.
//! Says the same to the same question, and nothing that packs well.

use std::hash::{DefaultHasher, Hasher as _};

use crate::scripted_server::{Said, ScriptedServer};

/// Two of them are a quotation mark and a line break, as JSON escapes them.
const LETTERS: [&str; 64] = [
    "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S",
    "T", "U", "V", "W", "X", "Y", "Z", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l",
    "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", "0", "1", "2", "3", "4",
    "5", "6", "7", "8", " ", "\\\"", "\\n",
];

/// Texts that replies are taken from.
const TEXTS: usize = 64;

/// Starts one that thinks so many letters, and whose replies have so many and end in a number from 0 to 39
/// under this name.
pub fn talker(thoughts: usize, letters: usize, answer: &'static str) -> ScriptedServer {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        LETTERS[(state >> 58) as usize]
    };
    let mut texts = |letters: usize| -> Vec<String> {
        let texts = (0..TEXTS).map(|_| (0..letters).map(|_| next()).collect());
        texts.collect()
    };
    let (thoughts, replies) = (texts(thoughts), texts(letters));
    ScriptedServer::start(move |_, body| {
        let mut hasher = DefaultHasher::new();
        hasher.write(body);
        let hash = hasher.finish() as usize;
        let (at, number) = (hash % TEXTS, hash / TEXTS % 40);
        let (thought, reply) = (&thoughts[at], &replies[at]);
        let (sent, written) = (body.len() / 4, letters / 4);
        let said = format!(
            r#"{{"id":"1","object":"chat.completion","created":1,"model":"any","choices":[{{"index":0,
            "message":{{"role":"assistant","content":"{reply}\n{{\"{answer}\": {number}}}",
            "reasoning_content":"{thought}"}},
            "finish_reason":"stop"}}],
            "usage":{{"prompt_tokens":{sent},"completion_tokens":{written}}}}}"#
        );
        Said {
            status: 200,
            body: said.into_bytes(),
        }
    })
}
