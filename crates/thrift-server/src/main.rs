//! Server of the Thrift stack: Apache Thrift's generated processor on the connections that the harness accepts, each on a thread of its
//! own.

mod connection;
mod service;

use std::marker::PhantomData;
use std::process::ExitCode;

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_serve::blocking::serve_on_threads;
use bench_serve::{Incoming, Registry, Serve, ServeError, Server, Settings};
use thrift_api::{BufferedBinary, BufferedCompact, FramedBinary, FramedCompact, Variant};

struct Thrift<V>(PhantomData<V>);

impl<V: Variant + Send> Server for Thrift<V> {
    const WIRES: &'static [Wire] = &[V::WIRE];
    const BLOCKING: bool = true;

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        serve_on_threads(incoming, serve, connection::serve::<V>).await
    }

    fn settings(lane: Lane) -> Settings {
        let mut settings = thrift_api::settings::<V>(lane);
        settings.insert("threads".to_owned(), "one per connection".into());
        settings.insert("protocol_objects".to_owned(), connection::protocol_objects(lane).into());
        settings
    }
}

fn main() -> ExitCode {
    Registry::new("thrift", "thrift")
        .serves::<Thrift<BufferedBinary>>()
        .serves::<Thrift<FramedBinary>>()
        .serves::<Thrift<BufferedCompact>>()
        .serves::<Thrift<FramedCompact>>()
        .main()
}
