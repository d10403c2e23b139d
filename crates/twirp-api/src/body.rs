//! Reading a whole body, up to the limit.

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt as _;

use crate::BODY_LIMIT;

/// Why there is no body.
#[derive(Debug)]
pub enum ReadError<E> {
    /// It is, or says that it is, larger than [`BODY_LIMIT`]. The rest was not read.
    TooLarge,
    /// The connection's own error.
    Lost(E),
}

/// Reads a body to its end. One that comes in one piece is handed on as it is.
///
/// # Errors
/// As [`ReadError`] says.
pub async fn read<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Result<Bytes, ReadError<B::Error>> {
    let announced = body.size_hint();
    if announced.lower() > BODY_LIMIT as u64 {
        return Err(ReadError::TooLarge);
    }
    let Some(first) = next_piece(body).await? else {
        return Ok(Bytes::new());
    };
    if body.is_end_stream() {
        return within_limit(first);
    }
    let Some(second) = next_piece(body).await? else {
        return within_limit(first);
    };
    // Both are here: what was announced is no empty promise, and it is below the limit.
    let mut whole = BytesMut::with_capacity((announced.lower() as usize).max(first.len() + second.len()));
    whole.extend_from_slice(&first);
    drop(first);
    whole.extend_from_slice(&second);
    drop(second);
    while whole.len() <= BODY_LIMIT
        && let Some(piece) = next_piece(body).await?
    {
        whole.extend_from_slice(&piece);
    }
    within_limit(whole.freeze())
}

/// The next bytes; trailers mean nothing in Twirp.
async fn next_piece<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Result<Option<Bytes>, ReadError<B::Error>> {
    while let Some(frame) = body.frame().await {
        if let Ok(piece) = frame.map_err(ReadError::Lost)?.into_data() {
            return Ok(Some(piece));
        }
    }
    Ok(None)
}

fn within_limit<E>(body: Bytes) -> Result<Bytes, ReadError<E>> {
    match body.len() <= BODY_LIMIT {
        true => Ok(body),
        false => Err(ReadError::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use http_body::Frame;
    use http_body_util::Full;

    use super::*;

    /// A body of pieces that does not say how long it is.
    struct Pieces(VecDeque<Bytes>);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
        }
    }

    fn pieces(size: usize, count: usize) -> Pieces {
        Pieces((0..count).map(|number| Bytes::from(vec![number as u8; size])).collect())
    }

    #[tokio::test]
    async fn pieces_are_put_together_in_their_order() {
        for count in 0..5 {
            let whole = read(&mut pieces(3, count)).await.unwrap();
            let expected: Vec<u8> = (0..count).flat_map(|number| [number as u8; 3]).collect();
            assert_eq!(whole[..], expected);
        }
    }

    #[tokio::test]
    async fn one_piece_is_not_copied() {
        let piece = Bytes::from(vec![7; 100]);
        let whole = read(&mut Full::new(piece.clone())).await.unwrap();
        assert_eq!(whole.as_ptr(), piece.as_ptr());
    }

    #[tokio::test]
    async fn the_limit_is_the_last_size_that_passes() {
        let full = |size| Full::new(Bytes::from(vec![0; size]));
        assert_eq!(read(&mut full(BODY_LIMIT)).await.unwrap().len(), BODY_LIMIT);
        assert!(matches!(read(&mut full(BODY_LIMIT + 1)).await, Err(ReadError::TooLarge)));
        for (size, count) in [(BODY_LIMIT + 1, 1), (BODY_LIMIT, 2), (1 << 20, 100)] {
            let mut body = pieces(size, count);
            assert!(matches!(read(&mut body).await, Err(ReadError::TooLarge)), "{size} × {count}");
        }
    }

    #[tokio::test]
    async fn reading_stops_at_the_limit() {
        let mut body = pieces(1 << 20, 100);
        assert!(matches!(read(&mut body).await, Err(ReadError::TooLarge)));
        assert_eq!(body.0.len(), 95);
    }
}
