//! The published schema is that of the record's type, and it can say no.

use serde_json::{Value, json};

use crate::common::{Server, schema};

#[test]
fn the_published_schema_is_that_of_the_record() {
    let fresh = serde_json::to_string_pretty(&schema::generate()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(schema::path(), &fresh).unwrap();
    }
    let published = std::fs::read_to_string(schema::path()).unwrap_or_default();
    assert!(
        published == fresh,
        "schema/record.schema.json is old: schema/README.md says how to make it"
    );
}

#[test]
fn a_record_that_is_not_one_is_refused() {
    let server = Server::start("tcp-server", &[]);
    let good: Value = serde_json::from_str(&server.client(&["-n", "20", "-c", "2", "--warmup", "0"]).stdout).unwrap();
    let check = |change: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        change(&mut bad);
        assert_ne!(bad, good);
        let judged = std::panic::catch_unwind(|| schema::record(&bad.to_string()));
        assert!(judged.is_err(), "accepted: {bad}");
    };
    check(&|record| record["elapsed_s"] = Value::Null);
    check(&|record| record["unknown"] = json!(1));
    check(&|record| record["calls"]["lost"] = json!(1));
    check(&|record| record["calls"]["ok"] = json!(-1));
    check(&|record| record["verdict"] = json!("GOOD"));
    check(&|record| record["host"]["hostname"] = json!("box"));
    check(&|record| drop(record.as_object_mut().unwrap().remove("server")));
    check(&|record| record["service_time_ns"]["p99"] = json!("fast"));
}
