import {useState} from './vendor/preact-htm.js'
import {call, change, useData} from './live.js'
import {Plot, Week} from './draw.js'
import {Card, Do, Form, Legend, Loaded, Rows, Trouble, html} from './parts.js'
import {count, percent, sentence, span, text} from './words.js'

const states = ['available', 'user-present', 'cpu-busy', 'leaving', 'unavailable', 'unobserved']

const effect = p => `In the recorded time tasks could run for ${span(p.now.available_s)}, and were stopped ` +
  `${count(p.now.stops, 'time')}. With this rule it would have been ${span(p.then.available_s)}, and ` +
  count(p.then.stops, 'time') + (p.unknown_s > 0 ? `. Of ${span(p.unknown_s)} nobody can tell.` : '.')

// Preview says what the changed rule would have done over what the machine recorded.
const Preview = ({of, keep}) => html`<div class="preview" role="status"><p><b>${text(of.effect, 300)}</b></p>
  <p>${effect(of)} </p>
  ${of.notes?.slice(0, 8).map(n => html`<p class="soft">${text(n, 300)}</p>`)}
  ${of.strip?.spells?.length > 0 && html`<${Week} strip=${of.strip}/>`}
  <${Do} label="Change the rule" kind="main" run=${keep}/></div>`

function Rule({rule}) {
  const [seen, see] = useState(), [value, write] = useState(rule.value)
  const path = '/v1/machine/rules/' + encodeURIComponent(rule.key)
  const look = async () => see(await call('POST', '/v1/machine/preview', {key: rule.key, value}))
  const keep = async () => { await change('PUT', path, {value}); see() }
  const field = {id: rule.key, value, onInput: e => { write(e.target.value); see() }}
  const choices = rule.kind === 'bool' ? ['true', 'false'] : rule.choices
  return html`<div class="rule"><label for=${rule.key}><code>${text(rule.key)}</code></label>
    ${rule.set && html` <b>set by you</b>`}<p>${text(rule.effect, 300)}</p>
    <${Form} button="Preview" run=${look} aria-label=${text(rule.key)}>${choices
      ? html`<select ...${field}>${choices.map(c => html`<option value=${c}>${c}</option>`)}</select>`
      : html`<input ...${field} maxlength="200" autocomplete="off" title=${text(rule.hint, 200)}/>`}<//>
    ${seen && html`<${Preview} of=${seen} keep=${keep}/>`}</div>`
}

const hour = 3600
const staying = f => `It stays for an hour with probability ${percent(f.find(p => p.for_s >= hour)?.stay)}, and for ` +
  `${span(f.at(-1).for_s)} with ${percent(f.at(-1).stay)}.`

const Forecast = ({of, rests}) => html`<${Card} title="Forecast">${of?.length > 1
  ? html`<${Plot} lines=${[{name: 'stays', points: of.map(p => [p.for_s, p.stay])}]} most=${1} x=${span} y=${percent}
    words=${staying(of)}/>` : html`<p class="soft">Too little is known of this machine yet.</p>`}
  <ul class="soft">${rests?.slice(0, 6).map(t => html`<li>${text(t, 200)}</li>`)}</ul><//>`

export function Machine({now}) {
  const m = useData('/v1/machine', ['machine']), d = m.data
  return html`<h1>Machine</h1><p class="why">${now && sentence(now.why)}</p><${Loaded} of=${m}>${d && html`
    ${d.sensors.filter(s => s.result === 'bad').map(s => html`
      <${Trouble} of=${{error: `${s.check}: ${s.text}`, hint: s.fix}}/>`)}
    <div class="cards">
    <${Card} title="The last seven days"><${Week} strip=${d.strip}/><${Legend} of=${states}/><//>
    <${Forecast} of=${d.forecast} rests=${d.rests_on}/>
    <${Card} title="Rules" wide><p class="soft">They are in <code>${text(d.file, 200)}</code>. Each change is previewed
      ${' '}over what this machine recorded. Once made, it holds within a second.</p>
      <div class="rules">${d.rules.map(r => html`<${Rule} key=${r.key + r.value} rule=${r}/>`)}</div><//>
    <${Card} title="Sensors" wide><${Rows} label="Sensors" head=${['Check', 'Result', 'What it sees']}
      rows=${d.sensors.map(s => [text(s.check, 60), text(s.result, 20), text(s.text, 300)])}/><//></div>`}<//>`
}
