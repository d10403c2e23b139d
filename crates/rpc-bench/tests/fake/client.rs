//! A client that keeps the process contract, or breaks it in the way that its wire is named after.

use std::io::Read;
use std::net::TcpStream;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list") {
        println!("{}", include_str!("../../client-list.json"));
        return;
    }
    let value = |flag: &str| args.iter().skip_while(|arg| *arg != flag).nth(1).cloned();
    let wire = value("--wire").unwrap_or_default();
    let record = |wire: &str, template: &str| {
        let callers = value("-c").unwrap_or_default();
        let connections = value("--pool").unwrap_or_else(|| callers.clone());
        println!("{}", template.replace("WIRE", wire).replace("111111", &callers).replace("222222", &connections));
    };
    // The test holds the other end: it sees this process live and die.
    let lifeline = std::env::var("FAKE_LIFELINE").ok().and_then(|addr| TcpStream::connect(addr).ok());
    match (wire.as_str(), lifeline) {
        // Only with somebody watching, so that the same cell can be run to its end later.
        ("client-stays/x", Some(mut lifeline)) => drop(lifeline.read(&mut [0])),
        ("client-refuses/x", _) => {
            eprintln!("first line\nthe server is not the one I know");
            std::process::exit(1);
        }
        (fails_at_rates, _) if args.iter().any(|arg| arg == "--hold") => {
            // Until stdin closes; `null` stands for the closed loop.
            for line in std::io::stdin().lines().map_while(Result::ok) {
                if fails_at_rates == "client-fails/x" && !line.contains("null") {
                    eprintln!("that is too much for me");
                    std::process::exit(1);
                }
                record(&wire, include_str!("../../held.json"));
            }
        }
        ("client-mistakes/x", _) => record("another/x", include_str!("../../record.json")),
        ("client-fails/x", _) => {
            record(&wire, include_str!("../../failed.json"));
            std::process::exit(3);
        }
        _ => record(&wire, include_str!("../../record.json")),
    }
}
