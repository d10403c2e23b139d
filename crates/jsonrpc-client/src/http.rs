//! Calls over HTTP/1.1, one at a time per connection.

use bench_core::lane::Lane;
use bench_load::{CallResult, Settings, Target};
use jsonrpsee::core::client::ClientT as _;
use jsonrpsee::rpc_params;
use jsonrpsee_http_client::transport::HttpTransportClientBuilder;
use jsonrpsee_http_client::{HttpBackend, HttpClient, HttpClientBuilder, RpcLogger, RpcService};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower::ServiceBuilder;

use crate::bare::Bare;
use crate::direct::Direct;
use crate::pooled::Pooled;
use crate::{JsonRpc, Share, Transport, failure, limits};

/// One HTTP connection. Either way the library's own backend, which would dial, is replaced by one over the harness's socket.
pub enum Http {
    /// As jsonrpsee's documentation shows, over the pooled client that its backend is.
    Documented(HttpClient<RpcLogger<RpcService<Pooled>>>),
    /// The service of a client, over hyper's connection without a pool.
    Bare(Bare<RpcService<Direct>>),
}

impl Transport for Http {
    const NAME: &'static str = "http";
    const SHARE: Option<Share<JsonRpc<Self>>> = None;

    async fn connect(target: &Target) -> CallResult<Self> {
        let stream = target.dial().await?;
        let url = format!("http://{}", target.text);
        match target.lane {
            Lane::Default => {
                let pooled = Pooled::new(stream);
                let client = HttpClientBuilder::new()
                    .max_request_size(limits::BODY_BYTES)
                    .max_response_size(limits::BODY_BYTES)
                    .request_timeout(limits::CALL_TIME)
                    .set_http_middleware(ServiceBuilder::new().layer_fn(move |_: HttpBackend| pooled.clone()))
                    .build(url);
                client.map(Self::Documented).map_err(failure::of_call)
            }
            Lane::Tuned => {
                let direct = Direct::handshake(stream, &target.text).await?;
                let transport = HttpTransportClientBuilder::new()
                    .max_request_size(limits::BODY_BYTES)
                    .max_response_size(limits::BODY_BYTES)
                    .set_service(ServiceBuilder::new().layer_fn(move |_: HttpBackend| direct.clone()))
                    .build(url)
                    .map_err(|error| failure::of_http(&error))?;
                Ok(Self::Bare(Bare::new(RpcService::new(transport))))
            }
        }
    }

    async fn request<P: Serialize + Send, R: DeserializeOwned>(&self, method: &str, parameter: P) -> CallResult<R> {
        let reply = match self {
            Self::Documented(client) => client.request(method, rpc_params![parameter]).await,
            Self::Bare(calls) => calls.request(method, parameter).await,
        };
        reply.map_err(failure::of_call)
    }

    fn settings(lane: Lane) -> Settings {
        match lane {
            Lane::Default => limits::settings("HttpClient over hyper_util::client::legacy", "RpcLogger", "24 h"),
            Lane::Tuned => limits::settings("HttpTransportClient over hyper::client::conn::http1", "none", "none"),
        }
    }
}
