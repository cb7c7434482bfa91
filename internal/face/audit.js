// What the page in sight has that a reader of it may fall over. The answer is a list of sentences.
(() => {
  const found = []
  const seen = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0
  const where = e => `<${e.tagName.toLowerCase()} class="${e.getAttribute('class') || ''}"> ` +
    (e.textContent || '').trim().slice(0, 40)
  const named = e => e.getAttribute('aria-label')?.trim() || [...e.labels || []].some(l => l.innerText.trim()) ||
    !['INPUT', 'SELECT', 'TEXTAREA'].includes(e.tagName) && e.innerText?.trim()
  const controls = 'a[href], button, input, select, textarea, summary, meter, [role=img], [role=region], [tabindex="0"]'
  for (const e of document.querySelectorAll(controls)) {
    if (seen(e) && !named(e)) found.push('without a name: ' + where(e))
  }
  for (const e of document.querySelectorAll('img:not([alt])')) found.push('an image without alt: ' + e.src)
  const h1 = [...document.querySelectorAll('h1')].filter(seen)
  if (h1.length !== 1) found.push(`${h1.length} headings of the first level`)
  let level = 0
  for (const e of [...document.querySelectorAll('h1, h2, h3, h4')].filter(seen)) {
    if (+e.tagName[1] > level + 1) found.push('a level of headings is left out before ' + where(e))
    level = +e.tagName[1]
  }
  if (!document.documentElement.lang) found.push('no language')
  if (!document.title) found.push('no title')
  for (const mark of ['main', 'nav[aria-label]', 'header']) {
    if ([...document.querySelectorAll(mark)].filter(seen).length !== 1) found.push('not one ' + mark)
  }
  if (!document.querySelector('[aria-current=page]')) found.push('the page in sight is not marked')
  for (const e of document.querySelectorAll('[tabindex]')) {
    if (e.tabIndex > 0) found.push('an order of its own: ' + where(e))
  }
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id)
  if (new Set(ids).size < ids.length) found.push('an id is there twice')

  const over = document.documentElement.scrollWidth - innerWidth
  if (over > 0) {
    const out = e => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1
    const wide = [...document.querySelectorAll('main *')].filter(out)
    found.push(`${over} pixels beyond the right edge: ` + wide.slice(0, 3).map(where).join(', '))
  }

  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
  const rgba = color => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  // The relative luminance of a colour, and the least ratio of two: WCAG 2.2.
  const light = c => {
    const [r, g, b] = c.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    return .2126 * r + .7152 * g + .0722 * b
  }
  const least = 4.5
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor)
      if (c[3] === 255) return c
    }
    return rgba('Canvas')
  }
  const told = new Set()
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement
    if (!n.data.trim() || !seen(e) || e.closest('button:disabled, title, option, script, noscript')) continue
    const style = getComputedStyle(e), front = rgba(e.closest('svg') ? style.fill : style.color)
    const [a, b] = [light(front.slice(0, 3)), light(behind(e).slice(0, 3))].sort((x, y) => y - x)
    const ratio = (a + .05) / (b + .05)
    const kind = e.tagName + e.getAttribute('class')
    if (ratio < least && !told.has(kind)) {
      told.add(kind) // one is enough of each
      found.push(`contrast ${ratio.toFixed(2)}: ${where(e)}`)
    }
  }
  return found
})()
