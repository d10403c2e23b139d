//! Numbers between two bounds: what printed digits can stand for, and what follows from them.

/// All numbers from `low` to `high`. Never negative: everything that is audited is a time, a rate or a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Least, 0 or more.
    pub low: f64,
    /// Greatest, `low` or more.
    pub high: f64,
}

impl Interval {
    /// A number that is known exactly.
    pub fn exactly(number: f64) -> Self {
        Self::around(number, 0.0)
    }

    /// `number` ± `distance`.
    pub fn around(number: f64, distance: f64) -> Self {
        Self {
            low: (number - distance).max(0.0),
            high: (number + distance).max(0.0),
        }
    }

    /// Every number of it in another unit.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// Every product of a number of one and a number of the other.
    pub fn times(self, other: Self) -> Self {
        Self {
            low: self.low * other.low,
            high: self.high * other.high,
        }
    }

    /// Every quotient; infinite above where `other` can be 0.
    pub fn over(self, other: Self) -> Self {
        let quotient = |numerator: f64, denominator: f64| if numerator == 0.0 { 0.0 } else { numerator / denominator };
        Self {
            low: quotient(self.low, other.high),
            high: quotient(self.high, other.low),
        }
    }

    /// Every sum.
    pub fn plus(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    /// True when all of it lies above all of `other`, by more than the share `tolerance` of it.
    pub fn is_above(self, other: Self, tolerance: f64) -> bool {
        self.low > other.high * (1.0 + tolerance)
    }

    /// True when some number of both is the same, give or take the share `tolerance`.
    pub fn agrees_with(self, other: Self, tolerance: f64) -> bool {
        !self.is_above(other, tolerance) && !other.is_above(self, tolerance)
    }

    /// Its middle, for messages.
    pub fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_go_with_the_arithmetic() {
        let (a, b) = (Interval { low: 2.0, high: 3.0 }, Interval { low: 4.0, high: 5.0 });
        assert_eq!(a.times(b), Interval { low: 8.0, high: 15.0 });
        assert_eq!(b.over(a), Interval { low: 4.0 / 3.0, high: 2.5 });
        assert_eq!(a.plus(b), Interval { low: 6.0, high: 8.0 });
        assert_eq!(a.scaled(1e3), Interval { low: 2e3, high: 3e3 });
        assert_eq!(Interval::exactly(0.0).over(Interval::exactly(0.0)), Interval::exactly(0.0));
        assert_eq!(Interval::exactly(1.0).over(Interval::exactly(0.0)).high, f64::INFINITY);
        assert_eq!(Interval::around(0.2, 0.5), Interval { low: 0.0, high: 0.7 });
    }

    #[test]
    fn above_means_beyond_every_doubt() {
        let (a, b) = (Interval { low: 2.0, high: 3.0 }, Interval { low: 2.9, high: 5.0 });
        assert!(!b.is_above(a, 0.0) && a.agrees_with(b, 0.0));
        let c = Interval { low: 3.3, high: 4.0 };
        assert!(c.is_above(a, 0.05) && !c.is_above(a, 0.2));
        assert!(!a.agrees_with(c, 0.05) && a.agrees_with(c, 0.2));
    }
}
