//! Texts of others inside a prompt: how much of them is shown, and a mark before every line,
//! so that nothing in them can end the quotation and speak for itself. Called by whoever
//! shows a model what it, or another, has said.

/// Longest part of a reply that its own model is shown again. The end is kept: that is
/// where answers stand.
const SHOWN_LETTERS: usize = 1_000;

/// What stands for a reply that says nothing; providers refuse empty messages.
const NO_REPLY: &str = "(no answer)";

/// Longest account of what is wrong with a reply. It may quote the reply.
const PROBLEM_LETTERS: usize = 1_000;

/// What ends a line somewhere: whoever reads the quotation may see a new line in any.
const LINE_ENDS: [char; 7] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// A text with a mark before each of its lines.
pub fn quoted(text: &str, mark: &str) -> String {
    let lines = text.split(LINE_ENDS).map(|line| format!("{mark}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// What a model is shown again of its own reply: so many letters at most.
pub fn shown(reply: &str, letters: usize) -> &str {
    match ending(reply.trim(), letters.min(SHOWN_LETTERS)) {
        "" => NO_REPLY,
        shown => shown,
    }
}

/// The last letters of a text.
pub fn ending(text: &str, letters: usize) -> &str {
    let skipped = text.chars().count().saturating_sub(letters);
    let start = text
        .char_indices()
        .nth(skipped)
        .map_or(text.len(), |(at, _)| at);
    &text[start..]
}

/// What was wrong with a reply, in lines, as far as its model is told: the first lines, and
/// of one that is too long by itself its end, which says what would be right.
pub fn problem(text: &str) -> String {
    let mut told = String::new();
    let mut left = PROBLEM_LETTERS;
    for line in text.lines() {
        let letters = line.chars().count();
        if told.is_empty() {
            told.push_str(ending(line, PROBLEM_LETTERS));
        } else if letters < left {
            told.push('\n');
            told.push_str(line);
        } else {
            break;
        }
        left = left.saturating_sub(letters + 1);
    }
    told
}

#[cfg(test)]
mod tests;
