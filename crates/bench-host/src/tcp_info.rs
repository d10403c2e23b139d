//! `getsockopt(TCP_INFO)`: the one structure of the kernel that rustix does not know.

use std::mem::{offset_of, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// The first part of `struct tcp_info` of `include/uapi/linux/tcp.h`, in its order and up to the
/// last field used here.
///
/// The kernel only ever appends to it: every offset is fixed, an older kernel fills in less (and
/// says how much), a newer one as much as asked for.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct TcpInfo {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    /// Two 4-bit window scales.
    wscale: u8,
    /// `delivery_rate_app_limited` and `fastopen_client_fail`.
    flags: u8,

    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,

    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,

    last_data_sent: u32,
    last_ack_sent: u32,
    last_data_recv: u32,
    last_ack_recv: u32,

    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,

    rcv_rtt: u32,
    rcv_space: u32,

    total_retrans: u32,

    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64, // from here Linux 4.1
    bytes_received: u64,
    segs_out: u32, // 4.2
    segs_in: u32,

    notsent_bytes: u32, // 4.6
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,

    delivery_rate: u64, // 4.9

    busy_time: u64, // 4.10
    rwnd_limited: u64,
    sndbuf_limited: u64,

    delivered: u32, // 4.18
    delivered_ce: u32,

    bytes_sent: u64, // 4.19
    bytes_retrans: u64,
}

// The offsets a C compiler gives to the header, so that a slip of the pen does not build.
const _: () = {
    assert!(offset_of!(TcpInfo, rto) == 8);
    assert!(offset_of!(TcpInfo, pacing_rate) == 104);
    assert!(offset_of!(TcpInfo, bytes_received) == 128);
    assert!(offset_of!(TcpInfo, data_segs_in) == 152);
    assert!(offset_of!(TcpInfo, bytes_sent) == 200);
    assert!(size_of::<TcpInfo>() == 216);
};

/// States in which the peer's FIN has been received: `TCP_CLOSE_WAIT`, `TCP_LAST_ACK`,
/// `TCP_CLOSING` of `include/net/tcp_states.h`.
const FIN_RECEIVED: [u8; 3] = [8, 9, 11];

/// What one socket has carried since it was connected; `None` where the kernel is too old to
/// count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counters {
    pub bytes_sent: Option<u64>,
    pub bytes_retransmitted: Option<u64>,
    pub bytes_received: Option<u64>,
    /// 32 bits in the kernel: wraps.
    pub segments_sent: Option<u32>,
    /// 32 bits in the kernel: wraps.
    pub segments_received: Option<u32>,
}

/// Asks a TCP socket.
pub(crate) fn read(socket: BorrowedFd<'_>) -> Result<Counters, Errno> {
    let mut info = TcpInfo::default();
    let mut filled = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: the pointers are to a TcpInfo, integers only, and to its size; the kernel writes
    // at most that many bytes, then the number written, and keeps neither.
    let code = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut filled,
        )
    };
    if code != 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    Ok(counters(&info, filled as usize))
}

/// The fields that lie wholly within the `filled` bytes.
fn counters(info: &TcpInfo, filled: usize) -> Counters {
    let known = |end: usize| end <= filled;
    let fin = u64::from(FIN_RECEIVED.contains(&info.state));
    Counters {
        // The kernel's bytes_sent holds what was sent again. (bytes_acked would need no
        // subtraction, but it waits for the peer's acknowledgement and counts our SYN and FIN.)
        bytes_sent: known(offset_of!(TcpInfo, bytes_retrans) + 8).then(|| info.bytes_sent.saturating_sub(info.bytes_retrans)),
        bytes_retransmitted: known(offset_of!(TcpInfo, bytes_retrans) + 8).then_some(info.bytes_retrans),
        // A FIN takes a sequence number, and the kernel counts those.
        bytes_received: known(offset_of!(TcpInfo, bytes_received) + 8).then(|| info.bytes_received.saturating_sub(fin)),
        segments_sent: known(offset_of!(TcpInfo, data_segs_out) + 4).then_some(info.data_segs_out),
        segments_received: known(offset_of!(TcpInfo, data_segs_in) + 4).then_some(info.data_segs_in),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the five counters a kernel that fills in so many bytes has.
    #[track_caller]
    fn check(filled: usize, known: [bool; 5]) {
        let got = counters(&TcpInfo::default(), filled);
        assert_eq!(
            [
                got.bytes_sent.is_some(),
                got.bytes_retransmitted.is_some(),
                got.bytes_received.is_some(),
                got.segments_sent.is_some(),
                got.segments_received.is_some(),
            ],
            known
        );
    }

    #[test]
    fn an_older_kernel_has_fewer_counters_and_no_garbage() {
        check(216, [true, true, true, true, true]);
        check(192, [false, false, true, true, true]); // 4.10
        check(144, [false, false, true, false, false]); // 4.2
        check(104, [false, false, false, false, false]); // 3.x
        check(0, [false, false, false, false, false]);
    }

    #[test]
    fn what_was_sent_again_and_the_fin_are_no_payload() {
        let info = TcpInfo {
            state: 8,
            bytes_sent: 1000,
            bytes_retrans: 400,
            bytes_received: 51,
            ..TcpInfo::default()
        };
        let got = counters(&info, size_of::<TcpInfo>());
        assert_eq!((got.bytes_sent, got.bytes_retransmitted), (Some(600), Some(400)));
        assert_eq!(got.bytes_received, Some(50));
    }
}
