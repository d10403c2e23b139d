//! `--only grpc,tcp:tcp+framed/protobuf`: a selection of frameworks and wires.

use anyhow::Result;

use crate::discovery::Stack;
use crate::offer::ClientOffer;
use crate::usage::usage_error;

/// Which frameworks to take, and on which wires; empty: all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(Vec<(String, Option<String>)>);

impl Only {
    /// From the value of the flag; an empty text selects all.
    ///
    /// # Errors
    /// When a name between the commas is empty.
    pub fn parse(text: &str) -> Result<Self> {
        let names = text.split(',').map(str::trim);
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        names
            .map(|name| match name.split_once(':') {
                Some((framework, wire)) if !framework.is_empty() && !wire.is_empty() => Ok((framework.to_owned(), Some(wire.to_owned()))),
                None if !name.is_empty() => Ok((name.to_owned(), None)),
                _ => Err(usage_error(format!(
                    "--only '{text}': give framework or framework:wire, separated by commas"
                ))),
            })
            .collect::<Result<Vec<_>>>()
            .map(Self)
    }

    /// Whether a framework is among the selected ones.
    pub fn takes(&self, framework: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|(name, _)| name == framework)
    }

    /// The wires it names for a framework; empty when it leaves them to the sweep.
    pub fn wires_of(&self, framework: &str) -> Vec<String> {
        self.0
            .iter()
            .filter(|(name, _)| name == framework)
            .filter_map(|(_, wire)| wire.clone())
            .collect()
    }

    /// The names as they were given.
    pub fn names(&self) -> Vec<String> {
        let name = |(framework, wire): &(String, Option<String>)| match wire {
            Some(wire) => format!("{framework}:{wire}"),
            None => framework.clone(),
        };
        self.0.iter().map(name).collect()
    }

    /// Refuses frameworks that were not discovered: before anything is built.
    ///
    /// # Errors
    /// With a list of the frameworks there are.
    pub fn check_frameworks(&self, stacks: &[Stack]) -> Result<()> {
        let there: Vec<&str> = stacks.iter().map(|stack| stack.framework.as_str()).collect();
        match self.0.iter().find(|(name, _)| !there.contains(&name.as_str())) {
            Some((name, _)) => Err(usage_error(format!(
                "--only: there is no framework '{name}'; there are: {}",
                there.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// Refuses names that no stack has.
    ///
    /// # Errors
    /// With a list of the names there are.
    pub fn check(&self, offers: &[ClientOffer]) -> Result<()> {
        for ((framework, wire), name) in self.0.iter().zip(self.names()) {
            let offer = offers.iter().find(|offer| offer.framework == *framework);
            let has = |wire: &String| offer.is_some_and(|offer| offer.wires().contains(&wire.as_str()));
            if offer.is_none() || !wire.as_ref().is_none_or(has) {
                return Err(usage_error(format!(
                    "--only: there is no '{name}'; there are: {}",
                    names_of(offers)
                )));
            }
        }
        Ok(())
    }
}

/// Every name that `--only` takes.
fn names_of(offers: &[ClientOffer]) -> String {
    let names_of = |offer: &ClientOffer| {
        let wires = offer
            .wires()
            .into_iter()
            .map(|wire| format!("{}:{wire}", offer.framework))
            .collect::<Vec<_>>();
        format!("{}, {}", offer.framework, wires.join(", "))
    };
    offers.iter().map(names_of).collect::<Vec<_>>().join(", ")
}
