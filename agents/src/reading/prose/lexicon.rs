//! What English words do in a sentence about an answer, whatever is asked: who speaks, who
//! is spoken of, what decides, denies, supposes, compares, counts. The words themselves are
//! data in `words.txt`; those of one game alone are in `vocabulary.rs`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The words by class, a class a line.
const WORDS: &str = include_str!("words.txt");

macro_rules! classes {
    ($($name:ident $text:literal $what:literal,)*) => {
        /// What a word does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Class {
            $(#[doc = $what] $name,)*
        }

        const NAMES: &[(&str, Class)] = &[$(($text, Class::$name),)*];
    };
}

classes! {
    Speaker "speaker" "Says who answers.",
    My "my" "Says whose an answer is.",
    You "you" "Speaks to somebody.",
    Others "others" "Speaks of somebody else.",
    Pronoun "pronoun" "Stands for somebody to whom something is done.",
    Name "name" "Is a person's name.",
    Titled "titled" "Speaks of somebody, with a number or a name behind it.",
    Will "will" "Makes a verb phrase the speaker's will.",
    Decided "decided" "Makes it a decision.",
    Outside "outside" "Speaks of the game as a story, or of what one may tell.",
    Stative "stative" "Says what the speaker has in mind, and nothing that he does.",
    Intending "intending" "Makes it an intention.",
    Supposing "supposing" "Makes it a mere thought.",
    Denying "denying" "Denies it.",
    NoCause "no-cause" "Denies it behind \"no\".",
    Verbal "verbal" "Stands in a verb phrase.",
    Asking "asking" "Makes it a question or a condition.",
    If "if" "Makes a clause conditional.",
    Otherwise "otherwise" "Begins the other way out of a condition.",
    Opening "opening" "Makes a sentence conditional that it begins.",
    Thinking "thinking" "Makes what follows in its clause a thought.",
    So "so" "Ends a condition.",
    Because "because" "Begins a reason.",
    Concluding "concluding" "Concludes or corrects.",
    Correcting "correcting" "Takes back what was said.",
    Past "past" "Tells of the past.",
    WasPast "was-past" "Makes a number in its clause one of the past.",
    ToCome "to-come" "Tells of a later time.",
    Now "now" "Tells of this time.",
    Changing "changing" "Changes an amount from one to another.",
    OfOthers "of-others" "Makes an answer somebody else's, another day's or a bound.",
    Bound "bound" "Makes what a name is of a bound or an expectation.",
    Earlier "earlier" "Makes what a name is of one of the past.",
    Future "future" "Makes what a name is of one to come.",
    Time "time" "Is a time that answers belong to.",
    Conclusion "conclusion" "Names what everything comes to.",
    Done "done" "Names a number by what was done with it.",
    Preposition "preposition" "Ends the head of a name.",
    Breaks "breaks" "No amount of the same answer stands behind it.",
    Adverb "adverb" "May stand between somebody and a verb.",
    Counted "counted" "Is counted, and is no money.",
    Tied "tied" "A number behind it is its label.",
    Added "added" "A number before it is a difference.",
    Comparing "comparing" "A number behind it is only compared with.",
    Nearby "nearby" "Compares, with \"to\" behind it.",
    Bounding "bounding" "A number behind it is a bound.",
    Giving "giving" "Gives, with \"over\" behind it.",
    MoneyHad "money-had" "Is somebody's money.",
    Linking "linking" "Stands between what somebody has and how much that is.",
    Owning "owning" "A number behind it is what somebody has.",
    Having "having" "Stands between having and how much.",
    Lying "lying" "Says where money is, with a place behind it.",
    MoneyPlace "money-place" "Is where money is that nobody bids.",
    PastOutcome "past-outcome" "Tells behind an answer what became of it.",
    Kept "kept" "A number before it is what somebody keeps.",
    Outcome "outcome" "A number behind it is what came or comes of something.",
    Property "property" "Has a number as its value, and is no answer.",
    Explaining "explaining" "Names a text that explains.",
    Calculating "calculating" "Stands between two numbers of a calculation.",
    PartArticle "part-article" "Stands between \"of\" and a whole.",
    PartHead "part-head" "Is a part, with a whole behind \"of\".",
    Approx "approx" "May stand between a word and its number.",
    Be "be" "Says what something is.",
    Anaphor "anaphor" "Stands for what was said before.",
    Whole "whole" "Stands in \"my whole balance of\".",
    Filling "filling" "May stand between a verb of any choice and the answer.",
    LeadingOn "leading-on" "May stand between a gerund and its amount.",
    Judging "judging" "Says something about an answer, rather than giving it.",
    SameInPast "same-in-past" "Is a verb that is the same in the past.",
    Possibly "possibly" "Stands before the other of two answers.",
    Nothing "nothing" "Is no amount.",
    NoMoney "no-money" "Is no amount, with \"no\" before it.",
    Enough "enough" "Says that an answer is good enough.",
    Between "between" "May stand between an answer and what is said of it.",
    Follows "follows" "May stand behind a number that counts nothing.",
    Aside "aside" "Changes nothing beside an answer.",
    RefusalWord "refusal-word" "May begin any other refusal.",
    Pardon "pardon" "Asks for pardon.",
    Responding "responding" "Is what a program refuses that refuses to play.",
    Refraining "refraining" "Leaves an answer out.",
    Leaving "leaving" "Leaves an auction.",
    TakingPart "taking-part" "Is what is refused.",
    Carrying "carrying" "Is refused only together with a word for an answer.",
    Wholly "wholly" "Has no amount behind it.",
    WhenWhere "when-where" "May follow what is refused altogether.",
    Limiting "limiting" "Follows those where they limit.",
    Bringing "bringing" "Brings an answer, or none.",
    Announcing "announcing" "Says no more than that an answer follows.",
    OutVerb "out-verb" "Leaves something out, with \"out\" behind it.",
    Dropping "dropping" "Leaves for good, with \"out\" behind it.",
    LeftOut "left-out" "Is what is left out.",
    AfterRefusal "after-refusal" "May follow where everything is said.",
    Willing "willing" "Makes what follows \"and\" the speaker's will.",
    BeforeVerb "before-verb" "Stands before a verb and leaves it one.",
    Wise "wise" "Calls something the best to do.",
    Ruling "ruling" "Says something about refusing, rather than to refuse.",
    Generic "generic" "Is what a program refuses, and not this one auction.",
    Itself "itself" "Is the speaker's own name.",
    Verb "verb" "Makes an answer: bid, guess.",
    WeakVerb "weak-verb" "Makes an answer if nothing comes between.",
    Noun "noun" "What an answer is called.",
    Unit "unit" "What an answer counts.",
}

