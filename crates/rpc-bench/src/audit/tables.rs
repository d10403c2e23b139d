//! Tables in a text: CSV, or pipe tables of Markdown anywhere in it.

use anyhow::{Context, Result, bail};

/// A table as it stands in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    /// Line of its header, from 1.
    pub line: u64,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Rows with their lines.
    pub rows: Vec<(u64, Vec<String>)>,
}

/// All tables of a text: every Markdown table in it, or, without any, the whole text as CSV.
///
/// # Errors
/// When it is neither: the text names the line.
pub fn find(text: &str) -> Result<Vec<RawTable>> {
    let tables = markdown(text);
    if !tables.is_empty() {
        return Ok(tables);
    }
    csv(text).map(|table| vec![table])
}

fn markdown(text: &str) -> Vec<RawTable> {
    let mut tables: Vec<RawTable> = Vec::new();
    let mut before: Option<Vec<String>> = None;
    let mut inside = false;
    for (line, text) in (1..).zip(text.lines()) {
        let cells = text.contains('|').then(|| cells(text));
        if let (true, Some(table), Some(cells)) = (inside, tables.last_mut(), &cells) {
            table.rows.push((line, cells.clone()));
        } else if let (Some(header), Some(true)) = (before.take(), cells.as_deref().map(is_rule)) {
            inside = true;
            tables.push(RawTable {
                line: line - 1,
                header,
                rows: Vec::new(),
            });
        } else {
            inside = false;
            before = cells;
        }
    }
    tables
}

/// The cells between pipes; a `\|` is a pipe inside a cell.
fn cells(line: &str) -> Vec<String> {
    const ESCAPED: &str = "\u{0}";
    let line = line.trim().replace("\\|", ESCAPED);
    let line = line.strip_prefix('|').unwrap_or(&line);
    let line = line.strip_suffix('|').unwrap_or(line);
    line.split('|').map(|cell| cell.trim().replace(ESCAPED, "|")).collect()
}

/// The line under a header: `|---|:-:|--:|`.
fn is_rule(cells: &[String]) -> bool {
    let is_one = |cell: &String| cell.contains('-') && cell.trim_matches(':').chars().all(|c| c == '-');
    cells.iter().all(is_one)
}

/// Lines that begin with `#` are left out; the delimiter is the one of `,`, `;` and tab that the first line has most of.
fn csv(text: &str) -> Result<RawTable> {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .unwrap_or_default();
    let frequency = |delimiter: u8| first.bytes().filter(|&byte| byte == delimiter).count();
    let delimiter = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|&delimiter| frequency(delimiter))
        .unwrap_or(b',');
    if frequency(delimiter) == 0 {
        bail!(
            "no table: neither a pipe table of Markdown with a line of dashes under its header, nor CSV with `,`, `;` or tab between columns"
        );
    }
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .comment(Some(b'#'))
        .flexible(true)
        .trim(::csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let header = reader.headers().context("the header of the CSV")?;
    let line = line_of(text, header);
    let header = header.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.context("a row of the CSV")?;
        rows.push((line_of(text, &record), record.iter().map(str::to_owned).collect()));
    }
    Ok(RawTable { line, header, rows })
}

/// Line of a record. The reader's own is that of the first line it left out before it.
fn line_of(text: &str, record: &::csv::StringRecord) -> u64 {
    let from = record.position().map_or(1, ::csv::Position::line);
    let left_out = |line: &&str| line.trim().is_empty() || line.starts_with('#');
    from + text.lines().skip(from.saturating_sub(1) as usize).take_while(left_out).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn pipe_tables_are_found_between_other_words() {
        let text = "# Title\n\na | b in prose\n\n| name | TPS |\n|---|--:|\n| x\\|y | 1 |\n| z |\n\nwords\n\na | b\n:-: | -\n1 | 2";
        let tables = find(text).unwrap();
        let expected = [
            RawTable {
                line: 5,
                header: strings(&["name", "TPS"]),
                rows: vec![(7, strings(&["x|y", "1"])), (8, strings(&["z"]))],
            },
            RawTable {
                line: 12,
                header: strings(&["a", "b"]),
                rows: vec![(14, strings(&["1", "2"]))],
            },
        ];
        assert_eq!(tables, expected);
    }

    #[test]
    fn csv_may_have_quotes_comments_and_other_delimiters() {
        let check = |text: &str, line: u64, rows: Vec<(u64, Vec<String>)>| {
            assert_eq!(
                find(text).unwrap(),
                [RawTable {
                    line,
                    header: strings(&["name", "TPS"]),
                    rows
                }],
                "{text}"
            );
        };
        check("name,TPS\n\"a,b\",\"1,000\"\n", 1, vec![(2, strings(&["a,b", "1,000"]))]);
        check(
            "# from a page, by hand\nname;TPS\n# more\na ; 1\n",
            2,
            vec![(4, strings(&["a", "1"]))],
        );
        check(
            "\u{feff}name\tTPS\nshort\nx\t1\ty\n",
            1,
            vec![(2, strings(&["short"])), (3, strings(&["x", "1", "y"]))],
        );
    }

    #[test]
    fn a_text_without_a_table_is_an_error_that_says_what_a_table_is() {
        for text in ["", "only words\n", "a | b\nno rule\n"] {
            let error = find(text).unwrap_err().to_string();
            assert!(error.contains("pipe table") && error.contains("CSV"), "{error}");
        }
    }
}
