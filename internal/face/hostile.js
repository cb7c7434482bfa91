// What a hostile text did to the page in sight: sentences, none if it stayed text.
(() => {
  const found = []
  if (document.title.includes('run')) found.push('a script of it ran')
  for (const e of document.querySelectorAll('img:not([src="/ui/icon.svg"]), script:not([src]), iframe, [onerror]')) {
    found.push('it became ' + e.outerHTML.slice(0, 80))
  }
  const named = [...document.querySelectorAll('[title], [aria-label], svg title, svg text')]
  const all = e => [e.title, e.getAttribute('aria-label'), e.textContent].join(' ')
  const texts = [document.body.innerText, ...named.map(all)]
  for (const t of texts) {
    const mark = t.match(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000e-\u001f]/)
    if (mark) found.push('a mark stays: ' + mark[0].codePointAt(0).toString(16))
    if (/w{500}/.test(t)) found.push('it is not cut')
  }
  return found
})()
