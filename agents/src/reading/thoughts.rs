//! Takes the thoughts that some models write before their answer out of a reply.
//! Thoughts that never close leave nothing to read. Called by `reading.rs` before
//! it looks for an answer inside the text.

/// Names of the blocks, lower case.
const BLOCKS: &[&str] = &["think", "thinking", "thought", "reasoning"];

/// What follows the last closed block of thoughts; nothing when a block was
/// opened and never closed. Some servers swallow the opening tag, so a closing
/// one alone counts.
pub fn without(text: &str) -> &str {
    let mut rest = text;
    let mut from = 0;
    let mut open = false;
    while let Some(at) = text[from..].find('<') {
        let tag = from + at;
        let after = &text[tag + 1..];
        let (closing, name) = match after.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, after),
        };
        if let Some(length) = block_name(name) {
            let end = text.len() - name.len() + length;
            open = !closing;
            rest = if closing { &text[end..] } else { rest };
        }
        from = tag + 1;
    }
    if open { "" } else { rest }
}

/// Length of a block's name and its closing bracket at the start of a text.
fn block_name(text: &str) -> Option<usize> {
    BLOCKS.iter().find_map(|block| {
        let name = text.get(..block.len())?;
        let bracket = text.as_bytes().get(block.len())?;
        (name.eq_ignore_ascii_case(block) && *bracket == b'>').then_some(block.len() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn thoughts_are_taken_out() {
        assert_eq!(without("plain"), "plain");
        assert_eq!(without("<think>a {\"guess\": 1}</think> b"), " b");
        assert_eq!(without("<Thinking>a</THINKING>b"), "b");
        assert_eq!(without("no opening</think>b"), "b");
        assert_eq!(without("<think>one</think>x<think>two</think>y"), "y");
        assert_eq!(without("<think>never closed"), "");
        assert_eq!(without("a < b <thinker> é<"), "a < b <thinker> é<");
    }
}
