// What an interpreter is asked to do in ordinary programs: calls, objects,
// strings, closures, floats, regular expressions. The first argument says how
// much of it.
"use strict";
const turns = Number(scriptArgs[1] || 1);

const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2);

function sieve(n) {
  const composite = new Uint8Array(n + 1);
  let count = 0;
  for (let i = 2; i <= n; i++) {
    if (composite[i]) continue;
    count++;
    for (let j = i * i; j <= n; j += i) composite[j] = 1;
  }
  return count;
}

class Words {
  constructor() { this.seen = new Map(); }
  add(word) { this.seen.set(word, (this.seen.get(word) || 0) + 1); }
  top() {
    return [...this.seen].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3).map(p => p.join("=")).join(" ");
  }
}

function words(n) {
  const w = new Words();
  for (let i = 0, seed = 7; i < n; i++) {
    seed = (seed * 1103515 + 12345) % 2147483648;
    w.add("w" + String(seed >> 16).slice(-2));
  }
  return w.top();
}

function orbit(n) {
  let x = 1, y = 0, vx = 0, vy = 1;
  for (let i = 0; i < n; i++) {
    const r = Math.pow(x * x + y * y, 1.5);
    vx -= x / r * 0.001; vy -= y / r * 0.001;
    x += vx * 0.001; y += vy * 0.001;
  }
  return x.toFixed(9) + " " + y.toFixed(9);
}

function rewrite(n) {
  const text = "the quick brown fox ".repeat(n).replace(/[a-z]+/g, w => w.toUpperCase());
  return JSON.stringify(JSON.parse(JSON.stringify(text.split(/\s+/)))).length;
}

function caught(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    try { if (i % 3 === 0) throw new Error("x" + i); total++; } catch (e) { total += e.message.length; } finally { total++; }
  }
  return total;
}

for (let turn = 1; turn <= turns; turn++)
  print(turn, fib(15 + turn % 3), sieve(4000 + turn), words(1500 + turn), orbit(2000), rewrite(50), caught(100));
