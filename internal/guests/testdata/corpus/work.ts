// What AssemblyScript programs lean on: its collector, maps, sorting with
// closures, strings. The argument says how much of it.
let seed: u32 = 7;

function draw(): u32 {
  seed = seed * 1103515245 + 12345;
  return seed >> 16;
}

class Count {
  constructor(public word: string, public n: i32) {}
}

function counted(n: i32): string {
  const seen = new Map<string, Count>();
  for (let i = 0; i < n; i++) {
    const word = "word" + (draw() % 300).toString();
    if (seen.has(word)) seen.get(word).n++;
    else seen.set(word, new Count(word, 1));
  }
  const order = seen.values().sort((a, b) => a.n != b.n ? b.n - a.n : a.word < b.word ? -1 : 1);
  return order[0].word + "=" + order[0].n.toString();
}

function matrix(n: i32): f64 {
  const a = new Float64Array(n * n), b = new Float64Array(n * n);
  for (let i = 0; i < n * n; i++) {
    a[i] = <f64>(draw() % 100);
    b[i] = <f64>(draw() % 100);
  }
  let trace: f64 = 0;
  for (let i = 0; i < n; i++)
    for (let k = 0; k < n; k++) trace += a[i * n + k] * b[k * n + i];
  return trace;
}

const turns = process.argv.length > 1 ? <i32>parseInt(process.argv[1]) : 1;
for (let turn = 1; turn <= turns; turn++)
  console.log(turn.toString() + " " + counted(800) + " " + matrix(60).toString() + " " + "a b c".repeat(30).split(" ").join("-").length.toString());
