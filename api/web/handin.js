import {useState} from './vendor/preact-htm.js'
import {call, change} from './live.js'
import {Pick, Trouble, html, useTry} from './parts.js'
import {size, text} from './words.js'

const godwitRun = 'Hand it in with `godwit run`, which finds them in the directory of the job file.'
const together = 'Drop all files together: the job file (.yaml), the module (.wasm) and the inputs.'

// A browser tells no directories: a file goes by the last part of a name.
function find(files, name) {
  const f = files.find(f => f.name === name.split('/').pop())
  if (!f) throw {error: `The job names the file ${text(name)}, which is not among these.`, hint: together}
  return f
}

// check has the node read the job file, and returns the files that it names.
async function check(spec, text, files) {
  const said = await call('POST', '/v1/jobs/check', {file_name: spec.name, file: text})
  if (said.tables || said.directories?.length || said.patterns?.length || !said.module)
    throw {error: 'The job file names stages, directories, patterns or tables.', hint: godwitRun}
  return {module: find(files, said.module), inputs: said.inputs.map(name => [name, find(files, name)])}
}

// handIn stores files at the node and hands in the job that is among them; it returns the job's ID.
async function handIn(files, overlay, say) {
  const spec = files.find(f => /\.ya?ml$/i.test(f.name)), job = {overlay, file: ''}
  let of = {module: files.find(f => /\.wasm$/i.test(f.name)), inputs: []}
  if (spec) {
    job.file = await spec.text()
    of = await check(spec, job.file, files)
  }
  if (!of.module) throw {error: 'There is neither a job file nor a module.', hint: together}
  job.file_name = (spec || of.module).name
  const store = (f, key) => {
    say(`Storing ${text(f.name)}, ${size(f.size)}…`)
    return call('POST', '/v1/files', f, key && {'Godwit-Key': key})
  }
  job.module = (await store(of.module)).cid
  if (of.inputs.length) job.key = (await call('POST', '/v1/keys?overlay=' + encodeURIComponent(overlay))).key
  job.inputs = []
  for (const [name, f] of of.inputs) job.inputs.push({name, ...await store(f, job.key)})
  say('Handing the job in…')
  return (await change('POST', '/v1/jobs', job)).id
}

// Drop takes the files of a job, dropped or chosen.
export function Drop() {
  const [s, attempt] = useTry(), [said, say] = useState('')
  const [over, hover] = useState(false), [pool, choose] = useState('')
  const take = list => attempt(async () => {
    try { location.hash = '#/jobs/' + await handIn([...list], pool, say) } finally { say('') }
  })
  const drag = on => e => { e.preventDefault(); hover(on) }
  const dropped = e => { drag(false)(e); take(e.dataTransfer.files) }
  return html`<div class=${'drop' + (over ? ' over' : '')} onDragOver=${drag(true)} onDragLeave=${drag(false)}
    onDrop=${dropped}>    <p>Drop a job file here, together with its module and inputs. Or choose them.</p>
    <label>Files of the job
      <input type="file" multiple disabled=${s.busy} onChange=${e => take(e.target.files)}/></label>
    <${Pick} all="the usual" choose=${choose}/>
    <p role="status">${said}</p><${Trouble} of=${s.error}/></div>`
}
