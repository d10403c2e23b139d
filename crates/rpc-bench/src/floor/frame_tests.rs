//! Claims about frames, over real connections.

use std::io::{Read, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::frame::{Arrival, Connection, Inbox, Sent, frame};
use super::pairs;

/// Both ends of one connection: the server's and the client's.
pub fn pair() -> (Connection, Connection) {
    let mut pairs = pairs::connect(1, 1).unwrap();
    (pairs.server.remove(0).remove(0), pairs.client.remove(0).remove(0))
}

/// Receives until there is something to tell.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "nothing came");
        sleep(Duration::from_micros(100));
    }
}

#[test]
fn a_frame_that_arrives_in_pieces_is_put_together() {
    let whole = frame(9, 7);
    for cut in 1..whole.len() {
        let (mut server, client) = pair();
        let mut inbox = Inbox::new(9);
        assert_eq!(inbox.receive(&mut server).unwrap(), Arrival::Partial);
        client.stream().write_all(&whole[..cut]).unwrap();
        assert_eq!(inbox.receive(&mut server).unwrap(), Arrival::Partial);
        assert_eq!(inbox.receive(&mut server).unwrap(), Arrival::Partial);
        client.stream().write_all(&whole[cut..]).unwrap();
        wait_for(|| (inbox.receive(&mut server).unwrap() == Arrival::Whole(&whole)).then_some(()));
    }
}

#[test]
fn pieces_of_two_connections_do_not_mix() {
    let ((mut server_a, client_a), (mut server_b, client_b)) = (pair(), pair());
    let (a, b) = (frame(9, b'a'), frame(5, b'b'));
    let mut inbox = Inbox::new(9);
    client_a.stream().write_all(&a[..6]).unwrap();
    client_b.stream().write_all(&b[..2]).unwrap();
    assert_eq!(inbox.receive(&mut server_a).unwrap(), Arrival::Partial);
    assert_eq!(inbox.receive(&mut server_b).unwrap(), Arrival::Partial);
    client_a.stream().write_all(&a[6..]).unwrap();
    client_b.stream().write_all(&b[2..]).unwrap();
    wait_for(|| (inbox.receive(&mut server_a).unwrap() == Arrival::Whole(&a)).then_some(()));
    wait_for(|| (inbox.receive(&mut server_b).unwrap() == Arrival::Whole(&b)).then_some(()));
}

#[test]
fn a_frame_too_large_for_the_socket_is_sent_in_pieces() {
    let (server, mut client) = pair();
    let whole: Vec<u8> = (0..16 << 20).map(|at: u32| (at % 251) as u8).collect();
    assert_eq!(client.start(&whole).unwrap(), Sent::Partial);
    assert!(client.is_sending());
    let mut arrived = vec![0; whole.len()];
    let mut filled = 0;
    wait_for(|| {
        filled += server.stream().read(&mut arrived[filled..]).unwrap_or(0);
        client.resume(&whole).unwrap();
        (filled == whole.len()).then_some(())
    });
    assert!(!client.is_sending());
    assert!(arrived == whole);
}

#[test]
fn a_frame_longer_than_expected_is_an_error() {
    for (sent, part) in [
        (frame(10, 7), "announces 10 bytes"),
        ([frame(9, 7), vec![1]].concat(), "14 bytes arrived"),
    ] {
        let (mut server, client) = pair();
        client.stream().write_all(&sent).unwrap();
        let error = Inbox::new(9).receive(&mut server).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn an_end_that_is_gone_is_seen_by_receive_and_by_send() {
    let (mut server, client) = pair();
    drop(client);
    wait_for(|| (Inbox::new(9).receive(&mut server).unwrap() == Arrival::Closed).then_some(()));
    wait_for(|| (server.start(&frame(9, 7)).unwrap() == Sent::Closed).then_some(()));
}
