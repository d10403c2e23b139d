//! The first few texts of something that may happen a million times.

/// How many are kept.
const KEPT: usize = 10;
/// Characters of each that are kept: a peer chooses some of these texts, and must not choose how much memory they take.
const LONGEST: usize = 300;

/// The first ten texts, each cut to 300 characters and on one line.
#[derive(Clone, Debug, Default)]
pub struct FirstTexts(Vec<String>);

impl FirstTexts {
    /// Keeps the text if it is among the first; returns it as it is kept.
    pub fn add(&mut self, text: &str) -> Option<&str> {
        if self.is_full() {
            return None;
        }
        let mut kept: String = text
            .chars()
            .take(LONGEST)
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .collect();
        if kept.len() < text.len() && text.chars().nth(LONGEST).is_some() {
            kept.push('…');
        }
        self.0.push(kept);
        self.0.last().map(String::as_str)
    }

    /// True when no more are kept.
    pub fn is_full(&self) -> bool {
        self.0.len() >= KEPT
    }

    /// The texts, in the order in which they came.
    pub fn texts(&self) -> &[String] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_are_kept_each_on_one_line_and_cut() {
        let mut first = FirstTexts::default();
        assert_eq!(first.add("one\x1b[2J\nline"), Some("one\u{fffd}[2J\u{fffd}line"));
        let long = "é".repeat(1000);
        assert_eq!(first.add(&long).map(|kept| kept.chars().count()), Some(LONGEST + 1));
        for i in 0..20 {
            first.add(&i.to_string());
        }
        assert_eq!(first.texts().len(), KEPT);
    }
}
