// What peers wrote stays text, of one line and a length, whoever wrote it: as task.Printable has it on a terminal.
export const text = (s, most = 100) => {
  const all = [...String(s ?? '').slice(0, 4 * most).replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}\p{Co}]/gu, '\ufffd')]
  return all.length > most ? all.slice(0, most - 1).join('') + '…' : all.join('')
}

// IDs differ at their ends.
export const short = (id, n = 8) => text(String(id ?? '').slice(-n))
export const count = (n, one, many = one + 's') => `${(n ?? 0).toLocaleString('en')} ${n === 1 ? one : many}`
export const percent = p => p > 0 && p < .01 ? '<1 %' : p < 1 && p > .99 ? '>99 %' : Math.round(100 * (p || 0)) + ' %'

const spans = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']]
export const span = s => {
  if (!(s >= 1)) return s > 0 ? '<1 s' : '0 s'
  const i = spans.findIndex(u => s >= u[0]), [u, name] = spans[i], [v, low] = spans[i + 1] || []
  const whole = Math.floor(s / u), rest = v && Math.floor(s % u / v)
  return `${whole} ${name}` + (rest ? ` ${rest} ${low}` : '')
}
export const size = n => {
  const i = n >= 1024 ? Math.min(4, Math.floor(Math.log2(n) / 10)) : 0
  return `${+((n || 0) / 1024 ** i).toFixed(i ? 1 : 0)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][i]}`
}
export const secondsSince = t => (Date.now() - new Date(t)) / 1000
export const ago = t => t ? span(secondsSince(t)) + ' ago' : ''
const fields = {weekday: 'short', hour: '2-digit', minute: '2-digit'}
export const clock = (t, fine) => new Date(t).toLocaleString('en-GB', {...fields, ...fine && {second: '2-digit'}})
const hour = 3600 // seconds
export const between = (from, to) => {
  const fine = new Date(to) - new Date(from) < 1000 * hour
  return `${clock(from, fine)} to ${clock(to, fine)}`
}

// sentence begins and ends as one.
export const sentence = (s, most = 300) => text(s, most).replace(/^./u, c => c.toUpperCase())
  .replace(/[^.!?…]$/u, '$&.')

// jobState is a job's state, with the number of results that are not checked yet of a job that is over.
export const jobState = j => text(j.state, 20) +
  (j.unchecked > 0 && !['offered', 'running'].includes(j.state) ? `, ${j.unchecked} results not checked` : '')

// is names the class of a state or an outcome: peers' words choose no other.
export const is = s => 'is-' + (/^[a-z-]{1,20}$/.test(s) ? s : 'unknown')

export const latency = ms => ms > 0 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : ''
