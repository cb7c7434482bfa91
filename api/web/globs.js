// Patterns of file names, as the node has them: task.MatchFile. None takes longer than its length times the name's.

// star matches like a shell does: what is at p of a pattern with what is at n of a name, or ranges of the name with *.
function star(pattern, name, isStar, fits, stays) {
  let back = -1, at = 0, p = 0, n = 0 // back is the last star, and at where the name goes on after it
  while (n < name.length) {
    if (p < pattern.length && isStar(pattern[p])) [back, at] = [p++, n]
    else if (p < pattern.length && fits(p, n)) [p, n] = [p + 1, n + 1]
    else if (back < 0 || stays(name[at])) return -1
    else [p, n] = [back + 1, ++at]
  }
  return p
}

// bound reads a bound of a range at i, behind which there is something: [character, where it ends].
function bound(of, i) {
  if (of[i] === '-' || of[i] === ']') return
  if (of[i] === '\\') i++
  return i + 1 < of.length ? [of[i], i + 1] : undefined
}

// set reads the ranges of a set from i on: [test, where it ends].
function set(of, i) {
  const not = of[i] === '^', ranges = []
  for (not && i++; !(ranges.length && of[i] === ']');) {
    const low = bound(of, i), high = low && (of[low[1]] === '-' ? bound(of, low[1] + 1) : low)
    if (!high) return
    ranges.push([low[0].codePointAt(), high[0].codePointAt()])
    i = high[1]
  }
  return [c => ranges.some(([a, b]) => a <= c.codePointAt() && c.codePointAt() <= b) !== not, i + 1]
}

// parse reads a component as a list of tests of a character, and '*'; nothing for one that is not valid.
function parse(component) {
  const of = [...component], out = []
  for (let i = 0; i < of.length;) {
    let c = of[i++]
    if (c === '*') out.push(c)
    else if (c === '?') out.push(() => true)
    else if (c === '[') {
      const found = set(of, i)
      if (!found) return
      out.push(found[0])
      i = found[1]
    } else {
      if (c === '\\' && (c = of[i++]) === undefined) return
      out.push(x => x === c)
    }
  }
  return out
}

function part(component) {
  const tests = parse(component), hidden = component[0] === '.'
  return name => {
    if (!tests || name[0] === '.' && !hidden) return false
    const all = [...name], p = star(tests, all, t => t === '*', (p, n) => tests[p](all[n]), () => false)
    return p >= 0 && tests.slice(p).every(t => t === '*')
  }
}

// matcher returns what reports whether a pattern of files matches a name.
export function matcher(pattern) {
  const parts = pattern.split('/').map(c => c === '**' ? c : part(c)), last = parts.length - 1
  return name => {
    const all = name.split('/')
    return star(parts, all, c => c === '**', (p, n) => (n === all.length - 1) === (p === last) && parts[p](all[n]),
      c => c[0] === '.') === parts.length
  }
}
