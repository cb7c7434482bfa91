import {useEffect, useState} from './vendor/preact-htm.js'

// Who listens, by topic.
const heard = {}
export const on = (topic, f) => {
  (heard[topic] ??= new Set()).add(f)
  return () => heard[topic].delete(f)
}
const tell = (topic, data) => heard[topic]?.forEach(f => f(data))

const silent = {error: 'The node does not answer.', hint: 'Is it running? `godwit up` starts it.'}

// The token of the session. The cookie alone opens nothing: servers on other ports of this machine see it, too. The
// token comes in the link of `godwit open`. This tab keeps it, and tabs of the same origin share it.
const session = '/v1/session', kept = 'godwit-session'
const link = /^#session=([0-9a-f]{64})$/.exec(location.hash)?.[1]
if (link) history.replaceState(null, '', '/')
let token = ''

function request(method, path, body, headers, signal) {
  const raw = body === undefined || body instanceof Blob
  headers = {...headers, ...!raw && {'Content-Type': 'application/json'}, 'Godwit-CSRF': token}
  return fetch(path, {method, headers, body: raw ? body : JSON.stringify(body), signal}).catch(() => { throw silent })
}

async function send(method, path, body, headers) {
  const r = await request(method, path, body, headers)
  return [r, await r.json().catch(() => ({}))]
}

const others = new BroadcastChannel('godwit')

// newer waits a moment for another tab's token, if it is not the old one, and reports whether there is one.
async function newer(old) {
  if (token === old) {
    others.postMessage(['token?'])
    await new Promise(done => { const end = on('token', () => { end(); done() }); setTimeout(done, 300) })
  }
  return token !== old
}

// call asks the API. It throws the answer where that is an error: {error, hint}.
export async function call(method, path, body, headers) {
  const had = token
  let [r, answer] = await send(method, path, body, headers)
  if (r.status === 401 && await newer(had)) [r, answer] = await send(method, path, body, headers)
  if (r.ok) return answer
  if (r.status === 401) {
    token = ''
    tell('session', answer)
  }
  throw answer.error ? answer : {error: `The node answered with ${r.status}.`}
}

// change is call of what changes something, after which all that is shown is asked for anew.
export async function change(method, path, body) {
  const answer = await call(method, path, body)
  share('again')
  return answer
}

// hold keeps a token that the node knows.
function hold(known) {
  token = known
  sessionStorage.setItem(kept, token)
  tell('token')
  tell('session', {})
}

// enter begins with a password, or else with the token of the link, of this tab or of another tab.
export async function enter(password) {
  let known = password !== undefined && (await call('POST', session, {password})).csrf
  for (const t of [link, sessionStorage.getItem(kept)]) {
    if (known || !t) continue
    token = t
    const [r] = await send('GET', session)
    known = r.ok && t
  }
  if (!known) {
    token = ''
    await call('GET', session)
    return
  }
  hold(known)
  others.postMessage(['token', known])
}

// download has the browser store a file of the API by itself, however large it is.
export async function download(path) {
  const a = document.createElement('a')
  a.href = (await call('POST', session + '/tickets', {path})).url
  a.download = ''
  a.click()
}

// One tab has the stream, whichever holds the lock; it tells the others.
const topics = ['home', 'jobs', 'members', 'overlays', 'decisions', 'machine', 'reset']
let leads, up
function share(topic, data) {
  tell(topic, data)
  others.postMessage([topic, data])
}
others.onmessage = ({data: [topic, data]}) => {
  if (topic === 'token?') token && others.postMessage(['token', token])
  else if (topic === 'token') hold(data)
  else if (topic !== 'hello') tell(topic, data)
  else if (leads) share('link', up)
}

const soon = 1000      // ms from the end of a stream to the next one
const retry = 5000     // ms until the next try, if there was no stream or it broke
const deaf = 60 * 1000 // ms without a sign of life, of which the node sends four a minute

const linked = now => {
  if (now && up === false) share('again')
  share('link', up = now)
}

// take shares a frame of the stream, and returns its number.
function take(frame) {
  const {id, event, data} = Object.fromEntries(frame.split('\n').map(l => l.split(/: (.*)/s)))
  if (topics.includes(event)) share(event === 'reset' ? 'again' : event, data ? JSON.parse(data) : 0)
  return id
}

// stream reads events until there are no more, and reports whether there was a stream. It begins after the last event.
let last = ''
async function stream() {
  const end = new AbortController(), had = token
  const r = await request('GET', '/v1/events', undefined, {'Last-Event-ID': last}, end.signal)
  if (r.status === 401 && !await newer(had)) tell('session', await r.json())
  if (!r.ok) return false
  linked(true)
  const text = r.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let rest = ''; ;) {
    const late = setTimeout(() => end.abort(), deaf)
    const {done, value} = await text.read().finally(() => clearTimeout(late))
    if (done) return true
    const frames = (rest + value).split('\n\n')
    rest = frames.pop()
    for (const f of frames) last = take(f) || last
  }
}

async function listen() {
  for (leads = true; ;) {
    const ended = await stream().catch(() => false)
    ended || linked(false)
    await new Promise(done => setTimeout(done, ended ? soon : retry))
  }
}

// follow takes part in the stream.
export function follow() {
  navigator.locks.request('godwit-events', listen)
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
