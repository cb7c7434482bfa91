package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func seeDoor(f *face) (string, error) {
	stranger, err := f.browser.openTab(f.swarm.origin(0))
	if err != nil {
		return "", err
	}
	defer stranger.close()
	if err := stranger.do(chromedp.Navigate(stranger.origin)); err != nil {
		return "", err
	}
	if err := stranger.await(`document.querySelector("main.door [role=alert]")`); err != nil {
		return "", err
	}
	if err := f.enter(); err != nil {
		return "", err
	}
	if err := f.seeCookieAlone(); err != nil {
		return "", fmt.Errorf("a cookie alone: %w", err)
	}
	if err := f.seeReload(); err != nil {
		return "", fmt.Errorf("a reload: %w", err)
	}
	// The stranger's tab is let in as well, because it is of the same browser and a tab with a session is open.
	return "shut, then let in; a cookie alone opens nothing", stranger.await(`document.querySelector("main h1.sentence")`)
}

// seeCookieAlone has the browser send requests with the session's cookie and without its token.
func (f *face) seeCookieAlone() error {
	const ask = `Promise.all(["/v1/session", "/v1/home", "/v1/events", "/v1/jobs", "/v1/machine"].map(p =>
		fetch(p).then(r => r.text().then(t => r.status === 401 && !/[0-9a-f]{64}/.test(t))))).then(l => l.every(x => x))`
	refused, err := eval[bool](f.tab, ask)
	if err == nil && !refused {
		err = errors.New("a request was answered")
	}
	const hidden = `!location.href.includes("session") && document.cookie === ""`
	if bare, e := eval[bool](f.tab, hidden); e != nil || !bare {
		err = errors.Join(err, e, errors.New("the address or the cookie shows a secret"))
	}
	f.tab.forgive("401")
	return err
}

// seeReload loads the page anew in its tab, which keeps its session.
func (f *face) seeReload() error {
	if err := f.tab.do(chromedp.Reload()); err != nil {
		return err
	}
	return errors.Join(f.tab.await(`document.querySelector("main h1.sentence")`), f.tab.trouble())
}

// enter has the tab at node 0 let in.
func (f *face) enter() (err error) {
	f.tab, err = f.letIn(0)
	return err
}

// letIn opens a tab at a node, as `godwit open` does.
func (f *face) letIn(i int) (*tab, error) {
	door, err := f.swarm.door(f.ctx, i)
	if err != nil {
		return nil, err
	}
	t, err := f.browser.openTab(f.swarm.origin(i))
	if err != nil {
		return nil, err
	}
	if err := t.pass(door); err != nil {
		return nil, err
	}
	return t, t.trouble()
}

// pass goes through the door by a link, and waits for Home.
func (t *tab) pass(door string) error {
	if err := t.do(chromedp.Navigate(door)); err != nil {
		return err
	}
	return t.await(`document.querySelector("main h1.sentence")`)
}

// state waits until node 0 says that it is in a state, and returns why.
func (f *face) state(want string) error {
	return f.tab.await(`document.querySelector("header .link").innerText.trim() === ` + quoted(want))
}

func seePause(f *face) (string, error) {
	if err := f.tab.visit(""); err != nil {
		return "", err
	}
	if err := errors.Join(f.state("available"), f.tab.press("Pause until I resume"), f.state("user-present")); err != nil {
		return "", err
	}
	c := f.swarm.client(0)
	defer c.Close()
	s, err := c.Status(f.ctx)
	if err != nil || s.Rule != "pause" {
		return "", fmt.Errorf("the node says %s by rule %q: %w", s.State, s.Rule, err)
	}
	return "user-present, then available", errors.Join(f.tab.press("Resume"), f.state("available"))
}

// rule is the one that is changed, and changed back.
const rule = "idle_time_to_run"

func seeRule(f *face) (string, error) {
	if err := f.tab.visit("machine"); err != nil {
		return "", err
	}
	before, err := f.swarm.do(f.ctx, 0, "config", "get", rule)
	if err != nil {
		return "", err
	}
	write := func(value string) error {
		if _, err := eval[bool](f.tab, "document.getElementById("+quoted(rule)+").select() || true"); err != nil {
			return err
		}
		return f.tab.do(chromedp.SendKeys(chromedp.CSS("#"+rule), value+kb.Enter))
	}
	if err := errors.Join(write("soon"), f.tab.await(`document.querySelector(".rule .trouble")`)); err != nil {
		return "", fmt.Errorf("a wrong value: %w", err)
	}
	f.tab.forgive("400")
	if err := errors.Join(write("17m"), f.tab.await(`document.querySelector(".rule .preview")`)); err != nil {
		return "", err
	}
	if now, err := f.swarm.do(f.ctx, 0, "config", "get", rule); err != nil || now != before {
		return "", fmt.Errorf("a preview changed the rule from %s to %s: %w", before, now, err)
	}
	if err := errors.Join(f.picture("machine-preview"), f.tab.press("Change the rule"),
		f.tab.await(`!document.querySelector(".rule .preview")`)); err != nil {
		return "", err
	}
	now, err := f.swarm.do(f.ctx, 0, "config", "get", rule)
	if err != nil || now != "17m" {
		return "", fmt.Errorf("the rule is %s after the change: %w", now, err)
	}
	return fmt.Sprintf("from %s to %s", before, now), nil
}

