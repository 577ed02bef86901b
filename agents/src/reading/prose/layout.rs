//! Takes a text apart into sentences, by its lines: headings, lists, tables, labels before a
//! colon. A sentence knows the name that stands over or before it, if any.

use std::ops::Range;

use super::corrections;
use super::lexicon::Class;
use super::naming::Naming;
use super::tokens::{Kind, Token};

/// More tokens than any sentence that people write; longer ones are cut, so that looking
/// back stays cheap.
const LONGEST: usize = 80;

/// More tokens than any label has.
const LONGEST_LABEL: usize = 7;

/// A sentence, a heading's text or a cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// Its tokens, without its end.
    pub range: Range<usize>,
    /// What the name over it or before it says of it.
    pub naming: Option<Naming>,
    /// Whether it asks.
    pub is_question: bool,
    /// Whether it is a cell of a table.
    pub is_cell: bool,
}

/// The sentences of a text, in order.
pub fn sentences(tokens: &[Token<'_>], seat: usize) -> Vec<Sentence> {
    let mut layout = Layout {
        tokens,
        seat,
        all: Vec::new(),
        over: None,
        next_item: 1,
    };
    let mut table: Vec<Range<usize>> = Vec::new();
    let mut lines = lines(tokens).peekable();
    while let Some(line) = lines.next() {
        let is_row = is_row(&tokens[line.clone()]);
        if is_row {
            table.push(line.clone());
        }
        if !table.is_empty() && (!is_row || lines.peek().is_none()) {
            layout.table(&std::mem::take(&mut table));
        }
        if !is_row {
            layout.line(line);
        }
    }
    layout.all
}

/// Whether a text breaks off: its last line has sentences that end, and one that does not; or
/// a blank in it was left.
pub fn is_cut(tokens: &[Token<'_>]) -> bool {
    let Some(line) = lines(tokens).last() else {
        return false;
    };
    if tokens.windows(3).any(is_blank) {
        return true;
    }
    let line = &tokens[line];
    // Who writes no capital letters may write no full stops.
    if !line.iter().any(|token| token.is_capital) {
        return false;
    }
    let ends = line.iter().filter(|token| token.is_end()).count();
    let last = line
        .last()
        .filter(|last| !last.is_quoted && !last.is_any_mark(")]}✓✗|"));
    ends > 1 && last.is_some_and(|last| !last.is_end())
}

/// Whether a place was to be filled in: "[amount]".
fn is_blank(tokens: &[Token<'_>]) -> bool {
    let what = "amount|number|bid|guess|choice|answer|value|x|insert|your|contribution|vote|decision|reason";
    tokens[0].is_mark('[')
        && tokens[1].is_word(what)
        && (tokens[2].is_mark(']') || tokens[2].kind == Kind::Word)
}

/// A sentence with the label that stands before it in its line.
pub fn with_label(tokens: &[Token<'_>], sentence: &Range<usize>) -> Range<usize> {
    let from = sentence.start.saturating_sub(LONGEST_LABEL + 1);
    let before = tokens[from..sentence.start].iter().rposition(Token::is_end);
    from + before.map_or(0, |end| end + 1)..sentence.end
}

/// The lines of a text that are not empty, without their ends.
fn lines<'b>(tokens: &'b [Token<'_>]) -> impl Iterator<Item = Range<usize>> + 'b {
    let mut from = 0;
    let ends = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.kind == Kind::End('\n'));
    let ends = ends.map(|(at, _)| at).chain(std::iter::once(tokens.len()));
    let lines = ends.map(move |end| {
        let line = from..end;
        from = end + 1;
        line
    });
    lines.filter(|line| !line.is_empty())
}

fn is_row(line: &[Token<'_>]) -> bool {
    line.iter().filter(|token| token.is_mark('|')).count() >= 1
}

struct Layout<'a, 'b> {
    tokens: &'b [Token<'a>],
    seat: usize,
    all: Vec<Sentence>,
    /// The name that stands over what follows.
    over: Option<Naming>,
    /// The number that the next item of a list would have.
    next_item: i64,
}

impl Layout<'_, '_> {
    fn line(&mut self, line: Range<usize>) {
        let is_heading = self.tokens[line.start].is_mark('#');
        let body = self.behind_bullet(line);
        if body.clone().all(|at| {
            self.tokens[at].kind != Kind::Word
                && self.tokens[at].number().is_none()
                && self.tokens[at].kind != Kind::Broken
        }) {
            return;
        }
        let label = self.label(&body);
        let is_short = body.len() <= LONGEST_LABEL
            && body.clone().all(|at| self.tokens[at].kind == Kind::Word);
        if label.is_none() && is_short {
            let naming = Naming::of(&self.tokens[body.clone()], self.seat);
            if is_heading || naming == Naming::Answer && !self.speaks(&body) {
                self.over = Some(naming);
                if is_heading {
                    return;
                }
                self.sentence(body, None);
                return;
            }
        }
        match label {
            Some((name, rest)) => {
                let naming = self.named(name, &rest);
                self.over = None;
                match rest.is_empty() {
                    true => self.over = naming,
                    false => self.split(rest, naming.or(Some(Naming::Unknown))),
                }
            }
            None => {
                let over = self.over.filter(|over| over.is_own() || over.is_aside());
                if over.is_some_and(Naming::is_own) || !is_heading {
                    self.over = None;
                }
                self.split(body, over);
            }
        }
    }

    fn speaks(&self, range: &Range<usize>) -> bool {
        self.tokens[range.clone()]
            .iter()
            .any(|token| token.is(Class::Speaker))
    }

    /// The line without the marks and numbers of headings, lists and quotations.
    fn behind_bullet(&mut self, line: Range<usize>) -> Range<usize> {
        let mut start = line.start;
        while start < line.end
            && self.tokens[start].is_any_mark("#>-*+")
            && self
                .tokens
                .get(start + 1)
                .is_none_or(|next| next.is_apart || next.is_any_mark("#>-*+"))
        {
            start += 1;
        }
        let number = self
            .tokens
            .get(start)
            .and_then(Token::number)
            .and_then(|numeral| numeral.whole());
        let marked = self.tokens.get(start + 1).filter(|_| start + 2 < line.end);
        let is_marked = marked.is_some_and(|mark| mark.is_mark(')') || mark.kind == Kind::End('.'));
        if number == Some(self.next_item) && is_marked && !self.tokens[start].text.starts_with('$')
        {
            self.next_item += 1;
            start += 2;
        } else if number == Some(1) && is_marked {
            self.next_item = 2;
            start += 2;
        }
        start..line.end
    }

    /// The label of a line and what stands behind it.
    fn label(&self, body: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
        let tokens = self.tokens;
        let mut reach = body.start..body.end.min(body.start + LONGEST_LABEL + 1);
        let separator = reach.find(|at| {
            let token = &tokens[*at];
            let is_dash = token.is_mark('-')
                && token.is_apart
                && tokens.get(at + 1).is_some_and(|next| next.is_apart);
            *at > body.start && (token.is_any_mark(":=") || is_dash)
        })?;
        let name = body.start..separator;
        let is_name = tokens[name.clone()]
            .iter()
            .enumerate()
            .all(|(at, token)| match token.kind {
                Kind::Word => !token.is(Class::Speaker) || token.is_word("me|myself|mine|i"),
                Kind::Number(_) => at > 0 && tokens[name.start + at - 1].kind == Kind::Word,
                Kind::Mark(mark) => "()-'/{\"<".contains(mark),
                _ => false,
            });
        let is_short = !tokens[name.start].is(Class::Speaker)
            && tokens[name.clone()]
                .iter()
                .all(|token| token.kind == Kind::Word);
        let is_condition = |token: &Token<'_>| token.is(Class::If) || token.is_word("case|event");
        let supposes = name.len() > 1 && tokens[name.clone()].iter().any(is_condition);
        let speaks = tokens[name.clone()].iter().any(|token| token.is_word("i")) && name.len() > 1;
        // "My bid is 40 for these reasons:" is a sentence.
        let number = name.clone().find(|at| tokens[*at].number().is_some());
        let states = number.is_some_and(|number| {
            tokens[name.start..number]
                .iter()
                .any(|token| token.is(Class::Be))
        });
        // "Bid $47 - a moderate risk"; "Bid 2 - 40" is a name.
        let orders = number.is_some_and(|number| {
            let (first, amount) = (&tokens[name.start], &tokens[number]);
            let is_amount = amount.text.starts_with('$') || !first.is(Class::Noun);
            number + 1 == name.end && number > name.start && first.is(Class::Verb) && is_amount
        });
        // "Balance if I win: $85".
        let is_thing = || Naming::of(&tokens[name.clone()], self.seat) == Naming::Something;
        // "There's no need to wait: I accept."
        let is_sentence = name.len() > 1 && tokens[name.start].is_word("there's|there|it's|that's");
        let is_said = states
            || orders
            || is_sentence
            || (supposes || speaks || !is_name) && !(is_short && is_thing());
        if is_said {
            return None;
        }
        let behind = separator
            + 1
            + usize::from(
                tokens
                    .get(separator + 1)
                    .is_some_and(|next| next.is_mark('=')),
            );
        Some((name, behind.min(body.end)..body.end))
    }

    /// Sentences of a part of a line; the first one has the name, others may have their own.
    fn split(&mut self, range: Range<usize>, naming: Option<Naming>) {
        let mut naming = naming;
        let mut start = range.start;
        for at in range.start..=range.end {
            let token = self.tokens.get(at).filter(|_| at < range.end);
            let corrects = || corrections::begins(self.tokens, at) > 0;
            let cuts = at > start && at < range.end && (corrects() || self.begins_pair(at));
            let ends = token.is_none_or(|token| token.is_end() || token.is_mark(';'));
            if cuts {
                self.piece(start..at, naming.take(), false);
                start = at;
                continue;
            }
            if !ends && at - start < LONGEST {
                continue;
            }
            if at > start {
                let is_question = token.is_some_and(|token| token.kind == Kind::End('?'));
                self.piece(start..at, naming.take(), is_question);
            }
            start = at + usize::from(ends);
        }
    }

    /// Whether the name of a pair begins behind another pair: "health=4 bid=58",
    /// "Bob: 28, me: 21".
    fn begins_pair(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let Some(mark) = tokens.get(at + 1).filter(|_| tokens[at].kind == Kind::Word) else {
            return false;
        };
        let is_glued = mark.is_mark('=') && !mark.is_apart;
        is_glued && tokens[at].is_apart || mark.is_mark(':') && tokens[at - 1].is_mark(',')
    }

    /// A sentence, with its label if it has one.
    fn piece(&mut self, range: Range<usize>, naming: Option<Naming>, is_question: bool) {
        let label = self
            .label(&range)
            .filter(|(_, rest)| naming.is_none() && !rest.is_empty());
        let (range, naming) = match label {
            Some((name, rest)) => (rest.clone(), self.named(name, &rest)),
            None => (range, naming),
        };
        // "Bob: 28, so I take 29": a name covers its clause.
        let is_aside = naming.is_some_and(Naming::is_aside);
        let own = range.clone().find(|at| is_aside && self.begins_own(*at));
        let end = own.unwrap_or(range.end);
        self.all.push(Sentence {
            range: range.start..end,
            naming,
            is_question,
            is_cell: false,
        });
        if end < range.end {
            self.piece(end..range.end, None, is_question);
        }
    }

    /// Whether the speaker goes on with what he does himself: ", so I".
    fn begins_own(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let leads = |token: &Token<'_>| token.is(Class::So) || token.is_word("and|then");
        let speaker = at + usize::from(leads(&tokens[at]));
        let speaks = tokens
            .get(speaker)
            .is_some_and(|token| token.is(Class::Speaker));
        at > 0 && tokens[at - 1].is_any_mark(",-") && speaks
    }

    /// What a label says of what stands behind it. Who speaks of himself behind "more than
    /// Bob:" is not told of by that.
    fn named(&self, name: Range<usize>, rest: &Range<usize>) -> Option<Naming> {
        let name = &self.tokens[name];
        let naming = Naming::of(name, self.seat);
        let compares = name.iter().any(|token| {
            let is_thing = token.is(Class::Noun) || token.is(Class::MoneyHad);
            token.is(Class::Breaks) && !is_thing && !token.is_word("so")
        });
        (!(naming.is_aside() && compares && self.speaks(rest))).then_some(naming)
    }

    fn sentence(&mut self, range: Range<usize>, naming: Option<Naming>) {
        self.all.push(Sentence {
            range,
            naming,
            is_question: false,
            is_cell: false,
        });
    }

    /// The cells of a table, named by their column and their row.
    fn table(&mut self, rows: &[Range<usize>]) {
        let cells: Vec<Vec<Range<usize>>> = rows.iter().map(|row| self.cells(row)).collect();
        let is_content = |row: &&Vec<Range<usize>>| {
            row.iter().any(|cell| {
                cell.clone().any(|at| {
                    self.tokens[at].kind == Kind::Word || self.tokens[at].number().is_some()
                })
            })
        };
        let cells: Vec<&Vec<Range<usize>>> = cells.iter().filter(is_content).collect();
        let Some((head, body)) = cells.split_first() else {
            return;
        };
        if body.is_empty() {
            // "bid=45|health=3": pairs, and no table.
            for cell in head.iter().filter(|cell| !cell.is_empty()) {
                self.line(cell.clone());
            }
            return;
        }
        let name = |cell: &Range<usize>| Naming::of(&self.tokens[cell.clone()], self.seat);
        let mut found = Vec::new();
        for row in body {
            let of_row = row.first().map_or(Naming::Unknown, name);
            let is_now = row.iter().any(|cell| {
                self.tokens[cell.clone()]
                    .iter()
                    .any(|token| token.is(Class::Now))
            });
            for (column, cell) in row.iter().enumerate() {
                let of_column = head.get(column).map_or(Naming::Unknown, name);
                let is_only = body.len() == 1 || is_now;
                let naming = of_cell(
                    of_column,
                    if column > 0 { of_row } else { Naming::Unknown },
                    is_only,
                );
                if !cell.is_empty() {
                    found.push((cell.clone(), naming));
                }
            }
        }
        for (cell, naming) in found {
            self.all.push(Sentence {
                range: cell,
                naming: Some(naming),
                is_question: false,
                is_cell: true,
            });
        }
    }

    fn cells(&self, row: &Range<usize>) -> Vec<Range<usize>> {
        let mut cells = Vec::new();
        let leads = self.tokens[row.start].is_mark('|');
        let first = row.start + usize::from(leads);
        let mut start = first;
        for at in first..row.end {
            if self.tokens[at].is_mark('|') {
                cells.push(start..at);
                start = at + 1;
            }
        }
        if start < row.end {
            cells.push(start..row.end);
        }
        cells
    }
}

/// What a cell of a table is.
fn of_cell(column: Naming, row: Naming, is_only: bool) -> Naming {
    if column == Naming::Past || row == Naming::Past {
        return Naming::Past;
    }
    if column == Naming::Me && row.is_aside() || row == Naming::Me && column.is_aside() {
        return Naming::Something;
    }
    if column == Naming::Me || row == Naming::Me {
        return Naming::Answer;
    }
    if column == Naming::Theirs || row == Naming::Theirs {
        return Naming::Theirs;
    }
    match (column.is_own(), row.is_own()) {
        (_, true) if !matches!(column, Naming::Past | Naming::ToCome) => Naming::Answer,
        (true, _) if is_only && !row.is_aside() => Naming::Answer,
        _ => Naming::Something,
    }
}
