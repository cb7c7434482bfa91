import {download, useData} from './live.js'
import {Plot, Strip, shares} from './draw.js'
import {Card, Do, Legend, Loaded, Peer, Rows, html} from './parts.js'
import {between, clock, count, percent, sentence, short, text} from './words.js'

const states = ['available', 'user-present', 'cpu-busy', 'leaving', 'unavailable']
const seconds = t => new Date(t) / 1000

const Trace = ({of}) => html`<${Do} kind="link" label="trace" name=${'Trace of ' + short(of)}
  run=${() => download(`/v1/peers/${encodeURIComponent(of)}/trace`)}/>`

function Histories({of, me}) {
  const spells = of.flatMap(m => m.spells || [])
  if (!spells.length) return html`<p class="soft">No member's history is known yet.</p>`
  const from = Math.min(...spells.map(s => seconds(s.from))), to = Math.max(...spells.map(s => seconds(s.to)))
  return html`<div class="lines three">${of.map(m => html`<span><${Peer} id=${m.peer} me=${me}/></span>
      <${Strip} spells=${m.spells || []} from=${from} to=${to} label=${shares(m.spells || [])}/>
      <span>${m.forecast?.known && percent(m.forecast.stay)} <${Trace} of=${m.peer}/></span>`)}</div>
    <p class="soft">${between(from * 1000, to * 1000)}. Behind each stands how likely it is to stay for an
      ${' '}hour, and its trace as a file.</p><${Legend} of=${states}/>`
}

const lines = bins => [{name: 'came true', points: bins.map(b => [b.said, b.came])},
  {name: 'as was said', points: [[0, 0], [1, 1]]}]
const held = bins => 'Across stands the probability that was said, and up how often it came true, of ' +
  count(bins.reduce((n, b) => n + b.n, 0), 'forecast') + '.'

const Reliability = ({of}) => html`<${Card} title="How often forecasts held">${of?.bins?.length > 1
  ? html`<${Plot} lines=${lines(of.bins)} most=${1} x=${percent} y=${percent} dots words=${held(of.bins)}/>`
  : html`<p class="soft">${sentence(of?.why || 'Too few forecasts have come due')}</p>`}<//>`

const decision = x => [clock(x.at), text(x.action, 40), html`<code>${short(x.task, 14)}</code>`,
  html`<${Peer} id=${x.peer}/>`, text(x.reason, 300)]
const Decisions = ({of}) => html`<${Card} title="Decisions" wide><${Rows} label="Decisions"
  none="This node has decided nothing of late." head=${['When', 'What', 'Task', 'Member', 'Why']}
  rows=${of?.slice(0, 200).map(decision)}/><//>`

export function Researcher({now}) {
  const r = useData('/v1/research', ['decisions', 'members'], 3000), d = r.data
  return html`<h1>Researcher</h1><${Loaded} of=${r}>${d && html`<div class="cards">
    <${Card} title="Histories and forecasts" wide><${Histories} of=${d.members} me=${now?.node?.peer_id}/><//>
    <${Reliability} of=${d.reliability}/><${Decisions} of=${d.decisions}/></div>`}<//>`
}
