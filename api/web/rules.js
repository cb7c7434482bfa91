import {useState} from './vendor/preact-htm.js'
import {call, change} from './live.js'
import {Do, Form, html} from './parts.js'
import {text} from './words.js'

const who = [['open', 'anybody'], ['invited', 'who has a ticket'], ['listed', 'who is on a list']]

// The rules of a pool: what the API calls them, what people do, and how they are written.
const rules = [['admission', 'Who may join', 'who'], ['allowed', 'The list, an ID a line', 'list'],
  ['placement', 'Placement', 'policy'], ['migration', 'Migration', 'policy'],
  ['predictor', 'Predictor', 'policy'], ['fairness', 'Fairness', 'policy'],
  ['chunking', 'Chunks', 'policy'], ['coordinators', 'Coordinators', 'number'],
  ['trusted', 'Who alone may coordinate, an ID a line', 'list'], ['replicas', 'Runs that must agree', 'number'],
  ['verify', 'Verification', 'policy'], ['priorities', 'Priorities count where anybody may join', 'flag'],
  ['slots_each', 'Slots of each submitter at most (0: no limit; not where anybody may join)', 'number'],
  ['revoke_invitations', 'Void all tickets made so far', 'flag']]

const read = {
  who: v => v, policy: v => v.trim(), number: v => +v, flag: v => v === 'on',
  list: v => v.split(/\s+/).filter(id => id),
}
const nothing = {who: 'open', policy: '', number: 0, flag: false, list: []}

// as is a value in words.
const as = (kind, v) => kind === 'who' ? who.find(([w]) => w === v)?.[1] : kind === 'flag' ? (v ? 'yes' : 'no')
  : kind === 'list' ? (v.length ? v.map(id => text(id).slice(-8)).slice(0, 20).join(', ') : 'nobody')
  : text(v || 'the usual', 200)

function Field({kind, name, label, value}) {
  const field = {name, autocomplete: 'off'}
  if (kind === 'flag') return html`<label><input type="checkbox" ...${field} defaultChecked=${value}/> ${label}</label>`
  return html`<label>${label} ${kind === 'who' ? html`<select ...${field}>${who.map(([w, words]) => html`
      <option value=${w} selected=${w === value}>${words}</option>`)}</select>`
    : kind === 'list' ? html`<textarea rows="2" ...${field} defaultValue=${value.join('\n')}></textarea>`
    : kind === 'number' ? html`<input type="number" min="0" ...${field} defaultValue=${value}/>`
    : html`<input ...${field} maxlength="200" placeholder="the usual" defaultValue=${value}/>`}</label>`
}

// Rules that go with an admission go when it does, as those of `godwit overlay change`.
function changed(was, given) {
  const now = {...was, ...given}
  if (given.admission && now.admission !== 'listed') now.allowed = []
  if (given.admission && now.admission !== 'open') now.priorities = false
  if (given.admission && now.admission === 'open') now.slots_each = 0
  return now
}

const Preview = ({was, given, keep}) => html`<div class="preview" role="status">
  <ul>${rules.filter(([k]) => k in given).map(([k, label, kind]) => html`
    <li>${label}: ${as(kind, was[k] || nothing[kind])} → <b>${as(kind, given[k])}</b></li>`)}</ul>
  ${given.revoke_invitations && html`<p>Who joined with a ticket is no member any more.</p>`}
  ${given.admission && html`<p>Members whom the new rule does not admit are none any more.</p>`}
  <${Do} label="Change the rules" kind="main" run=${keep}/></div>`

// Change is how the founder of a pool changes its rules. What others changed meanwhile stays.
export function Change({at, name}) {
  const [was, open] = useState(), [given, see] = useState()
  const begin = async () => open((await call('GET', at)).rules)
  const end = () => { see(); open() }
  const look = f => {
    const out = {}
    for (const [k, , kind] of rules) {
      const v = read[kind](f[k] ?? ''), old = was[k] || nothing[kind]
      if (JSON.stringify(v) !== JSON.stringify(old)) out[k] = v
    }
    if (!Object.keys(out).length) throw {error: 'Nothing is changed.'}
    see(out)
  }
  const keep = async () => {
    const {rules: now} = await call('GET', at)
    await change('PUT', at, changed(now, given))
    end()
  }
  if (!was) return html`<p><${Do} label="Change rules" name=${'Change the rules of ' + name} run=${begin}/></p>`
  return html`<${Form} button="Preview" run=${look} onInput=${() => see()} aria-label=${'Rules of ' + name}>
      ${rules.map(([k, label, kind]) => html`
        <${Field} key=${k} name=${k} label=${label} kind=${kind} value=${was[k] || nothing[kind]}/>`)}
      <button type="button" onClick=${end}>Close</button><//>
    ${given && html`<${Preview} was=${was} given=${given} keep=${keep}/>`}`
}
