// Package logging makes the program's log: as text or JSON, with a level for each area of the program.
package logging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// AreaKey is the attribute by which a line says of which area it is.
const AreaKey = "area"

// The areas. What is of none has the level that is given without an area.
const (
	API       = "api"       // who asks this node
	Node      = "node"      // the node as a whole, its disk and its owner's rules
	Overlay   = "overlay"   // members, elections, leases of leaders
	P2P       = "p2p"       // connections, relays, gossip
	Sandbox   = "sandbox"   // the processes that run tasks, and what ends in them
	Scheduler = "scheduler" // what is decided of each task
)

// Areas lists them.
func Areas() []string { return []string{API, Node, Overlay, P2P, Sandbox, Scheduler} }

// Formats lists how lines may be written.
func Formats() []string { return []string{"text", "json"} }

// In returns a logger of an area.
func In(log *slog.Logger, area string) *slog.Logger { return log.With(AreaKey, area) }

// Levels say from which level on lines are written.
type Levels struct {
	Usual slog.Level
	Of    map[string]slog.Level // of areas; others have Usual
}

// ParseLevels reads a list such as info,p2p=debug: a level, AREA=LEVEL, or several, separated by commas.
func ParseLevels(text string) (Levels, error) {
	l := Levels{Of: map[string]slog.Level{}}
	usual := false
	for part := range strings.SplitSeq(text, ",") {
		area, name, of := strings.Cut(strings.TrimSpace(part), "=")
		if !of {
			name = area
		}
		var level slog.Level
		if !slices.Contains([]string{"debug", "info", "warn", "error"}, strings.ToLower(name)) {
			return l, fmt.Errorf("%q is no level: use debug, info, warn or error", name)
		}
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return l, fmt.Errorf("reading a level: %w", err)
		}
		_, twice := l.Of[area]
		switch {
		case !of && usual:
			return l, errors.New("two levels without an area")
		case !of:
			l.Usual, usual = level, true
		case !slices.Contains(Areas(), area):
			return l, fmt.Errorf("%q is no area: they are %s", area, strings.Join(Areas(), ", "))
		case twice:
			return l, fmt.Errorf("two levels of the area %s", area)
		default:
			l.Of[area] = level
		}
	}
	return l, nil
}

// New returns a logger that writes lines to w, in one of Formats.
func New(w io.Writer, format string, levels Levels) (*slog.Logger, error) {
	least := levels.Usual
	for level := range maps.Values(levels.Of) {
		least = min(least, level)
	}
	options := &slog.HandlerOptions{Level: least}
	var h slog.Handler
	switch format {
	case "text":
		h = slog.NewTextHandler(w, options)
	case "json":
		h = slog.NewJSONHandler(w, options)
	default:
		return nil, fmt.Errorf("%q is no format: use %s", format, strings.Join(Formats(), " or "))
	}
	return slog.New(&handler{Handler: h, levels: levels, from: levels.Usual}), nil
}

// A handler passes on the lines that are from its area's level on. The area that was said last is the line's.
type handler struct {
	slog.Handler
	levels  Levels
	area    string // "" for none
	from    slog.Level
	grouped bool // attributes are in a group: none of them is the area
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.from }

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if h.area != "" && !h.grouped {
		r = r.Clone()
		r.AddAttrs(slog.String(AreaKey, h.area))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	of := *h
	var rest []slog.Attr
	for _, a := range attrs {
		if a.Key != AreaKey || h.grouped {
			rest = append(rest, a)
			continue
		}
		of.area, of.from = a.Value.String(), h.levels.Usual
		if level, own := h.levels.Of[of.area]; own {
			of.from = level
		}
	}
	of.Handler = h.Handler.WithAttrs(rest)
	return &of
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	of := *h
	of.Handler, of.grouped = h.Handler.WithGroup(name), true
	return &of
}
