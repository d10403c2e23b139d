//! Several tests at once: Holm's correction.

/// p-values adjusted by Holm's step-down method, in the order given: rejecting what is at most alpha makes one false rejection or more with
/// a probability of at most alpha, whatever the dependence between the tests.
///
/// The i-th smallest of m, from 0, is multiplied by m − i and made no less than those before it, at most 1. Source: S. Holm, "A simple
/// sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979) 65–70. The p-values must not be NaN.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut ordered: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    ordered.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut least: f64 = 0.0;
    for (rank, (_, p_value)) in ordered.iter_mut().enumerate() {
        least = least.max(*p_value * (p_values.len() - rank) as f64).min(1.0);
        *p_value = least;
    }
    ordered.sort_by_key(|(index, _)| *index);
    ordered.into_iter().map(|(_, adjusted)| adjusted).collect()
}
