import {useState} from './vendor/preact-htm.js'
import {change, download, useData} from './live.js'
import {Bar, Strip, endWords, taskWords} from './draw.js'
import {Card, Do, Form, Legend, Loaded, Peer, Said, Trouble, html} from './parts.js'
import {Stages} from './stages.js'
import {Task, jobPath} from './task.js'
import {ago, between, count, is, jobState, span, text} from './words.js'

const mostBins = 1000 // that are drawn
const wide = 50       // of them in a row

// fate is how a bin of tasks is coloured: a failure is not to be overlooked.
const fate = ({waiting, running, done, failed, lent}) =>
  failed ? 'failed' : running ? 'running' : lent ? 'lent' : !waiting ? 'done' : done ? 'part' : 'waiting'
const fates = ['done', 'part', 'running', 'waiting', 'failed']

function binWords(g, bin, i) {
  const first = i * g.per_bin, last = Math.min(g.total, first + g.per_bin) - 1
  const which = last > first ? `tasks ${first} to ${last}` : 'task ' + first
  const lent = bin.lent > 0 ? `${count(bin.lent, 'task')} lent to other cells` : ''
  return `${which}: ${[bin.lent === last - first + 1 ? '' : taskWords(bin), lent].filter(w => w).join(', ')}`
}

const Grid = ({of, look}) => html`<svg class="grid" role="img" aria-label="Tasks by what became of them"
  viewBox=${`0 0 ${10 * wide} ${10 * Math.ceil(of.bins.length / wide)}`}>${of.bins.map((b, i) => html`
    <rect class=${is(fate(b))} rx="2" width="9" height="9" x=${i % wide * 10 + .5} y=${10 * Math.floor(i / wide) + .5}
      onClick=${() => look(i * of.per_bin)}><title>${binWords(of, b, i)}</title></rect>`)}</svg>`

const Tasks = ({job, id, grid}) => {
  const [index, look] = useState()
  const shown = grid?.bins.some(b => b.lent > 0) ? [...fates, 'lent'] : fates
  return html`<${Card} title="Tasks">${grid && html`<${Grid} of=${grid} look=${look}/>`}
    <p class="legend">${shown.map(k => html`<span class="state"><i class=${'cell ' + is(k)}></i>${k}</span> `)}</p>
    <${Form} button="Look" run=${f => look(+f.index)}><label>Task <input name="index" type="number" min="0"
      max=${job.tasks.total - 1} required value=${index}/></label><//>
    ${index !== undefined && html`<${Task} key=${index} job=${id} index=${index}/>`}<//>`
}

const mostLines = 30 // of what failed tasks printed
const printed = s => s.split('\n').slice(-mostLines).map(l => text(l, 200)).join('\n')

const Failures = ({of}) => of?.groups?.length > 0 && html`<${Card} title="Failures" wide>
  ${of.groups.slice(0, 20).map(g => html`<details class="trouble">
    <summary>${count(g.tasks, 'task')}: ${text(g.reason || g.outcome, 200)}</summary>
    <p>The first is task ${g.first}.${g.peers?.length > 0 && ' They ran on:'}
      ${g.peers?.slice(0, 5).map(p => html` <${Peer} id=${p}/>`)}</p>
    ${g.stderr && html`<pre>${printed(g.stderr)}</pre>`}</details>`)}<//>`

// Of tasks that do not wait the node gives reasons as well.
const waits = r => r.reason !== 'done' && !r.reason.startsWith('placed')

const Waiting = ({of}) => of?.reasons?.some(waits) && html`<${Card} title="Why tasks wait" wide>
  <ul>${of.reasons.filter(waits).slice(0, 8).map(r => html`
    <li>${count(r.tasks, 'task')}: ${text(r.reason, 300)}</li>`)}</ul><//>`

const spell = b => ({from: b.from, to: b.to, state: b.outcome, rule: 'task ' + b.task})
const mostWorkers = 40
const ends = ['completed', 'running', 'moved', 'lost']

function Timeline({of}) {
  if (!of?.rows?.length) return html`<p class="soft">Nobody has begun a task yet.</p>`
  const from = new Date(of.from) / 1000, to = new Date(of.to) / 1000
  return html`<div class="lines">${of.rows.map(r => html`<span><${Peer} id=${r.worker}/></span>
      <${Strip} from=${from} to=${to} label=${count(r.bars.length, 'attempt')} spells=${r.bars.map(spell)}/>`)}</div>
    <p class="soft">${between(of.from, of.to)}.</p><${Legend} of=${ends}/>
    ${of.more > 0 && html`<p class="soft">${count(of.more, 'attempt')} more are not shown.</p>`}`
}

async function retry(id) {
  location.hash = '#/jobs/' + (await change('POST', jobPath(id, '/retry'), {})).id
}
const Acts = ({job, id, over}) => html`<p class="acts">
  ${!over && html`<${Do} label="Cancel" sure="All that runs of it ends. Cancel the job?"
    run=${() => change('POST', jobPath(id, '/cancel'))}/>`}
  ${over && job.state !== 'done' && html`<${Do} label="Retry" run=${() => retry(id)}/>`}
  ${job.tasks.done > 0 && html`<${Do} label="Fetch results"
    run=${() => download(jobPath(id, '/archive'))}/>`}</p>`

const used = j => `${count(j.migrations, 'move')}; ${count(j.reruns, 'task')} run again; ${span(j.useful_cpu_s)} of ` +
  `processor time used, ${span(j.wasted_cpu_s)} lost.`

const calm = 3000 // ms between two requests for what changes less

export function Job({arg: id, now}) {
  const part = (path, rest = calm) => useData(jobPath(id, path), ['jobs'], rest).data
  const j = useData(jobPath(id, '?limit=0'), ['jobs']), d = j.data, grid = part('/grid?bins=' + mostBins, 2000)
  const end = part('/end'), why = part('/why?rows=50&peers=1'), line = part('/timeline?rows=' + mostWorkers)
  const bad = part('/failures'), stages = part('/stages')?.stages
  if (!d) return html`<h1>Job</h1><${Loaded} of=${j}/>`
  const over = !['offered', 'running'].includes(d.state), me = now?.node?.peer_id
  return html`<h1><${Said} of=${d.name || 'Job'} as="span"/> <small>${jobState(d)}</small></h1>
    <${Trouble} of=${j.error || d.error && {error: d.error}}/>
    <p class="why" aria-live="polite">${taskWords(d.tasks)}${!over && end && '; ' + endWords(end)}</p>
    <${Bar} tasks=${d.tasks}/>
    ${d.submitter === me && html`<${Acts} job=${d} id=${id} over=${over}/>`}
    <div class="cards"><${Failures} of=${bad}/>${!over && d.tasks.waiting > 0 && html`<${Waiting} of=${why}/>`}
      ${stages?.length > 0 && html`<${Card} title="Stages" wide><${Stages} of=${stages}/><//>`}
      <${Tasks} job=${d} id=${id} grid=${grid}/>
      <${Card} title="Who ran what, when"><${Timeline} of=${line}/><//></div>
    <p class="soft">Handed in ${ago(d.submitted)} by <${Peer} id=${d.submitter} me=${me}/>, to ${' '}
      <${Said} of=${d.overlay} most=${40}/>. ${used(d)}</p>`
}
