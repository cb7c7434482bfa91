package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

// Where the page has the rules of a pool that are about to change.
const (
	rulesForm    = `form[aria-label^="Rules of"]`
	rulesPreview = rulesForm + ` + .preview`
)

// seeFounder changes the rules of the pool that seeTicket founded, and looks at them from a node that does not own it.
func seeFounder(f *face) (string, error) {
	c := f.swarm.client(0)
	defer c.Close()
	before, err := c.Overlay(f.ctx, pool)
	if err != nil {
		return "", err
	}
	if err := f.tab.visit("pools"); err != nil {
		return "", err
	}
	if err := errors.Join(f.tab.press("Change the rules of "+pool), f.place("best"), f.unchanged(before.Version),
		f.tab.press("Change the rules"), f.tab.await(`document.querySelector(`+quoted(rulesPreview+` .trouble`)+`)`),
		f.unchanged(before.Version)); err != nil {
		return "", fmt.Errorf("a placement that is none: %w", err)
	}
	f.tab.forgive("400")
	want := before.Rules
	want.Replicas = 2 // by another program, while the page has the change in preview
	if err := errors.Join(f.place("flp"), f.readable(), f.picture("pool-preview")); err != nil {
		return "", err
	}
	if _, err := c.ChangeOverlay(f.ctx, pool, want); err != nil {
		return "", err
	}
	if err := errors.Join(f.tab.press("Change the rules"),
		f.tab.await(`!document.querySelector(`+quoted(rulesForm)+`)`)); err != nil {
		return "", err
	}
	now, err := c.Overlay(f.ctx, pool)
	want.Placement = "flp"
	if got := now.Rules; err != nil || now.Version != before.Version+2 || fmt.Sprint(got) != fmt.Sprint(want) {
		return "", fmt.Errorf("version %d of the rules is %+v, want %+v: %w", now.Version, got, want, err)
	}
	return fmt.Sprintf("placement is %s, in version %d", now.Rules.Placement, now.Version), f.seeGuest()
}

// place writes a placement policy into the rules, and asks for the preview.
func (f *face) place(policy string) error {
	field := rulesForm + ` [name=placement]`
	if err := f.tab.await(`document.querySelector(` + quoted(field) + `)`); err != nil {
		return err
	}
	if _, err := eval[bool](f.tab, `document.querySelector(`+quoted(field)+`).select() || true`); err != nil {
		return err
	}
	return errors.Join(f.tab.do(chromedp.SendKeys(chromedp.CSS(field), policy)), f.tab.press("Preview"),
		f.tab.await(`document.querySelector(`+quoted(rulesPreview)+`)?.innerText.includes(`+quoted(policy)+`)`))
}

// seeGuest looks at the pool from a member that did not found it: it sees the new rules, and may not change them.
func (f *face) seeGuest() error {
	guest, err := f.letIn(1)
	if err != nil {
		return err
	}
	defer guest.close()
	card := `document.querySelector(` + quoted(`section.card[aria-label="`+pool+`"]`) + `)`
	if err := errors.Join(guest.visit("pools"), guest.await(card+`?.innerText.includes("flp")`)); err != nil {
		return err
	}
	owns, err := eval[bool](guest, `[...document.querySelectorAll("button")].some(b => `+
		`(b.getAttribute("aria-label") || "").startsWith("Change the rules of"))`)
	if err != nil || owns {
		return fmt.Errorf("a member that founded no pool may change one: %v: %w", owns, err)
	}
	return guest.trouble()
}

// readable holds what the page shows now to what each page is held to, in both widths.
func (f *face) readable() error {
	var errs []error
	for _, w := range []width{narrow, wide} {
		errs = append(errs, f.tab.size(w))
		found, err := f.tab.audit()
		if len(found) > 0 {
			err = errors.Join(err, errors.New(strings.Join(found, "; ")))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// unchanged holds the pool to the version that it had.
func (f *face) unchanged(version uint64) error {
	c := f.swarm.client(0)
	defer c.Close()
	now, err := c.Overlay(f.ctx, pool)
	if err != nil || now.Version != version {
		return fmt.Errorf("a preview made version %d of %d: %w", now.Version, version, err)
	}
	return nil
}
