import {render, useEffect, useRef, useState} from './vendor/preact-htm.js'
import {enter, follow, on, useData} from './live.js'
import {Form, State, Trouble, html} from './parts.js'
import {Home} from './home.js'
import {Job} from './job.js'
import {Jobs} from './jobs.js'
import {Machine} from './machine.js'
import {Pools} from './pools.js'
import {Researcher} from './research.js'
import {Swarm} from './swarm.js'

const pages = {
  '': ['Home', Home], machine: ['Machine', Machine], jobs: ['Jobs', Jobs], swarm: ['Swarm', Swarm],
  pools: ['Pools', Pools], researcher: ['Researcher', Researcher],
}
const place = () => location.hash.slice(2).split('/').map(decodeURIComponent)

const Door = ({of}) => html`<main class="door"><h1>Godwit</h1><p>This page is for the owner of this machine.</p>
  <${Trouble} of=${of}/>
  ${of.password && html`<${Form} button="Enter" run=${f => enter(f.password)}><label>Password
    <input type="password" name="password" autocomplete="current-password" required/></label><//>`}</main>`

// App is what is behind the door: the pages, and what all of them have.
function App() {
  const [[name, arg], go] = useState(place), [up, link] = useState(), [news, hear] = useState()
  const main = useRef(), first = useData('/v1/home', [])
  useEffect(() => {
    follow()
    on('link', link)
    on('home', hear)
    addEventListener('hashchange', () => {
      go(place())
      main.current?.focus()
      scrollTo(0, 0)
    })
  }, [])
  const [title, Page] = name === 'jobs' && arg ? ['Job', Job] : pages[name] || pages['']
  const now = news, here = pages[name] ? name : ''
  useEffect(() => { first.data && hear(first.data) }, [first.data])
  useEffect(() => { document.title = title + ' – Godwit' }, [title])
  const skip = e => { e.preventDefault(); main.current.focus() }
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
  <header><a class="brand" href="#/"><img src="/ui/icon.svg" alt="" width="28" height="28"/>Godwit</a>
    <nav aria-label="Pages">${Object.entries(pages).map(([to, [label]]) => html`
      <a href=${'#/' + to} aria-current=${to === here ? 'page' : null}>${label}</a>`)}</nav>
    <span class="link" role="status">${up === false ? 'Not connected to the node'
      : now && html`<${State} of=${now.state}/>`}</span></header>
  <main ref=${main} id="main" tabindex="-1">
    <${Page} key=${name + '/' + arg} arg=${arg} now=${now} error=${first.error}/></main>`
}

// Gate shows the door until there is a session, and again when it is over. What is behind it keeps its place.
function Gate() {
  const [door, close] = useState(), [entered, enters] = useState(false)
  useEffect(() => {
    on('session', e => { close(e.error && e); e.error || enters(true) })
    enter().catch(close)
  }, [])
  return html`${door && html`<${Door} of=${door}/>`}${entered && html`<div hidden=${!!door}><${App}/></div>`}`
}
render(html`<${Gate}/>`, document.body)
