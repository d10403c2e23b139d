//! Mean, standard deviation and median that neither overflow nor find a spread where there is none.

/// Mean and standard deviation of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) mean: f64,
    /// With n − 1 below; 0 of fewer than two figures.
    pub(crate) sd: f64,
    pub(crate) count: usize,
}

impl Moments {
    /// Two passes over the differences to the first figure: equal figures have exactly their value as mean, and exactly no spread.
    ///
    /// The figures must be of moderate size: see [`Scaled`].
    pub(crate) fn of(values: &[f64]) -> Self {
        let count = values.len();
        let origin = values.first().copied().unwrap_or_default();
        let shift = values.iter().map(|value| value - origin).sum::<f64>() / count.max(1) as f64;
        let squares: f64 = values.iter().map(|value| (value - origin - shift).powi(2)).sum();
        Self {
            mean: origin + shift,
            sd: (squares / count.saturating_sub(1).max(1) as f64).sqrt(),
            count,
        }
    }

    /// Standard error of the mean.
    pub(crate) fn standard_error(&self) -> f64 {
        self.sd / (self.count.max(1) as f64).sqrt()
    }
}

/// Figures divided by a power of two near the greatest of them, so that no sum or square of them overflows or vanishes.
///
/// Exact, but for figures that are nothing beside the greatest.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    pub(crate) values: Vec<f64>,
    /// What a result in the figures' unit must be multiplied with.
    pub(crate) unit: f64,
}

impl Scaled {
    /// The figures must be finite.
    pub(crate) fn of(values: &[f64]) -> Self {
        let greatest = values.iter().fold(0.0, |greatest: f64, value| greatest.max(value.abs()));
        // log2 of the greatest number of all rounds up to 1024, and 2^1024 is none.
        let unit = match greatest > 0.0 {
            true => greatest.log2().floor().min(1023.0).exp2(),
            false => 1.0,
        };
        Self {
            values: values.iter().map(|value| value / unit).collect(),
            unit,
        }
    }
}

/// The middle figure, or the mean of the two in the middle; `None` of nothing.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(lower + (upper - lower) / 2.0)
}
