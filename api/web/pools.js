import {useState} from './vendor/preact-htm.js'
import {call, change, useData} from './live.js'
import {Card, Do, Form, Loaded, Peer, Rows, Said, State, html} from './parts.js'
import {Change} from './rules.js'
import {count, short, text} from './words.js'

const path = (id, rest = '') => `/v1/overlays/${encodeURIComponent(id)}${rest}`
const day = 86400 // seconds

const edge = 4 // cells of light around a QR code, which readers need

// Code draws the rows of a QR code, dark on light in either theme.
function Code({rows}) {
  const n = rows.length + 2 * edge
  const cells = rows.flatMap((r, y) => [...r].map((c, x) => c === '1' ? `M${x} ${y}h1v1h-1z` : ''))
  const box = [-edge, -edge, n, n].join(' ')
  return html`<svg class="code" role="img" aria-label="The ticket as a QR code" viewBox=${box}>
    <rect x=${-edge} y=${-edge} width=${n} height=${n}/><path d=${cells.join('')}/></svg>`
}

function Invite({pool}) {
  const [made, set] = useState()
  const run = async f => set(await call('POST', path(pool.id, '/invite'), {life_s: f.days * day}))
  return html`<${Form} button="Make a ticket" run=${run} aria-label="Invite">
    <label>Days that a ticket is good for
      <input name="days" type="number" min="1" max="366" value="7" required/></label><//>
    ${made && html`<div class="preview" role="status"><p>Whoever has this ticket can join the pool:</p>
      <textarea readonly rows="4" aria-label="Ticket" onFocus=${e => e.target.select()}>${made.ticket}</textarea>
      ${made.qr && html`<${Code} rows=${made.qr}/>`}</div>`}`
}

const rules = [['admission', 'Admission'], ['placement', 'Placement'], ['migration', 'Migration'],
  ['predictor', 'Predictor'],
  ['fairness', 'Fairness'], ['chunking', 'Chunks'], ['coordinators', 'Coordinators'],
  ['slots_each', 'Slots of each submitter'], ['replicas', 'Runs that must agree'], ['verify', 'Verification']]
const Rules = ({of}) => html`<dl>${rules.filter(([k]) => of?.[k]).map(([k, name]) => html`
  <div><dt>${name}</dt><dd><${Said} of=${of[k]} most=${60}/></dd></div>`)}</dl>`

function Members({pool, me}) {
  const remove = m => html`<${Do} label="Remove" name=${'Remove ' + short(m.peer)}
    sure="It loses its place on the list. Remove it?"
    run=${() => change('DELETE', path(pool.id, '/members/' + encodeURIComponent(m.peer)))}/>`
  const row = m => [html`<${Peer} id=${m.peer} me=${me}/>`, html`<${State} of=${m.state}/>`, text(m.belief, 20),
    html`<${Said} of=${m.site} most=${30}/>`, m.removable && remove(m)]
  return html`<details><summary>Members</summary><${Rows} label="Members" rows=${pool.members_list?.map(row)}
    head=${['Member', 'State', 'Belief', 'Site', '']}/></details>`
}

const parts = {leader: 'This node leads it.', coordinator: 'This node coordinates.', member: 'This node is a member.'}

const leads = ({leader}, me) => !leader ? 'No leader is known.' : leader !== me && html`<${Peer} id=${leader}/> leads.`

function Pool({pool, me}) {
  const share = f => change('PUT', path(pool.id, '/share'), {share: +f.share}), name = text(pool.name, 60)
  return html`<section class="card" aria-label=${name}><h2><${Said} of=${pool.name} most=${60}/></h2>
    <p class="soft">${count(pool.members, 'member')}. ${parts[pool.role]} ${pool.founded_by_me && 'It founded it, too.'}
      ${' '}${leads(pool, me)}</p>
    <${Rules} of=${pool.rules}/>${pool.founded_by_me && html`<${Change} at=${path(pool.id)} name=${name}/>`}
    <${Form} button="Change the share" run=${share} aria-label="Share"><label>Share of this machine
      <input name="share" type="number" min="0" max="1000000" step="any" required defaultValue=${pool.share}/>
      </label><//>
    ${pool.founded_by_me && pool.rules?.admission === 'invited' && html`<${Invite} pool=${pool}/>`}
    <${Members} pool=${pool} me=${me}/>
    <p class="acts"><${Do} label="Leave" name=${'Leave ' + name} sure="This node serves the pool no longer. Leave it?"
      run=${() => change('DELETE', path(pool.id))}/></p></section>`
}

const join = f => change('POST', '/v1/overlays/join', {overlay: f.overlay.trim(), share: +f.share})
const Join = () => html`<${Card} title="Join a pool"><${Form} button="Join" run=${join} clear aria-label="Join a pool">
  <label>Ticket, or the name of an open pool
    <textarea name="overlay" rows="3" required maxlength="100000"></textarea></label>
  <label>Share of this machine
    <input name="share" type="number" min="0.001" max="1000000" step="any" value="1" required/></label><//><//>`

const found = f => change('POST', '/v1/overlays', {name: f.name.trim(), admission: f.admission})
const Found = () => html`<${Card} title="Found a pool">
  <${Form} button="Found" run=${found} clear aria-label="Found a pool">
  <label>Name <input name="name" required maxlength="128" autocomplete="off"/></label>
  <label>Who may join <select name="admission"><option value="invited">who has a ticket</option>
    <option value="open">anybody</option><option value="listed">who is on a list</option></select></label><//><//>`

export function Pools({now}) {
  const p = useData('/v1/pools', ['overlays', 'members'], 3000)
  const pool = o => html`<${Pool} key=${o.id} pool=${o} me=${now?.node?.peer_id}/>`
  return html`<h1>Pools</h1><${Loaded} of=${p}>
    <div class="cards">${p.data?.pools.map(pool)}<${Join}/><${Found}/></div><//>`
}
