//! The order of a sweep: rounds outermost, cells shuffled inside each round, the floor just before the cells it is the measure of.

use std::collections::BTreeMap;

use super::expand::PlannedCell;

/// What one step of a sweep runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// The cell at this place of the expansion.
    Cell(usize),
    /// The loopback floor at this concurrency, for this long.
    Floor {
        /// Concurrent ping-pongs.
        callers: u64,
        /// Measured milliseconds.
        measure_ms: u64,
    },
}

/// One step of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Round, from 0.
    pub round: u64,
    /// What runs.
    pub work: Work,
}

/// All steps in order; the same for the same cells and seed, so that an interrupted sweep goes on as it would have.
pub fn order(cells: &[PlannedCell], seed: u64, floor: bool) -> Vec<Step> {
    let rounds = cells.iter().map(|cell| cell.rounds).max().unwrap_or(0);
    let mut steps = Vec::new();
    for round in 0..rounds {
        let mut places: Vec<usize> = (0..cells.len()).filter(|&place| round < cells[place].rounds).collect();
        shuffle(&mut places, seed ^ (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let floors = if floor { floor_lengths(cells, &places) } else { BTreeMap::new() };
        let mut pending = floors;
        for place in places {
            let cell = &cells[place].cell;
            // In the same minute as the cells that are divided by it, and always before them: a record is complete when written.
            if cell.has_floor()
                && let Some(measure_ms) = pending.remove(&cell.callers)
            {
                let work = Work::Floor {
                    callers: cell.callers,
                    measure_ms,
                };
                steps.push(Step { round, work });
            }
            steps.push(Step {
                round,
                work: Work::Cell(place),
            });
        }
    }
    steps
}

/// For every number of callers that has a cell of a closed loop without delay: the longest of their windows.
fn floor_lengths(cells: &[PlannedCell], places: &[usize]) -> BTreeMap<u64, u64> {
    let mut lengths = BTreeMap::new();
    for &place in places {
        let cell = &cells[place].cell;
        if cell.has_floor() {
            let length = lengths.entry(cell.callers).or_insert(0);
            *length = cell.measure_ms.max(*length);
        }
    }
    lengths
}

/// Fisher and Yates with the SplitMix64 generator: small enough to keep, so that a recorded seed gives the same order for ever.
pub(crate) fn shuffle<T>(places: &mut [T], seed: u64) {
    let mut state = seed;
    for last in (1..places.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The bias of the remainder is below 2⁻⁵⁰ for any sweep.
        places.swap(last, ((z ^ (z >> 31)) % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use bench_core::arrival::Arrival;
    use bench_core::lane::Lane;

    use super::super::cell::Cell;
    use super::super::connections::Connections;
    use super::super::pace::Pace;
    use super::*;

    fn cells() -> Vec<PlannedCell> {
        let cell = |callers, delay_us, rounds| PlannedCell {
            rounds,
            cell: Cell {
                framework: "tcp".to_owned(),
                wire: "tcp/protobuf".to_owned(),
                lane: Lane::Default,
                workload: "echo".to_owned(),
                payload_bytes: None,
                delay_us,
                callers,
                connections: Connections::PerCaller,
                server_threads: None,
                client_threads: None,
                measure_ms: 100 + callers,
                calls: None,
                warmup_ms: 10,
                yields: false,
                server_runtime: None,
                pace: None,
            },
        };
        let mut cells: Vec<_> = (1..=8).map(|callers| cell(callers, 0, 3)).collect();
        cells.extend((1..=4).map(|callers| cell(callers, 10_000, 1)));
        cells
    }

    fn places(steps: &[Step], round: u64) -> Vec<usize> {
        let cell = |step: &Step| match step.work {
            Work::Cell(place) if step.round == round => Some(place),
            _ => None,
        };
        steps.iter().filter_map(cell).collect()
    }

    #[test]
    fn rounds_are_outermost_and_each_has_every_cell_that_is_due_in_it() {
        let steps = order(&cells(), 1, true);
        assert!(steps.is_sorted_by_key(|step| step.round));
        for (round, expected) in [(0, 12), (1, 8), (2, 8)] {
            let mut places = places(&steps, round);
            places.sort_unstable();
            assert_eq!(places, (0..expected).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_order_depends_on_seed_and_round_and_on_nothing_else() {
        let steps = order(&cells(), 1, true);
        assert_eq!(steps, order(&cells(), 1, true));
        assert_ne!(places(&steps, 1), places(&steps, 2));
        assert_ne!(steps, order(&cells(), 2, true));
        // Pinned, from an independent SplitMix64: a recorded seed must give the same order in later versions.
        assert_eq!(places(&steps, 1), [4, 2, 7, 1, 5, 3, 0, 6]);
    }

    #[test]
    fn the_floor_of_a_concurrency_runs_once_a_round_before_the_cells_it_measures() {
        let cells = cells();
        let steps = order(&cells, 1, true);
        for round in 0..3 {
            for callers in 1..=8 {
                let floor = Work::Floor {
                    callers,
                    measure_ms: 100 + callers,
                };
                let is_floor = |step: &&Step| step.round == round && step.work == floor;
                assert_eq!(steps.iter().filter(is_floor).count(), 1);
                let first_cell = steps.iter().position(|step| {
                    step.round == round
                        && matches!(step.work, Work::Cell(place) if cells[place].cell.callers == callers && cells[place].cell.delay_us == 0)
                });
                assert!(steps.iter().position(|step| is_floor(&step)) < first_cell);
            }
        }
        let mut open = cells.clone();
        for planned in &mut open {
            planned.cell.pace = Some(Pace::new(5.0, Arrival::Constant));
        }
        for steps in [order(&cells, 1, false), order(&open, 1, true)] {
            assert!(steps.iter().all(|step| matches!(step.work, Work::Cell(_))));
        }
    }
}
