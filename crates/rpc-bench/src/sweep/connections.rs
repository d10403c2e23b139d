//! The axis of connections: one per caller, as the ancestors did, or a number that the callers share.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How callers and connections go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Connections {
    /// Each caller has its own.
    PerCaller,
    /// This many, shared by all callers; at least 1.
    Shared(u32),
}

impl fmt::Display for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerCaller => f.pad("per-caller"),
            Self::Shared(number) => f.pad(&format!("{number} shared")),
        }
    }
}

impl Serialize for Connections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::PerCaller => serializer.serialize_str("per-caller"),
            Self::Shared(number) => serializer.serialize_u32(*number),
        }
    }
}

impl<'de> Deserialize<'de> for Connections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ConnectionsVisitor)
    }
}

struct ConnectionsVisitor;

impl Visitor<'_> for ConnectionsVisitor {
    type Value = Connections;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"per-caller\" or a number of shared connections from 1")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Connections, E> {
        match text {
            "per-caller" => Ok(Connections::PerCaller),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Connections, E> {
        match u32::try_from(number) {
            Ok(number @ 1..) => Ok(Connections::Shared(number)),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Connections, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }
}
