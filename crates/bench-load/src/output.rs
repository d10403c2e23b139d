//! stdout and the record file.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bench_core::talk;
use tempfile::NamedTempFile;

use crate::flags::Output;
use crate::registry::Registry;

/// Room that is taken on the disk before the load starts; a record is a few kilobytes to some dozen.
const RESERVED: usize = 128 * 1024;

/// The answer to `--list`.
pub(crate) fn list(registry: &Registry, format: Output) -> anyhow::Result<()> {
    let entries = registry.entries.iter().enumerate();
    match format {
        Output::Text => {
            let lines: Vec<String> = entries
                .map(|(index, entry)| {
                    let flagship = if index == 0 { "  (default)" } else { "" };
                    let pool = if entry.shares { "  --pool" } else { "" };
                    let threads = if entry.blocking { "  a thread per connection" } else { "" };
                    format!("{:<24} {:<10}{pool}{threads}{flagship}", entry.wire, entry.workload)
                })
                .collect();
            Ok(talk::print_line(&lines.join("\n"))?)
        }
        Output::Json => {
            let entries: Vec<_> = entries
                .map(|(index, entry)| {
                    serde_json::json!({
                        "wire": entry.wire.to_string(),
                        "workload": entry.workload,
                        "shares": entry.shares,
                        "sized": entry.sized,
                        "blocking": entry.blocking,
                        "flagship": index == 0,
                    })
                })
                .collect();
            let list = serde_json::json!({
                "framework": registry.framework,
                "library": registry.library,
                "library_version": registry.library_version(),
                "entries": entries,
            });
            Ok(talk::print_line(&list.to_string())?)
        }
    }
}

/// Where `--record` goes: a temporary file beside the final one, so that there is never half a record under the final name.
pub(crate) struct RecordFile {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    /// Renamed to `path` when it is whole.
    Temporary(NamedTempFile),
    /// A pipe or a device, which must not be replaced by a file.
    Special(File),
}

impl RecordFile {
    /// # Errors
    /// When the folder cannot be written or the disk is full.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let context = || format!("--record: cannot write {}", path.display());
        let special = path.metadata().is_ok_and(|meta| !meta.is_file());
        let sink = if special {
            Sink::Special(OpenOptions::new().write(true).open(path).with_context(context)?)
        } else {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            let mut file = tempfile::Builder::new()
                .prefix(".record-")
                .suffix(".tmp")
                .tempfile_in(folder)
                .with_context(context)?;
            file.write_all(&vec![0; RESERVED])
                .and_then(|()| file.as_file().sync_data())
                .with_context(context)?;
            Sink::Temporary(file)
        };
        Ok(Self {
            path: path.to_owned(),
            sink,
        })
    }

    /// Writes the record and gives the file its name.
    ///
    /// # Errors
    /// When it cannot be written; then there is no file of that name, or the old one as it was.
    pub fn keep(self, json: &str) -> anyhow::Result<()> {
        let context = || format!("--record: cannot write {}", self.path.display());
        match self.sink {
            Sink::Special(mut file) => writeln!(file, "{json}").with_context(context),
            Sink::Temporary(mut temporary) => {
                let file = temporary.as_file_mut();
                file.seek(SeekFrom::Start(0)).with_context(context)?;
                writeln!(file, "{json}").with_context(context)?;
                let length = file.stream_position().with_context(context)?;
                file.set_len(length).with_context(context)?;
                make_readable(file).with_context(context)?;
                temporary.persist(&self.path).map_err(|error| error.error).with_context(context)?;
                Ok(())
            }
        }
    }
}

/// A temporary file is private; a record is as readable as any file that the user makes.
fn make_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}
