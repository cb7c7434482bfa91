import {useEffect, useState} from './vendor/preact-htm.js'

// Who listens, by topic.
const heard = {}
export const on = (topic, f) => {
  (heard[topic] ??= new Set()).add(f)
  return () => heard[topic].delete(f)
}
const tell = (topic, data) => heard[topic]?.forEach(f => f(data))

const silent = {error: 'The node does not answer.', hint: 'Is it running? `godwit up` starts it.'}

let csrf = ''
async function send(method, path, body, headers) {
  const raw = body === undefined || body instanceof Blob
  headers = {...headers, ...!raw && {'Content-Type': 'application/json'}, ...method !== 'GET' && {'Godwit-CSRF': csrf}}
  const r = await fetch(path, {method, headers, body: raw ? body : JSON.stringify(body)}).catch(() => { throw silent })
  return [r, await r.json().catch(() => ({}))]
}

// call asks the API. It throws the answer where that is an error: {error, hint}.
export async function call(method, path, body, headers) {
  let [r, answer] = await send(method, path, body, headers)
  if (r.status === 403 && answer.kind === 'auth' && path !== session) { // another tab has begun a session since
    await enter()
    ;[r, answer] = await send(method, path, body, headers)
  }
  if (r.ok) return answer
  if (r.status === 401) tell('session', answer)
  throw answer.error ? answer : {error: `The node answered with ${r.status}.`}
}

// change is call of what changes something, after which all that is shown is asked for anew.
export async function change(method, path, body) {
  const answer = await call(method, path, body)
  share('again')
  return answer
}

const session = '/v1/session'

// enter begins with the session that the cookie names, or with a password.
export async function enter(password) {
  const s = await (password === undefined ? call('GET', session) : call('POST', session, {password}))
  csrf = s.csrf
  tell('session', {})
}

// One tab has the stream, whichever holds the lock; it tells the others.
const topics = ['home', 'jobs', 'members', 'overlays', 'decisions', 'machine', 'reset']
const others = new BroadcastChannel('godwit')
let source, up
function share(topic, data) {
  tell(topic, data)
  others.postMessage([topic, data])
}
others.onmessage = ({data: [topic, data]}) => topic !== 'hello' ? tell(topic, data) : source && share('link', up)

const retry = 5000 // ms, after what the browser does not try again by itself

function listen() {
  source = new EventSource('/v1/events')
  for (const t of topics) {
    source.addEventListener(t, e => share(t === 'reset' ? 'again' : t, e.data ? JSON.parse(e.data) : 0))
  }
  const link = now => {
    if (now && up === false) share('again')
    share('link', up = now)
  }
  source.onopen = () => link(true)
  source.onerror = () => {
    link(false)
    if (source.readyState === EventSource.CLOSED) setTimeout(() => enter().then(listen, listen), retry)
  }
}

// follow takes part in the stream.
export function follow() {
  navigator.locks.request('godwit-events', () => new Promise(listen))
  others.postMessage(['hello'])
  document.addEventListener('visibilitychange', () => document.hidden || tell('again'))
}

// useData has what a path answers with, and again after each event of the topics: one request at a time, with a rest,
// in ms, between two, and none while nobody looks. No path is no request.
export function useData(path, topics, rest = 1000) {
  const [s, set] = useState({})
  useEffect(() => {
    let gone, busy, again
    const load = async () => {
      again = busy || document.hidden
      if (again || gone || !path) return
      busy = true
      try {
        const data = await call('GET', path)
        gone || set({path, data})
      } catch (error) {
        gone || set(old => ({path, data: old.path === path ? old.data : undefined, error}))
      }
      setTimeout(() => { busy = false; again && load() }, rest)
    }
    load()
    const ends = ['again', ...topics].map(t => on(t, load))
    return () => { gone = true; ends.forEach(end => end()) }
  }, [path])
  return s.path === path ? s : {}
}
