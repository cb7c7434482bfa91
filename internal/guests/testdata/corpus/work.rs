// What Rust programs lean on: collections, iterators, traits, formatting,
// checked arithmetic. The argument says how much of it.
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::fmt::Write;

struct Draws(u32);

impl Iterator for Draws {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        self.0 = self.0.wrapping_mul(1103515245).wrapping_add(12345);
        Some(self.0 >> 16)
    }
}

fn counted(draws: &mut Draws, n: usize) -> String {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for d in draws.take(n) {
        *seen.entry(format!("word{}", d % 300)).or_insert(0) += 1;
    }
    let mut order: Vec<_> = seen.into_iter().collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    format!("{}={}", order[0].0, order[0].1)
}

fn shortest(draws: &mut Draws, nodes: usize) -> u64 {
    let mut edges: HashMap<usize, Vec<(usize, u64)>> = HashMap::new();
    for from in 0..nodes {
        for _ in 0..4 {
            let to = draws.next().unwrap() as usize % nodes;
            let cost = draws.next().unwrap() as u64 % 100 + 1;
            edges.entry(from).or_default().push((to, cost));
        }
    }
    let mut best = vec![u64::MAX; nodes];
    let mut heap = BinaryHeap::new();
    heap.push((std::cmp::Reverse(0u64), 0usize));
    while let Some((std::cmp::Reverse(d), at)) = heap.pop() {
        if d >= best[at] {
            continue;
        }
        best[at] = d;
        for (to, cost) in edges.get(&at).into_iter().flatten() {
            if let Some(sum) = d.checked_add(*cost) {
                heap.push((std::cmp::Reverse(sum), *to));
            }
        }
    }
    best.iter().filter(|d| **d != u64::MAX).sum()
}

fn written(n: u32) -> usize {
    let mut s = String::new();
    for i in 0..n {
        write!(s, "{:>8.3}|{:<5}|{:#x};", i as f64 / 7.0, i, i * 31).unwrap();
    }
    s.split(';').map(|p| p.trim().len()).filter(|n| n % 2 == 0).sum()
}

fn main() {
    let turns = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    let mut draws = Draws(7);
    for turn in 1..=turns {
        println!("{} {} {} {}", turn, counted(&mut draws, 1000), shortest(&mut draws, 300), written(200));
    }
}
