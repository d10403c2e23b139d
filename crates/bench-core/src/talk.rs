//! Talk on stderr and data on stdout. Neither panics when the reader has gone away.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// One line for a person, on stderr. A closed stderr is no reason to stop.
pub fn say(text: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The beginning of a line on stderr.
pub fn say_partly(text: Arguments<'_>) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{text}");
    let _ = stderr.flush();
}

/// A line of data on stdout.
///
/// # Errors
/// As [`print`].
pub fn print_line(text: &str) -> io::Result<()> {
    print(&format!("{text}\n"))
}

/// Data on stdout, as it is: the line's end is the caller's.
///
/// # Errors
/// When it cannot be written; a reader that closed early (`| head -1`) is no error.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(io::Error::new(error.kind(), format!("stdout cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}
