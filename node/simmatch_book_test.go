package node

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"godwit/task"
)

// A matchBook is what live nodes do, in the order in which they do it.
type matchBook struct {
	mu    sync.Mutex
	notes []happening
}

func (b *matchBook) add(h happening) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, h)
}

// A matchLog is a node's log, of which the book keeps the decisions.
type matchLog struct {
	book *matchBook
	host int
}

func (matchLog) Enabled(context.Context, slog.Level) bool { return true }
func (l matchLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l matchLog) WithGroup(string) slog.Handler          { return l }

// Handle implements slog.Handler, on the node's loop.
func (l matchLog) Handle(_ context.Context, r slog.Record) error {
	var id, reason, cell string
	var peer task.PeerID
	var epoch uint64
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "task":
			id = a.Value.String()
		case "peer":
			peer, _ = a.Value.Any().(task.PeerID)
		case "reason":
			reason = a.Value.String()
		case "epoch":
			epoch = a.Value.Uint64()
		case "cell":
			cell = a.Value.String()
		}
		return true
	})
	action, decides := strings.CutPrefix(r.Message, "task ")
	switch {
	case slices.Contains(matchLeftOut, action):
	case decides && id != "":
		l.book.add(happening{time.Now(), l.host, decision(id, action, peer, reason)})
	case r.Message == "leading the overlay", r.Message == "leading a later term":
		l.book.add(happening{time.Now(), l.host, leads(epoch)})
	case r.Message == matchCell:
		l.book.add(happening{time.Now(), l.host, entered(cell)})
	case r.Message == "leading no longer":
		l.book.add(happening{time.Now(), l.host, leads(0)})
	}
	return nil
}
