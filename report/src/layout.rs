//! The forms in which tables and the sentences around them are shown: as text that fits a width,
//! or in a markup language. Knows what each of them must escape. Below every table; the command
//! line chooses one.

use std::borrow::Cow;

use agon_outlets::lines;

/// How tables and sentences are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// As text in at most so many columns.
    Text(u16),
    /// As GitHub-flavoured Markdown.
    Markdown,
    /// As LaTeX, with the rules of the package `booktabs`.
    Latex,
    /// As parts of an HTML page.
    Html,
    /// As data: a line of JSON for each table and each sentence, which `blocks.rs` reads.
    Json,
}

impl Layout {
    /// What stands between two sentences that say something about the same table.
    pub(crate) fn next_note(self) -> &'static str {
        match self {
            Self::Text(_) | Self::Json => "\n",
            Self::Markdown | Self::Latex | Self::Html => "\n\n",
        }
    }

    /// A text in which nothing is markup; in a markup language nothing turns or hides what stands
    /// beside it either. Terminals have an outlet of their own.
    pub fn escaped(self, text: &str) -> String {
        let shown: Cow<'_, str> = match self {
            Self::Text(_) => text.into(),
            Self::Markdown | Self::Latex | Self::Html | Self::Json => {
                lines(text).to_string().into()
            }
        };
        let mut escaped = String::with_capacity(shown.len());
        for one in shown.chars() {
            match self.escape(one) {
                Some(escape) => escaped.push_str(escape),
                None => escaped.push(one),
            }
        }
        escaped
    }

    fn escape(self, one: char) -> Option<&'static str> {
        match self {
            Self::Text(_) | Self::Json => None,
            Self::Markdown => Some(match one {
                '\\' => "\\\\",
                '|' => "\\|",
                '*' => "\\*",
                '_' => "\\_",
                '`' => "\\`",
                '[' => "\\[",
                ']' => "\\]",
                '<' => "&lt;",
                '&' => "&amp;",
                '#' => "\\#",
                '~' => "\\~",
                _ => return None,
            }),
            Self::Latex => Some(match one {
                '\\' => "\\textbackslash{}",
                '&' => "\\&",
                '%' => "\\%",
                '$' => "\\$",
                '#' => "\\#",
                '_' => "\\_",
                '{' => "\\{",
                '}' => "\\}",
                '~' => "\\textasciitilde{}",
                '^' => "\\textasciicircum{}",
                '<' => "\\textless{}",
                '>' => "\\textgreater{}",
                '\u{b1}' => "$\\pm$",
                '\u{b7}' => "$\\cdot$",
                '\u{d7}' => "$\\times$",
                '\u{2264}' => "$\\leq$",
                '\u{2265}' => "$\\geq$",
                '\u{a0}' => "~",
                _ => return None,
            }),
            Self::Html => Some(match one {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&#39;",
                _ => return None,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        let hostile = "a|b & <script>\\input{x}</script> 50 % of player_0 *[x](y)* \u{b1}";
        let markdown = Layout::Markdown.escaped(hostile);
        assert!(!markdown.contains('<') && !markdown.contains(" & "));
        assert!(markdown.contains("a\\|b") && markdown.contains("player\\_0"));
        let html = Layout::Html.escaped(hostile);
        assert!(!html.contains('<') && html.contains("&lt;script&gt;"));
        let latex = Layout::Latex.escaped(hostile);
        assert!(latex.contains("50 \\% of player\\_0"), "{latex}");
        assert!(latex.contains("\\textbackslash{}input\\{x\\}"), "{latex}");
        assert!(latex.ends_with("$\\pm$"));
        assert_eq!(Layout::Text(80).escaped(hostile), hostile);
        let turning = "ab\u{202e}cd\u{1b}[31m\u{200f}";
        for layout in [Layout::Markdown, Layout::Latex, Layout::Html] {
            let escaped = layout.escaped(turning);
            let speaks = |one: char| one.is_control() || "\u{202e}\u{200f}".contains(one);
            assert!(!escaped.contains(speaks), "{escaped:?}");
            assert!(escaped.contains("202e"), "{escaped:?}");
        }
    }
}
