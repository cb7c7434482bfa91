import {matcher} from './globs.js'
import {text} from './words.js'

const together = 'Hand in the directory of the job file, with all that is in it. `godwit run` finds files by itself.'
const gone = name => { throw {error: `The job names ${text(name)}, which is not among these files.`, hint: together} }

// chosen are files of an input or of a drop, each with its path, below what was chosen.
export const chosen = files => [...files].map(file => ({path: file.webkitRelativePath || file.name, file}))

const entries = dir => new Promise((done, failed) => {
  const reader = dir.createReader(), all = []
  const more = () => reader.readEntries(some => {
    all.push(...some)
    some.length ? more() : done(all)
  }, failed)
  more()
})

async function walk(entry) {
  if (entry.isDirectory) return (await Promise.all((await entries(entry)).map(walk))).flat()
  const file = await new Promise((done, failed) => entry.file(done, failed))
  return [{path: entry.fullPath.slice(1), file}]
}

// dropped are the files that fell, with those below directories. What fell is only known until the event is over.
export function dropped({items, files}) {
  const all = [...items].map(i => i.webkitGetAsEntry?.())
  return all.some(e => e?.isDirectory) ? Promise.all(all.filter(e => e).map(walk)).then(l => l.flat()) : chosen(files)
}

const depth = f => f.path.split('/').length

// specOf is the job file among files: the topmost, of several the one called job.
export function specOf(files) {
  const all = files.filter(f => /\.ya?ml$/i.test(f.path)), top = Math.min(...all.map(depth))
  const near = all.filter(f => depth(f) === top), named = near.filter(f => /(^|\/)job\.ya?ml$/i.test(f.path))
  const [one, other] = named.length ? named : near
  if (other) throw {error: `Is ${text(one.path)} the job file, or ${text(other.path)}?`, hint: 'Call it job.yaml.'}
  return one
}

// placed finds files by their names, which begin at the directory of the job file.
export function placed(files, spec) {
  const base = spec.path.slice(0, spec.path.lastIndexOf('/') + 1)
  const at = name => {
    const to = []
    for (const c of (base + name).split('/')) c === '..' ? to.pop() : c && c !== '.' && to.push(c)
    return to.join('/')
  }
  const known = new Map(files.map(f => [f.path, f.file]))
  const loose = files.every(f => !f.path.includes('/')) // they go by the last part of a name
  const find = name => known.get(at(name)) || loose && known.get(name.split('/').pop())
  const names = files.filter(f => f.path.startsWith(base)).map(f => f.path.slice(base.length)).sort()
  const some = name => {
    if (known.has(base + name)) return [name]
    const found = names.filter(name.endsWith('/') ? n => n.startsWith(name) : matcher(name))
    return found.length ? found : gone(name)
  }
  return {some, one: name => find(name) || gone(name)}
}
