//! Real loopback connections that carry known numbers of bytes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};

use super::*;

/// Both ends of a connection, TCP_NODELAY on at the client's.
struct Pair {
    client: TcpStream,
    server: TcpStream,
}

impl Pair {
    fn new(listener: &TcpListener) -> Self {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nodelay(true).unwrap();
        let (server, _) = listener.accept().unwrap();
        Self { client, server }
    }

    /// One write of so many bytes and its answer, both read to the end.
    fn call(&mut self, request: usize, reply: usize) {
        self.client.write_all(&vec![1; request]).unwrap();
        self.server.read_exact(&mut vec![0; request]).unwrap();
        self.server.write_all(&vec![2; reply]).unwrap();
        self.client.read_exact(&mut vec![0; reply]).unwrap();
    }
}

fn listener() -> TcpListener {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()
}

/// The client ends of connections to this listener.
fn clients(listener: &TcpListener) -> TcpSnapshot {
    let address = listener.local_addr().unwrap();
    TcpSnapshot::take(|_, peer| peer == address).unwrap()
}

/// The server ends of connections to this listener.
fn servers(listener: &TcpListener) -> TcpSnapshot {
    let address = listener.local_addr().unwrap();
    TcpSnapshot::take(|local, _| local == address).unwrap()
}

#[track_caller]
fn check_bytes(totals: TcpTotals, sent: u64, received: u64) {
    assert_eq!(
        (totals.bytes_sent, totals.bytes_received),
        (Some(sent), Some(received)),
        "{totals:?}"
    );
}

#[test]
fn bytes_are_exact_on_both_ends() {
    let listener = listener();
    let mut pair = Pair::new(&listener);
    check_bytes(clients(&listener).totals(), 0, 0);
    for _ in 0..3 {
        pair.call(581, 527);
    }
    check_bytes(clients(&listener).totals(), 3 * 581, 3 * 527);
    check_bytes(servers(&listener).totals(), 3 * 527, 3 * 581);
}

#[test]
fn large_writes_are_exact_too() {
    let listener = listener();
    let mut pair = Pair::new(&listener);
    let mut reader = pair.server.try_clone().unwrap();
    let reading = std::thread::spawn(move || reader.read_exact(&mut vec![0; 5_000_000]).unwrap());
    pair.client.write_all(&vec![1; 5_000_000]).unwrap();
    reading.join().unwrap();
    let totals = clients(&listener).totals();
    check_bytes(totals, 5_000_000, 0);
    assert!(totals.segments_sent.unwrap() >= 5_000_000 / 65_536, "{totals:?}");
}

#[test]
fn every_write_that_was_answered_is_a_segment_at_least() {
    let listener = listener();
    let mut pair = Pair::new(&listener);
    for _ in 0..7 {
        pair.call(10, 20);
    }
    // At least: a machine that stalls may make the kernel probe with a segment sent again.
    let client = clients(&listener).totals();
    assert!(client.segments_sent.unwrap() >= 7, "{client:?}");
    assert!(client.segments_received.unwrap() >= 7, "{client:?}");
    // Acknowledgements and the handshake are not in it.
    if client.bytes_retransmitted == Some(0) {
        assert_eq!(client.segments_sent, Some(7));
    }
}

#[test]
fn only_what_was_carried_in_between_is_counted_and_new_sockets_from_zero() {
    let listener = listener();
    let mut old = Pair::new(&listener);
    old.call(100, 200);
    let earlier = clients(&listener);
    old.call(10, 20);
    let mut new = Pair::new(&listener);
    new.call(1000, 2000);
    let used = clients(&listener).since(&earlier);
    check_bytes(used, 1010, 2020);
    assert_eq!((used.connections, used.closed), (2, 0));
}

#[test]
fn a_closed_socket_is_reported_and_its_number_may_be_used_again() {
    let listener = listener();
    let mut first = Pair::new(&listener);
    first.call(100, 200);
    let earlier = clients(&listener);
    drop(first);
    let mut second = Pair::new(&listener); // most likely on the same descriptors
    second.call(7, 8);
    let used = clients(&listener).since(&earlier);
    check_bytes(used, 7, 8);
    assert_eq!((used.connections, used.closed), (1, 1));
}

#[test]
fn a_duplicated_descriptor_is_one_connection() {
    let listener = listener();
    let mut pair = Pair::new(&listener);
    let _duplicate = pair.client.try_clone().unwrap();
    pair.call(5, 6);
    let totals = clients(&listener).totals();
    assert_eq!(totals.connections, 1);
    check_bytes(totals, 5, 6);
}

#[test]
fn the_end_of_a_connection_is_no_byte() {
    let listener = listener();
    let mut pair = Pair::new(&listener);
    pair.call(5, 6);
    pair.server.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(pair.client.read(&mut [0; 1]).unwrap(), 0);
    check_bytes(clients(&listener).totals(), 5, 6);
    check_bytes(servers(&listener).totals(), 6, 5);
}

#[test]
fn nodelay_is_known_when_all_agree() {
    let listener = listener();
    assert_eq!(clients(&listener).totals().nodelay, None);
    let first = Pair::new(&listener);
    let second = Pair::new(&listener);
    assert_eq!(clients(&listener).totals().nodelay, Some(true));
    first.client.set_nodelay(false).unwrap();
    assert_eq!(clients(&listener).totals().nodelay, None);
    second.client.set_nodelay(false).unwrap();
    assert_eq!(clients(&listener).totals().nodelay, Some(false));
}

#[test]
fn other_connections_and_listeners_are_not_looked_at() {
    let (ours, theirs) = (listener(), listener());
    let mut other = Pair::new(&theirs);
    other.call(5, 6);
    let totals = clients(&ours).totals();
    assert_eq!(totals.connections, 0);
    check_bytes(totals, 0, 0);
    assert_eq!(totals.segments_sent, Some(0));
}

#[test]
fn an_ipv6_listener_sees_ipv4_and_ipv6_clients_as_what_they_are() {
    let Ok(listener) = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)) else {
        return; // no IPv6 on this machine: nothing to claim
    };
    let port = listener.local_addr().unwrap().port();
    let addresses: [SocketAddr; 2] = [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()];
    for address in addresses {
        let Ok(client) = TcpStream::connect(address) else {
            continue; // IPV6_V6ONLY by default here, or no ::1
        };
        let (server, _) = listener.accept().unwrap();
        let mut pair = Pair { client, server };
        pair.call(11, 22);
        let server = TcpSnapshot::take(|local, _| local == address).unwrap();
        check_bytes(server.totals(), 22, 11);
        let client = TcpSnapshot::take(|_, peer| peer == address).unwrap();
        check_bytes(client.totals(), 11, 22);
    }
}

#[test]
fn a_counter_that_wraps_is_still_a_difference() {
    let reading = |bytes: Option<u64>, segments: u32| Reading {
        counters: Counters {
            bytes_sent: bytes,
            bytes_retransmitted: bytes,
            bytes_received: bytes,
            segments_sent: Some(segments),
            segments_received: Some(segments),
        },
        nodelay: true,
    };
    let snapshot = |reading| TcpSnapshot {
        sockets: BTreeMap::from([(1, reading)]),
    };
    let later = snapshot(reading(Some(30), 5));
    let used = later.since(&snapshot(reading(Some(10), u32::MAX - 4)));
    assert_eq!((used.bytes_sent, used.segments_sent), (Some(20), Some(10)));
    // A kernel that does not count says so for the sum.
    let used = snapshot(reading(None, 5)).totals();
    assert_eq!((used.bytes_sent, used.segments_sent), (None, Some(5)));
}
