//! What may differ between the two sides of an `ab`: the words of `--with`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use bench_core::lane::Lane;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another published version of a dependency, at any depth.
    Version {
        /// Its name, or `name@old` where the lock file has several versions of it.
        package: String,
        /// The version.
        version: String,
    },
    /// A dependency's source from a folder, through cargo's patch section.
    Path {
        /// The dependency.
        package: String,
        /// Folder of its Cargo.toml.
        folder: PathBuf,
    },
    /// A dependency's source from a git repository, through cargo's patch section.
    Git {
        /// The dependency.
        package: String,
        /// Of the repository.
        url: String,
        /// Commit, tag or branch.
        revision: Option<String>,
    },
    /// The suite itself at another revision.
    Revision(String),
    /// A cargo feature, `package/feature`.
    Feature {
        /// Package of the workspace.
        package: String,
        /// Feature of it.
        feature: String,
    },
    /// A setting of the cargo profile, such as `lto="thin"`.
    Profile {
        /// Key.
        key: String,
        /// Value, as TOML.
        value: String,
    },
    /// An environment variable of both processes.
    Environment {
        /// Name.
        name: String,
        /// Value.
        value: String,
    },
    /// A flag of the server.
    Server(Vec<String>),
    /// A flag of the client.
    Client(Vec<String>),
    /// The lane of both sides.
    Lane(Lane),
}

