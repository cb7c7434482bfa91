package main

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// meant finds on a page what a hostile text did there.
//
//go:embed hostile.js
var meant string

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
	if err := t.pass(r.door()); err != nil {
		return "", err
	}
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