/// What a word does, all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes(u128);

impl Classes {
    /// Whether it does this.
    pub fn has(self, class: Class) -> bool {
        self.0 & 1 << class as u8 != 0
    }

    /// With one more.
    #[must_use]
    pub fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << class as u8)
    }

    /// Everything that either does.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether nothing is known of the word.
    pub fn is_unknown(self) -> bool {
        self.0 == 0
    }
}

static LEXICON: LazyLock<HashMap<&'static str, Classes>> = LazyLock::new(|| {
    let mut lexicon: HashMap<&str, Classes> = HashMap::new();
    for (name, words) in lines() {
        let Some((_, class)) = NAMES.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        for word in words.split(' ') {
            let classes = lexicon.entry(word).or_default();
            *classes = classes.with(*class);
        }
    }
    lexicon
});

/// What a word in simple letters does.
pub fn classes(word: &str) -> Classes {
    let classes = LEXICON.get(word).copied().unwrap_or_default();
    match word.ends_with("n't") {
        true => classes.with(Class::Denying),
        false => classes,
    }
}

/// The lines of the file: a class and its words.
fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_words_belongs_to_a_class_and_every_class_has_words() {
        for (name, words) in lines() {
            assert!(NAMES.iter().any(|(known, _)| *known == name), "{name}");
            let is_plain = |word: &str| !word.is_empty() && word.to_lowercase() == word;
            assert!(words.split(' ').all(is_plain), "{name}: {words}");
        }
        for (name, class) in NAMES {
            let is_of_an_ask = *class as u8 >= Class::Itself as u8;
            let is_listed = lines().any(|(known, _)| known == *name);
            assert!(is_listed != is_of_an_ask, "{name}");
        }
        assert!(NAMES.len() <= 128, "a bit for each");
        assert!(classes("won't").has(Class::Denying));
    }
}
