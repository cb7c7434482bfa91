package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/screen"
	"godwit/lab/table"
	"godwit/node"
)

// watchEvery is how often `godwit status --watch` looks unless told otherwise, and leastWatch how often at most: the
// node measures its memory for it.
const (
	watchEvery = 2 * time.Second
	leastWatch = 100 * time.Millisecond
)

// plainEvery is how often a line is written where nothing changes and there is no terminal.
const plainEvery = time.Minute

// A statusWatch shows a node's status until its reader has seen enough.
type statusWatch struct {
	client *api.Client
	out    io.Writer // a terminal, or what has lines
	json   bool
	every  time.Duration
	draw   bool // out is a terminal
	screen screen.Screen

	last string    // line that was written
	at   time.Time // when
	seen bool      // the node has answered
}

func (w *statusWatch) run(ctx context.Context) error {
	if w.every < leastWatch {
		return failure.Usage("for example --every 2s", "--every: %v is too often, the least is %v", w.every, leastWatch)
	}
	w.screen.Out = w.out
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		s, err := w.client.Status(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // the watcher has seen enough
		case err != nil && !(w.seen && errors.Is(err, api.ErrNoNode)):
			return err
		}
		if err := w.show(s, err, time.Now()); err != nil {
			return err
		}
		w.seen = true
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// show shows a status, or that the node is gone for now.
func (w *statusWatch) show(s node.Status, gone error, now time.Time) error {
	switch {
	case w.json && gone != nil:
		return nil
	case w.json:
		return table.JSON(w.out, s)
	case w.draw:
		return w.screen.Show(w.text(s, gone, now))
	}
	line := "no node runs here now"
	if gone == nil {
		line = statusLine(s)
	}
	if line == w.last && now.Sub(w.at) < plainEvery {
		return nil
	}
	w.last, w.at = line, now
	_, err := fmt.Fprintln(w.out, now.Format(time.TimeOnly), printable(line))
	return err
}

// text is what stands on a terminal.
func (w *statusWatch) text(s node.Status, gone error, now time.Time) string {
	shown := "no node runs here now\n"
	if gone == nil {
		shown = statusText(s, screen.Painter(screen.Coloured(w.out)))
	}
	return shown + fmt.Sprintf("\nat %s; Ctrl-C ends this\n", now.Format(time.TimeOnly))
}

// printable is a text as it may be shown, whoever wrote parts of it.
func printable(text string) string {
	var b strings.Builder
	if _, err := io.WriteString(table.Printable(&b), text); err != nil {
		return ""
	}
	return b.String()
}

// statusLine is a node's status in one line without what changes all the time.
func statusLine(s node.Status) string {
	line := fmt.Sprintf("%s: %s; %d of %d slots run tasks, %s", s.State, s.Reason, s.Tasks, s.Slots,
		counted(s.Peers, "peer"))
	for _, o := range s.Overlays {
		line += fmt.Sprintf("; %s: %s, %s", o.Name, counted(o.Members, "member"), o.Role)
	}
	for _, n := range s.Notices {
		line += "; notice: " + n
	}
	return line
}