/// The forms, for help and errors.
pub const FORMS: &str = "\
  version:CRATE=1.2.3        another published version of a dependency (CRATE@OLD=… where there are several)
  path:CRATE=FOLDER          a dependency from a folder
  git:CRATE=URL[#REVISION]   a dependency from a git repository
  rev:REVISION               the suite itself at another git revision
  feature:PACKAGE/FEATURE    a cargo feature of a package of the workspace
  profile:KEY=VALUE          a setting of the cargo profile, such as profile:lto=\"thin\"
  env:NAME=VALUE             an environment variable of both processes
  server:--FLAG[=VALUE]      a flag of the server
  client:--FLAG[=VALUE]      a flag of the client
  lane:default|tuned         the lane of both sides";

/// Flags that a held pair is started with, or that would make something else of its slices.
const SET_FOR_BOTH: [&str; 30] = [
    "--addr",
    "-s",
    "--stats",
    "--delay",
    "--wire",
    "--lane",
    "--output",
    "--exit-on-stdin-close",
    "--workload",
    "-c",
    "--concurrency",
    "--warmup",
    "--timeout",
    "--drain",
    "--seed",
    "--label",
    "--progress",
    "--hold",
    "-r",
    "--rate",
    "-n",
    "--calls",
    "-d",
    "--duration",
    "--record",
    "--list",
    "--help",
    "-h",
    "--version",
    "-V",
];

impl Change {
    /// Whether the second side needs binaries of its own.
    pub fn needs_build(&self) -> bool {
        !matches!(self, Self::Environment { .. } | Self::Server(_) | Self::Client(_) | Self::Lane(_))
    }
}

impl fmt::Display for Change {
    /// As it is written in `--with`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { package, version } => write!(f, "version:{package}={version}"),
            Self::Path { package, folder } => write!(f, "path:{package}={}", folder.display()),
            Self::Git {
                package,
                url,
                revision: None,
            } => write!(f, "git:{package}={url}"),
            Self::Git {
                package,
                url,
                revision: Some(revision),
            } => write!(f, "git:{package}={url}#{revision}"),
            Self::Revision(revision) => write!(f, "rev:{revision}"),
            Self::Feature { package, feature } => write!(f, "feature:{package}/{feature}"),
            Self::Profile { key, value } => write!(f, "profile:{key}={value}"),
            Self::Environment { name, value } => write!(f, "env:{name}={value}"),
            Self::Server(flags) => write!(f, "server:{}", flags.join("=")),
            Self::Client(flags) => write!(f, "client:{}", flags.join("=")),
            Self::Lane(lane) => write!(f, "lane:{lane}"),
        }
    }
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("'{text}' is no change; the forms are:\n{FORMS}");
        let (kind, rest) = text.split_once(':').ok_or_else(unknown)?;
        let two = |separator: char, form: &str| {
            let parts = rest
                .split_once(separator)
                .filter(|(name, value)| !name.is_empty() && !value.is_empty());
            let (name, value) = parts.ok_or_else(|| format!("'{text}': expected {form}"))?;
            Ok::<_, String>((name.to_owned(), value.to_owned()))
        };
        let flag = || match rest.starts_with('-') {
            true => Ok(match rest.split_once('=') {
                Some((flag, value)) => vec![flag.to_owned(), value.to_owned()],
                None => vec![rest.to_owned()],
            }),
            false => Err(format!("'{text}': expected {kind}:--FLAG or {kind}:--FLAG=VALUE")),
        };
        let free = |flags: Vec<String>| match flags.first().filter(|flag| SET_FOR_BOTH.contains(&flag.as_str())) {
            Some(flag) => Err(format!(
                "'{text}': {flag} is set for both sides; choose it by a flag of this command (one side's lane by lane:default or lane:tuned)"
            )),
            None => Ok(flags),
        };
        Ok(match kind {
            "version" => {
                let (package, version) = two('=', "version:CRATE=1.2.3")?;
                let version = version.trim_start_matches('=').to_owned();
                Self::Version { package, version }
            }
            "path" => {
                let (package, folder) = two('=', "path:CRATE=FOLDER")?;
                let folder = PathBuf::from(folder);
                Self::Path { package, folder }
            }
            "git" => {
                let (package, url) = two('=', "git:CRATE=URL or git:CRATE=URL#REVISION")?;
                let (url, revision) = match url.split_once('#') {
                    Some((url, revision)) => (url.to_owned(), Some(revision.to_owned())),
                    None => (url, None),
                };
                Self::Git { package, url, revision }
            }
            "rev" if !rest.is_empty() && !rest.starts_with('-') => Self::Revision(rest.to_owned()),
            "feature" => {
                let (package, feature) = two('/', "feature:PACKAGE/FEATURE")?;
                Self::Feature { package, feature }
            }
            "profile" => {
                let (key, value) = two('=', "profile:KEY=VALUE")?;
                Self::Profile { key, value }
            }
            "env" => {
                let (name, value) = rest
                    .split_once('=')
                    .filter(|(name, _)| !name.is_empty())
                    .ok_or_else(|| format!("'{text}': expected env:NAME=VALUE"))?;
                Self::Environment {
                    name: name.to_owned(),
                    value: value.to_owned(),
                }
            }
            "server" => Self::Server(free(flag()?)?),
            "client" => Self::Client(free(flag()?)?),
            "lane" => Self::Lane(rest.parse().map_err(|_| format!("'{text}': expected lane:default or lane:tuned"))?),
            _ => return Err(unknown()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let read = |text: &str| text.parse::<Change>().unwrap_or_else(|error| panic!("{error}"));
        let owned = str::to_owned;
        assert_eq!(
            read("version:tokio=1.40.0"),
            Change::Version {
                package: owned("tokio"),
                version: owned("1.40.0")
            }
        );
        assert_eq!(
            read("version:hyper@1.1.0==1.2.0"),
            Change::Version {
                package: owned("hyper@1.1.0"),
                version: owned("1.2.0")
            }
        );
        assert_eq!(
            read("git:tonic=https://example.org/tonic#abc"),
            Change::Git {
                package: owned("tonic"),
                url: owned("https://example.org/tonic"),
                revision: Some(owned("abc"))
            }
        );
        assert_eq!(
            read("path:h2=../h2"),
            Change::Path {
                package: owned("h2"),
                folder: "../h2".into()
            }
        );
        assert_eq!(read("rev:HEAD~3"), Change::Revision(owned("HEAD~3")));
        assert_eq!(read("client:--pool=4"), Change::Client(vec![owned("--pool"), owned("4")]));
        assert_eq!(read("server:--yield"), Change::Server(vec![owned("--yield")]));
        for set in ["client:--rate=5", "client:-c=7", "server:--delay=50", "server:--lane=tuned"] {
            let error = set.parse::<Change>().unwrap_err();
            assert!(error.contains("is set for both sides"), "{error}");
        }
        assert_eq!(
            read("env:MALLOC_CONF="),
            Change::Environment {
                name: owned("MALLOC_CONF"),
                value: String::new()
            }
        );
        assert_eq!(read("lane:tuned"), Change::Lane(Lane::Tuned));
        assert!(read("profile:lto=\"thin\"").needs_build() && !read("lane:tuned").needs_build());
    }

    #[test]
    fn what_is_no_change_is_told_the_forms() {
        for text in ["", "tokio", "tokio=1", "versions:tokio=1", "rev:", "rev:--output=x"] {
            let error = text.parse::<Change>().unwrap_err();
            assert!(
                error.contains("version:CRATE=1.2.3") && error.contains("client:--FLAG"),
                "{text}: {error}"
            );
        }
        for text in [
            "version:tokio",
            "version:=1",
            "path:a=",
            "feature:a",
            "client:pool",
            "lane:fast",
            "env:=1",
        ] {
            let error = text.parse::<Change>().unwrap_err();
            assert!(error.contains(text) && error.contains("expected"), "{text}: {error}");
        }
    }
}
