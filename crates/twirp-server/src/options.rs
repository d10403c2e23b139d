//! hyper's settings in the two lanes.

use bench_core::lane::Lane;
use bench_serve::Settings;
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto::Builder;

/// The values of one lane.
struct Options {
    date: bool,
    stream_window_bytes: u32,
    connection_window_bytes: u32,
    frame_bytes: u32,
}

/// hyper's own, as of 1.12 (`proto/h2/server.rs`): it does not tell them.
const DEFAULT: Options = Options {
    date: true,
    stream_window_bytes: 1 << 20,
    connection_window_bytes: 1 << 20,
    frame_bytes: 16 << 10,
};

/// A whole body of the largest size fits a stream's window, and several fit the connection's: nobody waits for a WINDOW_UPDATE.
const TUNED: Options = Options {
    date: false,
    stream_window_bytes: 8 << 20,
    connection_window_bytes: 64 << 20,
    frame_bytes: 256 << 10,
};

const fn of(lane: Lane) -> Options {
    match lane {
        Lane::Default => DEFAULT,
        Lane::Tuned => TUNED,
    }
}

/// What serves connections in this lane.
pub fn builder(lane: Lane) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // hyper's 200 calls at once per connection would make the 201st caller wait in the client, unseen (METHODOLOGY.md, "Fairness").
    builder.http2().max_concurrent_streams(None);
    if lane == Lane::Tuned {
        let options = of(lane);
        builder.http1().auto_date_header(options.date);
        builder
            .http2()
            .auto_date_header(options.date)
            .initial_stream_window_size(options.stream_window_bytes)
            .initial_connection_window_size(options.connection_window_bytes)
            .max_frame_size(options.frame_bytes);
    }
    builder
}

/// The same for the record.
pub fn settings(lane: Lane) -> Settings {
    let options = of(lane);
    Settings::from([
        ("body_limit_bytes".to_owned(), twirp_api::BODY_LIMIT.into()),
        ("date_header".to_owned(), options.date.into()),
        ("h2_connection_window_bytes".to_owned(), options.connection_window_bytes.into()),
        ("h2_max_concurrent_streams".to_owned(), "unlimited".into()),
        ("h2_max_frame_bytes".to_owned(), options.frame_bytes.into()),
        ("h2_stream_window_bytes".to_owned(), options.stream_window_bytes.into()),
    ])
}
