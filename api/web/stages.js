import {taskWords} from './draw.js'
import {html} from './parts.js'
import {is, text} from './words.js'

const box = {w: 150, h: 48, right: 200, down: 62} // of a stage, in pixels, and where the next begins

// places puts a stage to the right of all that it needs. Stages that need each other, which no job has, end anywhere.
function places(of) {
  const column = Object.fromEntries(of.map(s => [s.name, 0])), columns = [], at = {}
  for (const _ of of) {
    for (const s of of) {
      const needs = (s.needs || []).filter(n => n in column)
      column[s.name] = Math.min(of.length, Math.max(0, ...needs.map(n => column[n] + 1)))
    }
  }
  for (const s of of) {
    const x = column[s.name]
    columns[x] = (columns[x] || 0) + 1
    at[s.name] = {x: x * box.right, y: (columns[x] - 1) * box.down}
  }
  return at
}

const mostStages = 64 // that are drawn

// Stages draws the graph of a workflow.
export function Stages({of: all}) {
  const of = all.slice(0, mostStages), at = places(of), mid = box.h / 2
  const words = of.map(s => `${text(s.name, 40)}: ${taskWords(s.tasks)}` +
    (s.needs?.length ? ', needs ' + s.needs.map(n => text(n, 40)).join(' and ') : '')).join('; ')
  const edge = (a, b) => `M${a.x + box.w} ${a.y + mid}c25 0 ${b.x - a.x - box.w - 25} ${b.y - a.y} ` +
    `${b.x - a.x - box.w} ${b.y - a.y}`
  const fate = t => is(t.failed ? 'failed' : t.running ? 'running' : t.done === t.total ? 'done' : 'unknown')
  const most = k => Math.max(...Object.values(at).map(p => p[k]))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Stages">
    <svg class="graph" width=${most('x') + box.w + 2} height=${most('y') + box.h + 2} role="img" aria-label=${words}>
    ${of.flatMap(s => (s.needs || []).filter(n => at[n]).map(n => html`<path d=${edge(at[n], at[s.name])}/>`))}
    ${of.map(s => html`<g transform=${`translate(${at[s.name].x + 1},${at[s.name].y + 1})`}>
      <rect class=${fate(s.tasks)} width=${box.w} height=${box.h} rx="6"/><text x="10" y="20">${text(s.name, 18)}</text>
      <text class="soft" x="10" y="38">${s.tasks.done} of ${s.tasks.total} done</text></g>`)}
    </svg></div>`
}
