import {download, useData} from './live.js'
import {Do, Loaded, Peer, Rows, html} from './parts.js'
import {clock, short, size, text} from './words.js'

export const jobPath = (id, rest = '') => `/v1/jobs/${encodeURIComponent(id)}${rest}`

const attempt = a => [html`<${Peer} id=${a.worker}/>`, clock(a.start), a.end ? clock(a.end) : '',
  text(a.outcome, 40) + (a.moved_to ? ', moved to ' + short(a.moved_to) : ''), text(a.reason, 200)]

function Output({job, index, of}) {
  const name = of.name.split('/').map(encodeURIComponent).join('/')
  return html`<li><${Do} kind="link" label=${text(of.name)}
    run=${() => download(jobPath(job, `/tasks/${index}/outputs/${name}`))}/>
    <span class="soft"> ${size(of.size)}</span></li>`
}

const params = of => Object.entries(of || {}).slice(0, 20).map(([k, v]) => text(`${k} = ${v}`)).join(', ')

// Task shows one task: who ran it, why there, and what came of it.
export function Task({job, index}) {
  const t = useData(jobPath(job, `?from=${index}&limit=1`), ['jobs'], 3000), x = t.data?.tasks_list?.[0]
  const why = useData(jobPath(job, `/why?rows=8&peers=1&index=${index}`), ['jobs'], 3000).data
  if (!x) return html`<${Loaded} of=${t}><p>There is no such task.</p><//>`
  return html`<h3>Task ${x.index}: ${text(x.state, 20)}</h3>
    <p>${params(x.params)} ${text(x.reason, 300)}</p>
    ${x.state === 'waiting' && why?.reasons?.slice(0, 8).map(r => html`<p>${text(r.reason, 300)}</p>`)}
    <${Rows} label="Attempts" none="No worker has it yet." head=${['Worker', 'From', 'To', 'Came to', 'Why there']}
      rows=${x.attempts?.slice(-20).map(attempt)}/>
    <ul>${x.result?.outputs?.slice(0, 50).map(o => html`<${Output} job=${job} index=${index} of=${o}/>`)}</ul>`
}
