import {useState} from './vendor/preact-htm.js'
import {useData} from './live.js'
import {Plot, more} from './draw.js'
import {Card, Legend, Loaded, Peer, Pick, Rows, Said, State, html} from './parts.js'
import {ago, count, is, latency, percent, short, size, span, text} from './words.js'

const states = ['available', 'user-present', 'cpu-busy', 'leaving', 'unavailable', 'lost']
const rings = [1, 10, 100, 1000] // ms
const unknown = 200              // from the middle, where a latency is not known

// far is how far from the middle a latency is drawn: each ring is ten times the one before.
const far = ms => ms > 0 ? 40 + 40 * Math.min(3.5, Math.max(-.5, Math.log10(ms))) : unknown

// angle is a member's own, so that it stays where it is.
const angle = peer => [...peer].reduce((h, c) => (h * 31 + c.charCodeAt(0)) % 9973, 7) / 9973 * 2 * Math.PI

const memberState = m => m.belief === 'lost' ? 'lost' : text(m.state, 20)
const roles = m => m.roles?.filter(r => r !== 'self').map(r => text(r, 20)).join(', ')

function Member({of, leader, me}) {
  const own = of.peer === me, a = angle(of.peer), r = own ? 0 : far(of.latency_ms)
  return html`<g transform=${`translate(${r * Math.cos(a)},${r * Math.sin(a)})`}>
    ${roles(of) && html`<circle class=${of.peer === leader ? 'leads' : 'coordinates'} r="11"/>`}
    <circle class=${'member ' + is(memberState(of))} r=${own ? 8 : 6}/>
    <title>${short(of.peer)}: ${memberState(of)}, ${roles(of)} ${latency(of.latency_ms)}</title></g>`
}

const Chart = ({rows, leader, me}) => html`<svg class="map" viewBox="-230 -215 460 430" role="img"
  aria-label=${`${count(rows.length, 'member')} by latency. The table of members has them all.`}>
  ${rings.map(ms => html`<circle class="ring" r=${far(ms)}/>
    <text y=${-far(ms) - 3} text-anchor="middle">${ms} ms</text>`)}
  ${rows.map(m => html`<${Member} key=${m.peer + m.overlay} of=${m} leader=${leader} me=${me}/>`)}</svg>
  <p class="soft">This node is in the middle. Who coordinates has a ring, and who leads a thick one. Members whose
    ${' '}latency is not known are outside.</p>`

// Away has who is not there, and by whose word.
const Away = ({rows}) => rows.length > 0 && html`<${Card} title="Believed away" wide><${Rows} label="Believed away"
  head=${['Member', 'Belief', 'By the word of', 'Since']} rows=${rows.map(m => [html`<${Peer} id=${m.peer}/>`,
    text(m.belief, 20), html`<${Said} of=${m.belief_by} most=${80}/>`, ago(m.belief_since)])}/><//>`

const line = (name, points, k) => ({name, points: points.map(p => [new Date(p.at) / 1000, p[k]])})
const Traffic = ({of}) => html`<${Card} title="Traffic">${of.points?.length > 1 && html`<${Plot}
    lines=${[line('received', of.points, 'rx_per_s'), line('sent', of.points, 'tx_per_s')]}
    x=${t => span(Date.now() / 1000 - t) + ' ago'} y=${v => size(v) + '/s'} unit=${1024} words="Bytes a second."/>`}
  <p>${size(of.rx_bytes)} received and ${size(of.tx_bytes)} sent since the node began.</p><//>`

const Group = ({of, leader, me}) => html`<${Card} title="Coordinators">
  ${of?.length ? html`<ul>${of.map(p => html`
      <li><${Peer} id=${p} me=${me}/> ${p === leader ? 'leads' : 'follows'}</li>`)}</ul>`
    : html`<p class="soft">No coordinator is known.</p>`}<//>`

const head = ['Member', 'State', 'Role', 'Latency', 'Path', 'Free slots', 'Stays an hour', 'Site', 'Pool']
const row = me => m => [html`<${Peer} id=${m.peer} me=${me}/>`, html`<${State} of=${memberState(m)}/>`, roles(m),
  latency(m.latency_ms), html`${text(m.path, 12)}${m.via && html` by <${Peer} id=${m.via}/>`}`,
  `${m.free} of ${m.slots}`, percent(m.forecast), html`<${Said} of=${m.site} most=${30}/>`,
  html`<${Said} of=${m.overlay} most=${30}/>`]

const sums = by => Object.entries(by).map(([k, n]) => `${n} ${text(k, 20)}`).join(', ')

export function Swarm({now}) {
  const [pool, choose] = useState(''), me = now?.node?.peer_id
  const s = useData('/v1/swarm?overlay=' + encodeURIComponent(pool), ['members', 'overlays'], 2000), d = s.data
  return html`<h1>Swarm</h1><${Pick} all="all" choose=${choose}/><${Loaded} of=${s}>${d && html`
    <p class="why">${count(d.members, 'member')}: ${sums(d.states)}.</p>
    <div class="cards"><${Away} rows=${d.rows.filter(m => m.belief !== 'there')}/>
    <${Card} title="Map"><${Chart} rows=${d.rows} leader=${d.leader} me=${me}/><${Legend} of=${states}/><//>
    <div class="stack"><${Group} of=${d.group} leader=${d.leader} me=${me}/><${Traffic} of=${d.traffic}/></div>
    <${Card} title="Members" wide><${Rows} label="Members" head=${head} rows=${d.rows.map(row(me))}/>
      ${more(d.rows.length, d.members, 'member')}<//></div>`}<//>`
}
