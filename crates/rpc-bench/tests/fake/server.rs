//! A server that keeps the process contract, or breaks it in the way that its wire is named after.

use std::io::Read;
use std::net::TcpStream;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list") {
        println!("{}", include_str!("../../server-list.json"));
        return;
    }
    let wire = args.iter().skip_while(|arg| *arg != "--wire").nth(1).cloned().unwrap_or_default();
    // The test holds the other end: it sees this process live and die.
    let _lifeline = std::env::var("FAKE_LIFELINE").ok().and_then(|addr| TcpStream::connect(addr).ok());
    match wire.as_str() {
        "server-dies/x" => {
            eprintln!("no port is free today");
            std::process::exit(1);
        }
        "server-babbles/x" => println!("hello"),
        _ => println!("{}", include_str!("../../ready.json")),
    }
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    if wire == "server-crashes/x" {
        std::process::exit(9);
    }
    println!("{}", include_str!("../../stopped.json"));
}
