//! The ladder for people.

use super::Ladder;
use crate::report::table::{Align, Table};

impl Ladder {
    /// A table, and what did not run below it.
    pub fn text(&self) -> String {
        let columns = ["rung", "client µs", "server µs", "sum µs", "least–greatest", "beyond raw TCP"];
        let mut table = Table::new(
            columns
                .into_iter()
                .enumerate()
                .map(|(place, name)| (name, if place == 0 { Align::Left } else { Align::Right })),
        );
        if let Some(alone) = &self.alone {
            table.row([
                format!("{} alone ({} + {} bytes)", self.codec, alone.request_bytes, alone.reply_bytes),
                format!("{:.2}", alone.client_us),
                format!("{:.2}", alone.server_us),
                format!("{:.2}", alone.client_us + alone.server_us),
            ]);
        }
        for rung in &self.rungs {
            table.row([
                rung.name.clone(),
                format!("{:.2}", rung.client_us),
                format!("{:.2}", rung.server_us),
                format!("{:.2}", rung.sum_us),
                format!("{:.1}–{:.1}", rung.sum_us_range.0, rung.sum_us_range.1),
                rung.beyond_control_us.map_or(String::new(), |beyond| format!("{beyond:+.2}")),
            ]);
        }
        let mut text = table.text();
        for failure in &self.failures {
            text.push_str(&format!("did not run: {failure}\n"));
        }
        text
    }
}
