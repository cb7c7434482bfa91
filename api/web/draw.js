import {useEffect, useRef, useState} from './vendor/preact-htm.js'
import {html} from './parts.js'
import {ago, between, count, is, percent, secondsSince, span, text} from './words.js'

const fates = ['done', 'running', 'failed', 'waiting']

// taskWords says in words what Bar draws.
export const taskWords = t => fates.filter(k => t[k] > 0).map(k => `${t[k].toLocaleString('en')} ${k}`).join(', ') ||
  'no tasks'

export const Bar = ({tasks}) => html`<div class="bar" role="img" aria-label=${taskWords(tasks)}>
  ${fates.map(k => tasks[k] > 0 && html`<i class=${is(k)} style=${{flexGrow: tasks[k]}}></i>`)}</div>`

// endWords is a forecast of the end as a sentence; a job that has none gives the reason.
export const endWords = e => !e ? '' : e.reason ? text(e.reason, 200) : !(e.median_s >= 0) ? ''
  : e.unknown ? 'when it ends is not known before a task has ended'
  : `ends in about ${span(e.median_s)} (nine in ten: ${span(e.low_s)} to ${span(e.high_s)}` +
    (secondsSince(e.at) > 20 ? `; as of ${ago(e.at)})` : ')')

const seconds = t => new Date(t) / 1000

// Strip draws spells of states between two times, which are in seconds since 1970.
export const Strip = ({spells, from, to, label}) => {
  const x = t => Math.min(1000, Math.max(0, (seconds(t) - from) / (to - from) * 1000))
  return html`<svg class="strip" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${label}>
    ${spells.filter(s => x(s.to) > x(s.from)).map(s => html`
      <rect class=${is(s.state)} x=${x(s.from)} width=${Math.max(2, x(s.to) - x(s.from))} height="10">
        <title>${text(s.state, 20)}, ${between(s.from, s.to)}${s.rule ? ': ' + text(s.rule, 60) : ''}</title>
      </rect>`)}</svg>`
}

// shares says in words which part of a strip each state has.
export function shares(spells) {
  const by = {}
  let sum = 0
  for (const s of spells) {
    const took = seconds(s.to) - seconds(s.from)
    by[s.state] = (by[s.state] || 0) + took
    sum += took
  }
  return Object.entries(by).sort((a, b) => b[1] - a[1]).map(([k, v]) => `${text(k, 20)} ${percent(v / sum)}`).join(', ')
}

const mostDays = 8 // a week that begins within a day

// Week draws a strip for each day.
export function Week({strip}) {
  const days = [], day = new Date(strip.from)
  day.setHours(0, 0, 0, 0)
  while (seconds(day) < seconds(strip.to) && days.length < mostDays) {
    days.push(new Date(day))
    day.setDate(day.getDate() + 1)
  }
  return html`<div class="week">${days.map(d => {
    const name = d.toLocaleDateString('en-GB', {weekday: 'short'})
    return html`<span>${name}</span>
      <${Strip} spells=${strip.spells} from=${seconds(d)} to=${seconds(d) + 86400} label=${'States on ' + name}/>`
  })}<span></span><span class="hours">${[0, 6, 12, 18, 24].map(h => html`<i>${h}</i>`)}</span></div>
  <p class="soft">${shares(strip.spells)}</p>`
}

// useWidth follows how wide an element is, so that what is drawn in it is not stretched.
function useWidth() {
  const box = useRef(), [width, set] = useState(600)
  useEffect(() => {
    const sized = new ResizeObserver(([e]) => set(Math.max(200, e.contentRect.width)))
    sized.observe(box.current)
    return () => sized.disconnect()
  }, [])
  return [box, width]
}

const [left, right, top, bottom, high] = [84, 12, 8, 24, 190] // of a plot, in pixels

// ticks has some four numbers up to most that are round once they are divided by a power of unit.
function ticks(most, unit) {
  const scale = unit ** Math.max(0, Math.floor(Math.log(most) / Math.log(unit)))
  const step = scale * 10 ** Math.floor(Math.log10(most / scale / 2))
  const wide = [1, 2, 2.5, 5, 10].map(n => n * step).find(n => most / n <= 4.5)
  return Array.from({length: Math.floor(most / wide + 1e-9) + 1}, (_, i) => i * wide)
}

// Plot draws lines, each {name, points: [[x, y]...]} with x ascending. words say the same to who does not see it. x and
// y write numbers; most is the highest y there is.
export function Plot({lines, words, x, y, most, dots, unit = 1000}) {
  const [box, width] = useWidth(), all = lines.flatMap(l => l.points)
  const low = Math.min(...all.map(p => p[0])), end = Math.max(...all.map(p => p[0]))
  const up = most ?? Math.max(1e-9, ...all.map(p => p[1]))
  const px = v => left + (v - low) / (end - low || 1) * (width - left - right)
  const py = v => high - bottom - v / up * (high - top - bottom)
  return html`<figure class="plot" ref=${box}><svg width=${width} height=${high} role="img" aria-label=${words}>
    ${ticks(up, unit).map(v => html`<line x1=${left} x2=${width - right} y1=${py(v)} y2=${py(v)}/>
      <text x=${left - 8} y=${py(v) + 4} text-anchor="end">${y(v)}</text>`)}
    ${[low, (low + end) / 2, end].map((v, i) => html`<text x=${px(v)} y=${high - 6}
      text-anchor=${['start', 'middle', 'end'][i]}>${x(v)}</text>`)}
    ${lines.map((l, i) => html`
      <polyline class=${'line' + i} points=${l.points.map(p => `${px(p[0])},${py(p[1])}`).join(' ')}/>
      ${dots && l.points.map(p => html`<circle class=${'line' + i} cx=${px(p[0])} cy=${py(p[1])} r="3">
        <title>${x(p[0])}: ${y(p[1])}</title></circle>`)}`)}</svg>
    <figcaption>${lines.length > 1 && lines.map((l, i) => html`
      <span class="state"><i class=${'key line' + i}></i>${l.name}</span> `)}${words}</figcaption></figure>`
}

export const more = (shown, total, one) => total > shown && html`
  <p class="soft">${shown} of ${count(total, one)} are shown.</p>`
