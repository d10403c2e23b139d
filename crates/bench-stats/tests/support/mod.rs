//! Seeded random figures.

#![allow(dead_code, reason = "each test binary uses a part")]

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// A source of random figures, the same in every run.
pub struct Random(pub StdRng);

impl Random {
    pub fn seeded(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// A whole number from `least` to `most`.
    pub fn whole(&mut self, least: usize, most: usize) -> usize {
        self.0.random_range(least..=most)
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.random::<f64>()).cos()
    }

    pub fn normals(&mut self, count: usize, mean: f64, sd: f64) -> Vec<f64> {
        (0..count).map(|_| mean + sd * self.normal()).collect()
    }

    /// Figures above 0 whose logarithms are normal around `ratio`'s.
    pub fn log_normals(&mut self, count: usize, ratio: f64, sd_log: f64) -> Vec<f64> {
        (0..count).map(|_| ratio * (sd_log * self.normal()).exp()).collect()
    }
}
