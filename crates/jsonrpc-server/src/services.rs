//! What every connection of a runtime shares.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bench_core::handler::Handler;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::server::{
    ConnectionGuard, ConnectionState, Methods, Server, ServerConfig, ServerHandle, StopHandle, TowerServiceBuilder, stop_channel,
};
use tower::layer::util::Identity;

use crate::{limits, methods};

/// The library's parts. Clones are of the same server.
#[derive(Clone)]
pub struct Services {
    pub handler: Handler,
    pub builder: TowerServiceBuilder<Identity, Identity>,
    pub config: ServerConfig,
    pub methods: Methods,
    pub stop: StopHandle,
    guard: ConnectionGuard,
    connections: Arc<AtomicU32>,
    handle: ServerHandle,
}

impl Services {
    pub fn new(handler: Handler) -> Result<Self, RegisterMethodError> {
        let config = limits::config();
        let methods = methods::module(handler.clone())?.into();
        let (stop, handle) = stop_channel();
        Ok(Self {
            handler,
            builder: Server::builder().set_config(config.clone()).to_service_builder(),
            methods,
            stop,
            guard: ConnectionGuard::new(limits::CONNECTIONS as usize),
            connections: Arc::default(),
            handle,
            config,
        })
    }

    /// What the library wants to know of a new connection.
    pub fn connection(&self) -> io::Result<ConnectionState> {
        let id = self.connections.fetch_add(1, Ordering::Relaxed);
        let permit = self.guard.try_acquire().ok_or_else(|| io::Error::other("too many connections"))?;
        Ok(ConnectionState::new(self.stop.clone(), id, permit))
    }

    /// Tells every connection to end after the calls that are under way, and waits until the last has.
    pub async fn stop(self) {
        let handle = self.handle.clone();
        // An error means that nothing listens any more.
        let _ = handle.stop();
        // It counts the stop handles that are left.
        drop(self);
        handle.stopped().await;
    }
}
