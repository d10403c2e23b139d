//! The methods, answered by the suite's handler.

use bench_core::handler::Handler;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::types::{ErrorObjectOwned, Params};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// `echo` and `payload`, each with one parameter.
pub fn module(handler: Handler) -> Result<RpcModule<Handler>, RegisterMethodError> {
    let mut module = RpcModule::new(handler);
    module.register_async_method("echo", |params, handler, _| async move {
        let message: BenchmarkMessage = only_parameter(&params)?;
        Ok::<_, ErrorObjectOwned>(handler.echo(message).await)
    })?;
    module.register_async_method("payload", |params, handler, _| async move {
        let message: PayloadMessage = only_parameter(&params)?;
        Ok::<_, ErrorObjectOwned>(handler.payload(message).await)
    })?;
    Ok(module)
}

#[derive(Deserialize)]
struct Named<M> {
    message: M,
}

/// By position, `[message]`, or by name, `{"message": message}`.
fn only_parameter<M: DeserializeOwned>(params: &Params<'_>) -> Result<M, ErrorObjectOwned> {
    match params.is_object() {
        true => params.parse::<Named<M>>().map(|named| named.message),
        false => params.one(),
    }
}
