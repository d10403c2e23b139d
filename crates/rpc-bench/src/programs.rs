//! The binaries of a stack.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::build::build_in;
use crate::discovery::Stack;
use crate::offer::{ClientOffer, ask_client};

/// A stack and its built binaries.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The packages.
    pub stack: Stack,
    /// Binary of the server.
    pub server: PathBuf,
    /// Binary of the client.
    pub client: PathBuf,
}

impl Programs {
    /// Builds both binaries of a stack, each by itself.
    ///
    /// # Errors
    /// When cargo fails.
    pub fn build(manifest: Option<&Path>, stack: Stack, profile: &str) -> Result<Self> {
        Ok(Self {
            server: build_in(manifest, &stack.server, profile)?,
            client: build_in(manifest, &stack.client, profile)?,
            stack,
        })
    }

    /// What the client offers.
    ///
    /// # Errors
    /// When it does not say.
    pub fn offer(&self) -> Result<ClientOffer> {
        ask_client(&self.stack.client, &self.client, &self.stack.framework)
    }

    /// Both at once.
    ///
    /// # Errors
    /// As [`Programs::build`] and [`Programs::offer`].
    pub fn build_and_ask(manifest: Option<&Path>, stack: Stack, profile: &str) -> Result<(Self, ClientOffer)> {
        let programs = Self::build(manifest, stack, profile)?;
        let offer = programs.offer()?;
        Ok((programs, offer))
    }
}
