//! What the axes of a sweep come to, stack by stack.

use anyhow::Result;
use bench_core::arrival::Arrival;
use bench_core::runtime::RuntimeKind;

use super::expand::{Expansion, expand};
use super::file::parse;
use super::only::Only;
use super::pace::Pace;
use crate::offer::{ClientOffer, Entry};

fn offers() -> Vec<ClientOffer> {
    let entry = |wire: &str, workload: &str, shares, flagship| Entry {
        wire: wire.to_owned(),
        workload: workload.to_owned(),
        shares,
        sized: workload == "payload",
        blocking: false,
        flagship,
    };
    vec![
        ClientOffer {
            framework: "grpc".to_owned(),
            library: "tonic".to_owned(),
            entries: vec![entry("h2/protobuf", "echo", true, true)],
        },
        ClientOffer {
            framework: "tcp".to_owned(),
            library: "tokio".to_owned(),
            entries: vec![
                entry("tcp/protobuf", "echo", false, true),
                entry("tcp/bytes", "payload", false, false),
            ],
        },
    ]
}

fn expand_text(text: &str, only: &str) -> Result<Expansion> {
    let file = parse(&format!("title = \"t\"\n{text}"))?;
    expand(&file, &offers(), &Only::parse(only)?)
}

#[test]
fn the_number_of_cells_is_the_product_of_the_axes() {
    let check = |text: &str, only: &str, cells: usize, not_offered: usize| {
        let expansion = expand_text(text, only).unwrap();
        assert_eq!((expansion.cells.len(), expansion.not_offered.len()), (cells, not_offered), "{text}");
    };
    check("[[matrix]]", "", 2, 0);
    check("[[matrix]]\ndelays_ms = [0, 10, 30]\ncallers = [5, 6]", "", 12, 0);
    check("[[matrix]]\nconnections = [\"per-caller\", 4]", "", 3, 1);
    check("[[matrix]]\nframeworks = [\"tcp\"]\nwires = [\"all\"]", "", 2, 0);
    check("[[matrix]]\nworkloads = [\"echo\", \"payload\"]\nwires = [\"all\"]", "", 3, 3);
    check(
        "[[matrix]]\ncallers = [4]\nframeworks = [\"grpc\"]\nconnections = [1, 4, 5]",
        "",
        1,
        2,
    );
    check("[[matrix]]\nserver_threads = [1, 2]\nclient_threads = [1, 2]", "", 8, 0);
    check("[[matrix]]\nyields = [false, true]\nserver_runtimes = [\"multi\"]", "", 4, 0);
    check("[[matrix]]\nrates_per_s = [100, 200]\nconnections = [\"per-caller\", 4]", "", 6, 2);
    // Not to be told apart by a thousandth of a call per second: one cell.
    check("[[matrix]]\nrates_per_s = [100, 100.0001]", "grpc", 1, 0);
    check(
        "[[matrix]]\nworkloads = [\"echo\", \"payload\"]\nwires = [\"all\"]\npayload_bytes = [1, 2]",
        "tcp",
        3,
        2,
    );
    check("[[matrix]]", "tcp:tcp/bytes", 1, 0);
    check("[[matrix]]", "tcp:tcp/bytes,grpc", 2, 0);
    check("[[matrix]]\nwires = [\"tcp/bytes\"]", "", 1, 0);
}

#[test]
fn a_client_with_a_thread_per_connection_has_no_number_of_threads() {
    let mut offers = offers();
    offers[0].entries[0].blocking = true;
    let check = |text: &str, cells: usize, not_offered: usize| {
        let file = parse(&format!("title = \"t\"\n[[matrix]]\n{text}")).unwrap();
        let expansion = expand(&file, &offers, &Only::parse("").unwrap()).unwrap();
        assert_eq!((expansion.cells.len(), expansion.not_offered.len()), (cells, not_offered), "{text}");
    };
    check("client_threads = [1, 2]", 2, 2);
    check("server_threads = [1, 2]", 2, 2);
    check("server_runtimes = [\"current-thread\", \"multi\"]", 2, 2);
    // Its threads can yield, and be called at a rate.
    check("yields = [false, true]", 4, 0);
    check("rates_per_s = [100]", 2, 0);
}

#[test]
fn a_cell_of_two_matrices_runs_once_with_the_larger_number_of_rounds() {
    let text = "[[matrix]]\nrounds = 3\n[[matrix]]\ndelays_ms = [0, 10]\nrounds = 2";
    let rounds: Vec<u64> = expand_text(text, "grpc").unwrap().cells.iter().map(|cell| cell.rounds).collect();
    assert_eq!(rounds, [3, 2]);
}

#[test]
fn a_cell_has_the_rate_the_arrivals_the_yield_and_the_runtime_of_its_matrix() {
    let text = "[[matrix]]\n[[matrix]]\nrates_per_s = [0.5]\n[[matrix]]\nrates_per_s = [2000]\narrival = \"poisson\"\n\
                yields = [true]\nserver_runtimes = [\"multi\"]";
    let cells = expand_text(text, "grpc").unwrap().cells;
    let asked: Vec<_> = cells
        .iter()
        .map(|planned| (planned.cell.pace, planned.cell.yields, planned.cell.server_runtime))
        .collect();
    assert_eq!(
        asked,
        [
            (None, false, None),
            (Some(Pace::new(0.5, Arrival::Constant)), false, None),
            (Some(Pace::new(2000.0, Arrival::Poisson)), true, Some(RuntimeKind::Multi)),
        ]
    );
}

#[test]
fn scale_multiplies_measured_seconds_and_calls_and_leaves_the_warm_up() {
    let text = "run.scale = 0.25\n[[matrix]]\nseconds = 2\ncalls = 10\nwarmup_seconds = 1";
    let cell = expand_text(text, "grpc").unwrap().cells.remove(0).cell;
    assert_eq!((cell.measure_ms, cell.calls, cell.warmup_ms), (500, Some(3), 1000));
}

#[test]
fn unknown_names_are_answered_with_what_there_is() {
    let check = |text: &str, only: &str, parts: &[&str]| {
        let error = format!("{:#}", expand_text(text, only).unwrap_err());
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    };
    check("[[matrix]]\nframeworks = [\"x\"]", "", &["matrix 1", "'x'", "grpc, tcp"]);
    check("[[matrix]]\nwires = [\"x\"]", "", &["'x'", "flagship", "h2/protobuf", "tcp/bytes"]);
    check("[[matrix]]\nworkloads = [\"x\"]", "", &["'x'", "echo, payload"]);
    check(
        "[[matrix]]\npayload_bytes = [1]",
        "",
        &["payload_bytes", "workloads = [\"payload\"]"],
    );
    check("[[matrix]]", "x", &["--only", "'x'", "grpc", "tcp:tcp/bytes"]);
    check("[[matrix]]", "tcp:x", &["--only", "'tcp:x'", "tcp:tcp/bytes"]);
    check("[[matrix]]\nframeworks = [\"grpc\"]", "tcp", &["nothing is left"]);
}
