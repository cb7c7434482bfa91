import {h, html as make, useEffect, useRef, useState} from './vendor/preact-htm.js'
import {useData} from './live.js'
import {is, short, text} from './words.js'

export const html = make

// Text of others keeps its own direction.
export const Said = ({of, most, as = 'bdi', ...rest}) => h(as, {dir: 'auto', ...rest}, text(of, most))

export const Peer = ({id, me}) => html`<code class="id" title=${text(id)}>${short(id)}</code>
  ${id && id === me && ' (this node)'}`

export const State = ({of}) => html`<span class="state">
  <span class=${'dot ' + is(of)} aria-hidden="true"></span>${text(of, 20)}</span>`

export const Legend = ({of}) => html`<p class="legend">${of.map(s => html`<${State} of=${s}/> `)}</p>`

// Hints have commands between backquotes.
const command = s => text(s, 400).split('`').map((t, i) => i % 2 ? html`<code>${t}</code>` : t)

// Trouble shows an answer that is an error, with the way out.
export const Trouble = ({of}) => of && html`<div class="trouble" role="alert">
  <p>${text(of.error, 400)}</p>${of.hint && html`<p>${command(of.hint)}</p>`}</div>`

// Loaded shows its children once there are data, and why nothing newer came.
export const Loaded = ({of, children}) => html`<${Trouble} of=${of.error}/>
  ${of.data ? children : !of.error && html`<p class="soft">One moment…</p>`}`

export const Card = ({title, wide, children}) => html`
  <section class=${'card' + (wide ? ' wide' : '')} aria-label=${title}><h2>${title}</h2>${children}</section>`

// useTry runs something that may fail, and knows whether it goes on and what went wrong.
export function useTry() {
  const [s, set] = useState({}), here = useRef(true)
  useEffect(() => () => { here.current = false }, [])
  const attempt = async f => {
    set({busy: true})
    try {
      await f()
      here.current && set({})
    } catch (e) {
      here.current && set({error: e.error ? e : {error: String(e)}})
    }
  }
  return [s, attempt]
}

// Do is a button. With sure it asks again, in its place.
export function Do({label, name, run, sure, kind = ''}) {
  const [s, attempt] = useTry(), [asked, ask] = useState(false)
  const go = () => { ask(false); attempt(run) }
  return html`<span class="do">${asked ? html`<span role="alert">${sure}</span>
      <button class="bad" onClick=${go}>Yes</button> <button onClick=${() => ask(false)}>No</button>`
    : html`<button class=${kind} aria-label=${name} disabled=${s.busy} onClick=${sure ? () => ask(true) : go}>${label}
      </button>`}<${Trouble} of=${s.error}/></span>`
}

// Form calls run with its fields by their names; with clear they are empty once it is done.
export function Form({run, button, clear, children, ...rest}) {
  const [s, attempt] = useTry()
  const go = e => {
    e.preventDefault()
    const form = e.target
    attempt(async () => {
      await run(Object.fromEntries(new FormData(form)))
      clear && form.reset()
    })
  }
  return html`<form onSubmit=${go} ...${rest}>${children}
    <button class="main" disabled=${s.busy}>${button}</button><${Trouble} of=${s.error}/></form>`
}

// Rows is a table that scrolls within its card where it is too wide.
export const Rows = ({head, rows, none = 'There are none.', label}) => !rows?.length
  ? html`<p class="soft">${none}</p>`
  : html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table>
    <thead><tr>${head.map(t => html`<th scope="col">${t}</th>`)}</tr></thead>
    <tbody>${rows.map(r => html`<tr>${r.map(c => html`<td>${c}</td>`)}</tr>`)}</tbody></table></div>`

export const JobName = ({job}) => html`<a href=${'#/jobs/' + encodeURIComponent(job.id)}>
  <${Said} of=${job.name || job.id} most=${60}/></a>`

// Pick chooses a pool, where there are several; all says what stands for none.
export function Pick({all, choose}) {
  const pools = useData('/v1/overlays', ['overlays'], 3000).data || []
  return pools.length > 1 && html`<label class="pick">Pool <select onChange=${e => choose(e.target.value)}>
    <option value="">${all}</option>
    ${pools.slice(0, 200).map(p => html`<option value=${p.id}>${text(p.name, 40)}</option>`)}</select></label>`
}
