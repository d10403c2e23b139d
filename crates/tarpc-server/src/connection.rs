//! One connection, in either lane.

use bench_core::failure::in_full;
use bench_core::lane::Lane;
use bench_serve::Serve;
use tarpc_api::{Format, direct_transport, library_transport};
use tokio::net::TcpStream;

use crate::{in_place, spawning};

/// Serves it until its peer closes it or the server is to stop; calls under way then come to their end.
///
/// tarpc panics at a deadline beyond what an instant can hold. That is one peer's fault, and ends that peer's connection.
pub async fn serve_one<F: Format>(stream: TcpStream, serve: Serve) -> Result<(), String> {
    let served = match serve.lane {
        Lane::Default => spawning::serve(library_transport::<F, _, _>(stream), serve).await,
        Lane::Tuned => in_place::serve(direct_transport::<F, _>(stream), serve).await,
    };
    served.map_err(|error| in_full(&error))
}
