//! The generated client, whatever the types of its protocols.

use thrift::protocol::{TInputProtocol, TOutputProtocol};
use thrift_api::{BenchSyncClient, Protocols, TBenchSyncClient};

/// Makes it.
pub struct GeneratedClient;

impl Protocols for GeneratedClient {
    type Output = Box<dyn TBenchSyncClient>;

    fn with<I: TInputProtocol + 'static, O: TOutputProtocol + 'static>(self, input: I, output: O) -> Self::Output {
        Box::new(BenchSyncClient::new(input, output))
    }
}
