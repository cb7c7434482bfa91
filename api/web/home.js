import {change, useData} from './live.js'
import {Bar, endWords, taskWords} from './draw.js'
import {Card, Do, JobName, Loaded, Peer, Rows, Said, State, html} from './parts.js'
import {ago, clock, count, jobState, latency, sentence, short, span, text} from './words.js'

const End = ({id}) => endWords(useData(`/v1/jobs/${id}/end`, ['jobs'], 5000).data)

const pauses = [['Pause for an hour', 3600], ['Pause until I resume', 0]]

const Acts = ({of}) => html`<p class="acts">
  ${of.paused || of.drained ? html`<${Do} label="Resume" kind="main" run=${() => change('POST', '/v1/resume')}/>`
    : pauses.map(([label, s]) => html`<${Do} label=${label} run=${() => change('POST', '/v1/pause', {for_s: s})}/>`)}
  ${!of.drained && html`<${Do} label="Drain" run=${() => change('POST', '/v1/drain')}
    sure="What runs moves to other machines, and nothing new is taken until you resume. Drain?"/>`}</p>`

const Running = ({of}) => html`<${Card} title="Running here">
  <${Rows} label="Running tasks" none="No task is here now." head=${['Task', 'Pool', 'It', 'Since']}
    rows=${of.running?.slice(0, 20).map(r => [html`<code>${short(r.task, 14)}</code>`,
      html`<${Said} of=${r.overlay} most=${40}/>`, text(r.state, 20), ago(r.since)])}/>
  <p class="soft">${of.slots > 0 ? `${count(of.slots, 'slot')} may be used now.` : 'Nothing may run now.'}</p><//>`

function Given({of}) {
  if (!of) return null
  if (!of.tasks) return html`<${Card} title="Given today"><p>Nothing yet.</p>
    <p class="soft">What submitters accept of this machine is told here.</p><//>`
  const names = (of.for || []).slice(0, 4)
  return html`<${Card} title="Given today"><p class="big">${span(of.cpu_s)}</p>
    <p class="soft">of processor time in ${count(of.tasks, 'task')}, since midnight, UTC${names.length > 0 && ', for '}
      ${names.map((n, i) => html`${i > 0 && ', '}<${Said} of=${n} most=${40}/>`)}.</p><//>`
}

const Mine = ({jobs}) => html`<${Card} title="My jobs" wide>
  <${Rows} label="My jobs" head=${['Job', 'Tasks', 'State', 'End']}
    none=${html`You have handed in no job. <a href="#/jobs">Hand one in</a>.`}
    rows=${jobs?.slice(0, 10).map(j => [html`<${JobName} job=${j}/>`,
      html`<${Bar} tasks=${j.tasks}/>${taskWords(j.tasks)}`, jobState(j),
      j.state === 'running' && html`<${End} id=${j.id}/>`])}/><//>`

const Near = ({of, me}) => html`<${Card} title="Near">
  <p class="soft">${count(of.members, 'member')} known, ${of.connected} connected.</p>
  <ul class="near">${of.rows?.slice(0, 12).map(m => html`<li><${State} of=${m.state}/><${Peer} id=${m.peer} me=${me}/>
    <span class="soft">${latency(m.latency_ms)}</span></li>`)}</ul><//>`

// Home is given the newest answer of /v1/home, which comes with the events.
export function Home({now, error}) {
  if (!now) return html`<h1>Home</h1><${Loaded} of=${{error}}/>`
  return html`<h1 class="sentence" aria-live="polite">${text(now.sentence, 300)}</h1>
    <p class="why">${sentence(now.why)}${now.until && ` This ends ${clock(now.until)}.`}</p><${Acts} of=${now}/>
    ${now.notices?.slice(0, 20).map(n => html`<div class="trouble" role="alert"><p>${text(n, 400)}</p></div>`)}
    <div class="cards"><${Running} of=${now}/><${Given} of=${now.given}/>
      <${Near} of=${now.near || {}} me=${now.node?.peer_id}/><${Mine} jobs=${now.jobs}/></div>`
}
