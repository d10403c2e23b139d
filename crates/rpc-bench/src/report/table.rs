//! A table of text: aligned columns for a terminal, or Markdown.

/// Where a cell's text stands in its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of text under a header.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns and no rows.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        Self {
            columns: columns.into_iter().map(|(name, align)| (name.to_owned(), align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// For a terminal: two spaces between columns, no lines.
    pub fn text(&self) -> String {
        let widths = self.widths();
        let header = self.columns.iter().map(|(name, _)| name);
        let mut text = self.line(header, &widths, "  ");
        for row in &self.rows {
            text.push_str(&self.line(row, &widths, "  "));
        }
        text
    }

    /// For Markdown: a pipe table, padded so that the source is readable too.
    pub fn markdown(&self) -> String {
        let widths: Vec<usize> = self.widths().into_iter().map(|width| width.max(3)).collect();
        let bar = |line: String| format!("| {} |\n", line.trim_end_matches('\n'));
        let header = self.columns.iter().map(|(name, _)| name);
        let mut text = bar(self.padded(header, &widths, " | "));
        let rule: Vec<String> = self
            .columns
            .iter()
            .zip(&widths)
            .map(|((_, align), width)| match align {
                Align::Left => "-".repeat(*width),
                Align::Right => format!("{}:", "-".repeat(width - 1)),
            })
            .collect();
        text.push_str(&bar(rule.join(" | ")));
        for row in &self.rows {
            let escaped: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            text.push_str(&bar(self.padded(escaped.iter(), &widths, " | ")));
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let cells_of = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let width = |text: &String| text.chars().count();
        (self.columns.iter().enumerate())
            .map(|(column, (name, _))| cells_of(column).map(width).fold(width(name), usize::max))
            .collect()
    }

    fn line<'a>(&self, cells: impl IntoIterator<Item = &'a String>, widths: &[usize], between: &str) -> String {
        format!("{}\n", self.padded(cells, widths, between).trim_end())
    }

    fn padded<'a>(&self, cells: impl IntoIterator<Item = &'a String>, widths: &[usize], between: &str) -> String {
        let padded: Vec<String> = (cells.into_iter().zip(widths).zip(&self.columns))
            .map(|((cell, &width), (_, align))| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect();
        padded.join(between)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new([("name", Align::Left), ("µs", Align::Right)]);
        table.row(["a|b".to_owned(), "1,234".to_owned()]);
        table.row(["longer".to_owned()]);
        table
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(example().text(), "name       µs\na|b     1,234\nlonger\n");
    }

    #[test]
    fn markdown_escapes_pipes_and_aligns_numbers_right() {
        let expected = "\
| name   |    µs |
| ------ | ----: |
| a\\|b   | 1,234 |
| longer |       |
";
        assert_eq!(example().markdown(), expected);
    }
}
