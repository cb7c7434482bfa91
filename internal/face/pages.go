package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

// A sight is a page to look at.
type sight struct{ name, hash string }

// sights are all pages; that of a job is there once there is one.
func (f *face) sights() []sight {
	out := []sight{{"home", ""}, {"machine", "machine"}, {"jobs", "jobs"}, {"swarm", "swarm"}, {"pools", "pools"},
		{"researcher", "researcher"}}
	if f.job != "" {
		out = append(out, sight{"job", "jobs/" + f.job})
	}
	return out
}

//go:embed audit.js
var audit string

// audit returns what a reader of the page in sight may fall over.
func (t *tab) audit() ([]string, error) { return eval[[]string](t, audit) }

// each visits every page under each of some conditions, which ready sets up, and collects what look finds.
func (f *face) each(conditions []string, ready func(string) error,
	look func(s sight, condition string) ([]string, error)) (int, error) {
	var errs []error
	n := 0
	for _, c := range conditions {
		if err := ready(c); err != nil {
			return n, err
		}
		for _, s := range f.sights() {
			n++
			if err := f.tab.visit(s.hash); err != nil {
				errs = append(errs, err)
				continue
			}
			found, err := look(s, c)
			if len(found) > 0 {
				err = errors.Join(err, errors.New(strings.Join(found, "; ")))
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", s.name, c, err))
			}
		}
	}
	return n, errors.Join(errs...)
}

func only(found []string, prefixes ...string) (out []string) {
	for _, f := range found {
		for _, p := range prefixes {
			if strings.Contains(f, p) {
				out = append(out, f)
			}
		}
	}
	return out
}

func seePages(f *face) (string, error) {
	n, err := f.each([]string{"as it is"}, func(string) error { return nil }, func(sight, string) ([]string, error) {
		if err := f.tab.trouble(); err != nil {
			return []string{err.Error()}, nil
		}
		return nil, nil
	})
	return fmt.Sprintf("%d pages", n), err
}

// What audit.js says of widths and contrast, which have checks of their own.
const (
	beyond   = "beyond the right edge"
	contrast = "contrast "
)

func seeReaders(f *face) (string, error) {
	n, err := f.each([]string{"opened up"}, func(string) error { return nil }, func(sight, string) ([]string, error) {
		if _, err := eval[int](f.tab, `document.querySelectorAll("details").forEach(d => d.open = true) || 0`); err != nil {
			return nil, err
		}
		found, err := f.tab.audit()
		var rest []string
		for _, x := range found {
			if !strings.Contains(x, beyond) && !strings.HasPrefix(x, contrast) {
				rest = append(rest, x)
			}
		}
		return rest, err
	})
	return fmt.Sprintf("%d pages", n), err
}

func seeWidths(f *face) (string, error) {
	sizes := map[string]width{"360": narrow, "1440": wide}
	n, err := f.each([]string{"360", "1440"}, func(c string) error { return f.tab.size(sizes[c]) },
		func(s sight, c string) ([]string, error) {
			found, err := f.tab.audit()
			return only(found, beyond), errors.Join(err, f.picture(s.name+"-"+c))
		})
	return fmt.Sprintf("%d views", n), errors.Join(err, f.tab.size(wide))
}

func seeThemes(f *face) (string, error) {
	n, err := f.each([]string{"dark", "light"}, f.tab.theme, func(s sight, c string) ([]string, error) {
		found, err := f.tab.audit()
		return only(found, contrast), errors.Join(err, f.picture(s.name+"-"+c))
	})
	return fmt.Sprintf("%d views", n), err
}

// settled is a promise that holds once what was asked for is drawn.
const settled = `new Promise(done => setTimeout(() => requestAnimationFrame(() => done(0)), 300))`

// bestQuality is that of a picture as PNG.
const bestQuality = 100

// picture writes what the tab shows, where pictures are wanted.
func (f *face) picture(name string) error {
	if f.pictures == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(f.tab.ctx, patience)
	defer cancel()
	if _, err := eval[int](f.tab, settled); err != nil {
		return err
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(bestQuality))
	if err == nil {
		err = os.MkdirAll(f.pictures, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(f.pictures, name+".png"), png, 0o644)
	}
	if err != nil {
		return fmt.Errorf("making a picture: %w", err)
	}
	return nil
}
