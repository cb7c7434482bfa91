import {useState} from './vendor/preact-htm.js'
import {useData} from './live.js'
import {Bar, taskWords} from './draw.js'
import {Drop} from './handin.js'
import {JobName, Loaded, Peer, Rows, html} from './parts.js'
import {ago, jobState} from './words.js'

const page = 50 // jobs

const row = j => [html`<${JobName} job=${j}/>`, html`<${Bar} tasks=${j.tasks}/>${taskWords(j.tasks)}`,
  jobState(j), ago(j.submitted), j.mine ? 'me' : html`<${Peer} id=${j.submitter}/>`]

export function Jobs() {
  const [from, go] = useState(0), list = useData(`/v1/joblist?from=${from}&limit=${page}`, ['jobs']), d = list.data
  return html`<h1>Jobs</h1><${Drop}/><${Loaded} of=${list}>${d && html`
    <${Rows} label="Jobs" none="No job is known here." head=${['Job', 'Tasks', 'State', 'Handed in', 'By']}
      rows=${d.jobs.map(row)}/>
    ${d.total > page && html`<p class="acts"><button disabled=${!from}
        onClick=${() => go(Math.max(0, from - page))}>Newer</button>
      <button disabled=${from + d.jobs.length >= d.total}
        onClick=${() => go(from + d.jobs.length)}>Older</button>
      <span>${from + 1} to ${from + d.jobs.length} of ${d.total}</span></p>`}`}<//>`
}
