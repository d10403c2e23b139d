//! One of the things that are compared.

use crate::programs::Programs;
use crate::sweep::cell::Cell;

/// A server and a client, and how they are started.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Its name in tables.
    pub name: String,
    /// What is asked of both sides; its window is not used, slices have their own.
    pub cell: Cell,
    /// Their binaries.
    pub programs: Programs,
    /// Environment variables of both processes, beyond the inherited ones.
    pub environment: Vec<(String, String)>,
    /// More flags of the server.
    pub server_flags: Vec<String>,
    /// More flags of the client.
    pub client_flags: Vec<String>,
}

impl Arm {
    /// The cell with these binaries, and nothing added.
    pub fn new(name: &str, cell: Cell, programs: Programs) -> Self {
        Self {
            name: name.to_owned(),
            cell,
            programs,
            environment: Vec::new(),
            server_flags: Vec::new(),
            client_flags: Vec::new(),
        }
    }
}
