import {useState} from './vendor/preact-htm.js'
import {call, change} from './live.js'
import {Pick, Trouble, html, useTry} from './parts.js'
import {chosen, dropped, placed, specOf} from './files.js'
import {size, text} from './words.js'

const none = {error: 'There is neither a job file nor a module.',
  hint: 'Hand in the job file (.yaml), the module (.wasm) and the inputs together, or their directory.'}

const ask = (spec, file, more) => call('POST', '/v1/jobs/check', {file_name: spec.file.name, file, ...more})

// handIn stores files at the node and hands in the job that is among them; it returns the job's ID.
async function handIn(files, overlay, say) {
  const spec = specOf(files), job = {overlay, file: ''}
  const stored = new Map() // by file: a program of several stages goes once
  const keep = (f, path = '/v1/files', key = job.key) => {
    say(`Storing ${text(f.name)}, ${size(f.size)}…`)
    return call('POST', path, f, key && {'Godwit-Key': key})
  }
  const program = async f => {
    if (!stored.has(f)) stored.set(f, (await keep(f, undefined, '')).cid)
    return stored.get(f)
  }
  const seal = async () => { job.key ??= (await call('POST', '/v1/keys?overlay=' + encodeURIComponent(overlay))).key }
  if (!spec) {
    const module = files.find(f => /\.wasm$/i.test(f.path))?.file
    if (!module) throw none
    job.file_name = module.name
    job.module = await program(module)
  } else {
    job.file_name = spec.file.name
    job.file = await spec.file.text()
    const {one, some} = placed(files, spec)
    let said = await ask(spec, job.file)
    const programs = Object.entries(said.modules || {'': said.module}).map(([stage, name]) => [stage, one(name)])
    if (said.tables) {
      const tables = Object.entries(said.tables).map(([axis, {kind, file}]) => [axis, kind,
        kind === 'files' ? new File(some(file).map(n => n + '\n'), file) : one(file)])
      await seal()
      job.tables = {}
      for (const [axis, kind, f] of tables) job.tables[axis] = await keep(f, '/v1/tables?kind=' + kind)
      said = await ask(spec, job.file, {tables: job.tables, key: job.key})
    }
    const names = new Set([...said.inputs, ...[...said.directories || [], ...said.patterns || []].flatMap(some)])
    const inputs = [...names].map(name => [name, one(name)]) // all are there before one is stored
    if (inputs.length) {
      const sizes = Object.fromEntries(inputs.map(([name, f]) => [name, f.size]))
      await ask(spec, job.file, {tables: job.tables, key: job.key, sizes})
    }
    for (const [stage, f] of programs) {
      if (stage) (job.modules ??= {})[stage] = await program(f)
      else job.module = await program(f)
    }
    if (inputs.length) await seal()
    job.inputs = []
    for (const [name, f] of inputs) job.inputs.push({name, ...await keep(f)})
  }
  say('Handing the job in…')
  return (await change('POST', '/v1/jobs', job)).id
}

// Drop takes the files of a job, dropped or chosen.
export function Drop() {
  const [s, attempt] = useTry(), [said, say] = useState('')
  const [over, hover] = useState(false), [pool, choose] = useState('')
  const take = list => attempt(async () => {
    try { location.hash = '#/jobs/' + await handIn(await list, pool, say) } finally { say('') }
  })
  const drag = on => e => { e.preventDefault(); hover(on) }
  const drop = e => { drag(false)(e); take(dropped(e.dataTransfer)) }
  const pick = e => {
    const all = chosen(e.target.files)
    e.target.value = '' // so that the same can be chosen again, mended
    take(all)
  }
  return html`<div class=${'drop' + (over ? ' over' : '')} onDragOver=${drag(true)} onDragLeave=${drag(false)}
    onDrop=${drop}><p>Drop a job file here, together with its module and inputs, or their directory. Or choose.</p>
    <label>Files of the job <input type="file" multiple disabled=${s.busy} onChange=${pick}/></label>
    <label>Or their directory <input type="file" webkitdirectory disabled=${s.busy} onChange=${pick}/></label>
    <${Pick} all="the usual" choose=${choose}/>
    <p role="status">${said}</p><${Trouble} of=${s.error}/></div>`
}