// pool is what is founded on the page.
const pool = "face"

func seeTicket(f *face) (string, error) {
	founder := f.tab
	fill := func(t *tab, form, field, text string) error {
		at := fmt.Sprintf(`form[aria-label=%q] [name=%q]`, form, field)
		return t.do(chromedp.SetValue(chromedp.CSS(at), text))
	}
	own := "document.querySelector(`section.card[aria-label=" + quoted(pool) + "]`)"
	err := founder.visit("pools")
	if err == nil {
		err = errors.Join(fill(founder, "Found a pool", "name", pool), founder.press("Found"), founder.await(own),
			founder.press("Make a ticket"), founder.await(`document.querySelector("textarea[readonly]")`), f.picture("ticket"))
	}
	if err != nil {
		return "", err
	}
	ticket, err := eval[string](founder, `document.querySelector("textarea[readonly]").value`)
	if err != nil {
		return "", err
	}
	if drawn, err := eval[bool](founder, `!!document.querySelector("svg.code path")`); err != nil || !drawn {
		return "", fmt.Errorf("a QR code is drawn: %v: %w", drawn, err)
	}
	guest, err := f.letIn(1)
	if err != nil {
		return "", err
	}
	defer guest.close()
	if err = guest.visit("pools"); err == nil {
		err = errors.Join(fill(guest, "Join a pool", "overlay", ticket), guest.press("Join"), guest.await(own))
	}
	if err == nil {
		err = founder.await(own + `.innerText.includes("2 members")`)
	}
	return fmt.Sprintf("a ticket of %d characters; 2 members", len(ticket)), errors.Join(err, guest.trouble())
}

// A focus is what has the keys.
type focus struct {
	Name   string `json:"name"`
	Marked bool   `json:"marked"` // a reader sees that
}

// seeKeyboard goes through Home by the tab key alone, and pauses and resumes by it.
func seeKeyboard(f *face) (string, error) {
	if err := errors.Join(f.tab.do(chromedp.Navigate("about:blank")), f.tab.visit("")); err != nil {
		return "", err
	}
	f.tab.trouble() // the blank page is elsewhere
	total, err := eval[int](f.tab, `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, `+
		`[tabindex="0"]')].filter(e => !e.disabled && e.checkVisibility()).length`)
	if err != nil {
		return "", err
	}
	var names []string
	for range total {
		if err := f.tab.do(chromedp.KeyEvent(kb.Tab)); err != nil {
			return "", err
		}
		at, err := eval[focus](f.tab, `(e => ({name: e.getAttribute('aria-label') || e.innerText.trim(), `+
			`marked: getComputedStyle(e).outlineStyle !== 'none'}))(document.activeElement)`)
		if err != nil {
			return "", err
		}
		if !at.Marked {
			return "", fmt.Errorf("%q has the focus, and nothing marks it", at.Name)
		}
		names = append(names, at.Name)
		if strings.HasPrefix(at.Name, "Pause until") {
			if err := errors.Join(f.tab.do(chromedp.KeyEvent(kb.Enter)), f.state("user-present")); err != nil {
				return "", err
			}
			if err := errors.Join(f.tab.press("Resume"), f.state("available")); err != nil {
				return "", err
			}
			return fmt.Sprintf("paused after %d tabs, from %q on", len(names), names[0]), nil
		}
	}
	return "", fmt.Errorf("no tab of %d came to the pause: %s", total, strings.Join(names, ", "))
}

func seeTabs(f *face) (string, error) {
	if err := f.tab.visit(""); err != nil {
		return "", err
	}
	before := f.tab.requests("/v1/events")
	var more []*tab
	for range 2 {
		t, err := f.letIn(0)
		if err != nil {
			return "", err
		}
		defer t.close()
		more = append(more, t)
	}
	begun := f.tab.requests("/v1/events") - before
	for _, t := range more {
		begun += t.requests("/v1/events")
	}
	var err error
	if begun > 0 {
		err = fmt.Errorf("%d more tabs began %d more streams", len(more), begun)
	}
	c := f.swarm.client(0)
	defer c.Close()
	if _, err := c.Pause(f.ctx, 0); err != nil {
		return "", err
	}
	for _, t := range append(more, f.tab) {
		err = errors.Join(err, t.await(`document.querySelector("header .link").innerText.trim() === "user-present"`))
	}
	_, resumed := c.Resume(f.ctx)
	return "1 stream, 3 tabs heard of a pause", errors.Join(err, resumed)
}
