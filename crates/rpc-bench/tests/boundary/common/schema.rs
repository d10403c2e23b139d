//! The JSON Schema of the record: generated from the type, published in `schema/`, and the judge of every record in these tests.

use std::path::PathBuf;
use std::sync::OnceLock;

use bench_core::record::Record;
use jsonschema::Validator;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

/// Where the published schema is.
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schema/record.schema.json")
}

/// The schema as it should be published.
pub fn generate() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Record>();
    schema.insert("title".to_owned(), "rpc-bench run record, schema 1".into());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let what = "The cell that a sweep asked for; only in the records of a sweep.";
        properties.insert("cell".to_owned(), json!({ "description": what, "type": "object" }));
    }
    // A misspelt or forgotten name is an error, in every object that has names.
    RecursiveTransform(|schema: &mut schemars::Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    })
    .transform(&mut schema);
    schema.to_value()
}

/// The only record in a text: strict JSON, valid by the published schema, and read back as it was written.
#[track_caller]
pub fn record(text: &str) -> Record {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"));
    let errors: Vec<String> = (validator().iter_errors(&value))
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:?} (if the record has changed: schema/README.md)");
    let record: Record = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&record).unwrap(), value);
    record
}

fn validator() -> &'static Validator {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| {
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path()).unwrap()).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    })
}
