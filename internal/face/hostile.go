package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// meant is how to find on a page what a hostile text did there: sentences, none if it stayed text.
const meant = `(() => {
  const found = []
  if (document.title.includes('run')) found.push('a script of it ran')
  for (const e of document.querySelectorAll('img:not([src="/ui/icon.svg"]), script:not([src]), iframe, [onerror]')) found.push('it became ' + e.outerHTML.slice(0, 80))
  const texts = [document.body.innerText, ...[...document.querySelectorAll('[title], [aria-label], svg title, svg text')].map(e => [e.title, e.getAttribute('aria-label'), e.textContent].join(' '))]
  for (const t of texts) {
    const mark = t.match(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000e-\u001f]/)
    if (mark) found.push('a mark stays: ' + mark[0].codePointAt(0).toString(16))
    if (/w{500}/.test(t)) found.push('it is not cut')
  }
  return found
})()`

// seeHostile looks at every page while all that peers could have written is hostile.
func seeHostile(f *face) (string, error) {
	change := func(v any) any { return poisoned(v, "") }
	r, err := newRelay(f.swarm, 0, change, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, false)
	if err != nil {
		return "", err
	}
	defer r.Close()
	t, err := f.browser.openTab(r.URL)
	if err != nil {
		return "", err
	}
	defer t.close()
	shown := 0
	for _, s := range f.sights() {
		if err := t.visit(s.hash); err != nil {
			return "", err
		}
		found, err := eval[[]string](t, meant)
		if err != nil || len(found) > 0 {
			return "", errors.Join(fmt.Errorf("%s: %s", s.name, strings.Join(found, "; ")), err)
		}
		over, err := t.audit()
		if wide := only(over, beyond); err != nil || len(wide) > 0 {
			return "", errors.Join(fmt.Errorf("%s: %s", s.name, strings.Join(wide, "; ")), err)
		}
		n, err := eval[int](t, `document.body.innerText.split("<img src=x").length - 1`)
		if err != nil {
			return "", err
		}
		shown += n
	}
	if shown == 0 {
		return "", errors.New("no page showed the hostile text at all")
	}
	return fmt.Sprintf("%d pages, shown as text %d times", len(f.sights()), shown), t.trouble()
}
