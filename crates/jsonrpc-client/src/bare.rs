//! The tuned lane's calls: jsonrpsee's service for requests, without what `ClientT::request` adds around it.

use std::cell::Cell;

use jsonrpsee::core::client::{Error, MiddlewareMethodResponse};
use jsonrpsee::core::middleware::{Request, RpcServiceT};
use jsonrpsee_http_client::types::{Id, InvalidRequestId, ResponseSuccess};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Numbers requests, makes them, and takes replies apart.
///
/// It leaves out the logging layer, which serialises every request and reply once more even if nobody listens; the timer per call, the
/// harness having one; and parameters that are parsed after they were written.
pub struct Bare<S> {
    service: S,
    last_id: Cell<u64>,
}

impl<S> Bare<S>
where
    S: RpcServiceT<MethodResponse = Result<MiddlewareMethodResponse, Error>>,
{
    pub fn new(service: S) -> Self {
        Self {
            service,
            last_id: Cell::new(0),
        }
    }

    pub async fn request<P: Serialize, R: DeserializeOwned>(&self, method: &str, parameter: P) -> Result<R, Error> {
        let id = Id::Number(self.last_id.get() + 1);
        self.last_id.set(self.last_id.get() + 1);
        let params = serde_json::value::to_raw_value(&[parameter])?;
        let request = Request::borrowed(method, Some(&params), id.clone());
        let response = self.service.call(request).await?.into_response();
        let success = ResponseSuccess::try_from(response.into_inner())?;
        if success.id != id {
            return Err(InvalidRequestId::NotPendingRequest(success.id.to_string()).into());
        }
        Ok(serde_json::from_str(success.result.get())?)
    }
}
