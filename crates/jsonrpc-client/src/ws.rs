//! Calls over a WebSocket, which any number of callers share.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use bench_core::failure::{CallError, FailureKind};
use bench_core::lane::Lane;
use bench_load::{CallResult, Settings, Target};
use jsonrpsee::core::client::{ClientT as _, Error};
use jsonrpsee::rpc_params;
use jsonrpsee_ws_client::{RpcService, RpcServiceBuilder, WsClient, WsClientBuilder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bare::Bare;
use crate::{JsonRpc, Share, Transport, failure, limits};

/// One WebSocket; clones share it.
#[derive(Clone)]
pub enum Ws {
    /// As jsonrpsee's documentation shows.
    Documented(Rc<WsClient>),
    /// The service of a client, without its logging layer and timer.
    Bare(Rc<BareWs>),
}

pub struct BareWs {
    calls: Bare<RpcService>,
    /// Owns the connection, and knows why it ended.
    client: WsClient<RpcService>,
}

impl Transport for Ws {
    const NAME: &'static str = "ws";
    const SHARE: Option<Share<JsonRpc<Self>>> = Some(Clone::clone);

    async fn connect(target: &Target) -> CallResult<Self> {
        let stream = target.dial().await?;
        let url = format!("ws://{}", target.text);
        let builder = WsClientBuilder::new()
            .max_concurrent_requests(limits::CALLS)
            .max_request_size(limits::BODY_BYTES)
            .max_response_size(limits::BODY_BYTES)
            .request_timeout(limits::CALL_TIME);
        match target.lane {
            Lane::Default => {
                let client = builder.build_with_stream(url, stream).await;
                Ok(Self::Documented(Rc::new(client.map_err(failure::of_ws_connect)?)))
            }
            Lane::Tuned => {
                let made = Arc::new(OnceLock::new());
                let keep = made.clone();
                // A client shows its service to its layers only.
                let layer = RpcServiceBuilder::new().layer_fn(move |service: RpcService| keep.get_or_init(|| service).clone());
                let client = builder.set_rpc_middleware(layer).build_with_stream(url, stream).await;
                let client = client.map_err(failure::of_ws_connect)?;
                let service = made.get().ok_or_else(no_service)?.clone();
                let calls = Bare::new(service);
                Ok(Self::Bare(Rc::new(BareWs { calls, client })))
            }
        }
    }

    async fn request<P: Serialize + Send, R: DeserializeOwned>(&self, method: &str, parameter: P) -> CallResult<R> {
        let reply = match self {
            Self::Documented(client) => client.request(method, rpc_params![parameter]).await,
            Self::Bare(bare) => match bare.calls.request(method, parameter).await {
                Err(Error::ServiceDisconnect) => Err(bare.client.on_disconnect().await),
                reply => reply,
            },
        };
        reply.map_err(failure::of_call)
    }

    fn settings(lane: Lane) -> Settings {
        let (middleware, timeout) = match lane {
            Lane::Default => ("RpcLogger", "24 h"),
            Lane::Tuned => ("none", "none"),
        };
        let mut settings = limits::settings("WsClient", middleware, timeout);
        settings.insert("max_concurrent_requests".to_owned(), limits::CALLS.into());
        settings.insert("ws_ping".to_owned(), "off".into());
        settings
    }
}

fn no_service() -> CallError {
    CallError::fatal(FailureKind::Other, "the library made a client without its layers")
}
