//! Where a rising function passes a mark.

/// The smallest number from 0 to `high` for which it holds, to the last digits of `high`. It must hold for `high` and for all above the
/// result.
pub(crate) fn least_that(high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    /// More halvings than a number has digits.
    const HALVINGS: usize = 60;
    let (mut low, mut high) = (0.0, high);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        match holds(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}
