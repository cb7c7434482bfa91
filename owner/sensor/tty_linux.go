package sensor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// TTYs looks when terminals were last read from: the consoles, and the
// pseudo-terminals of ssh and terminal windows. The kernel sets a terminal's
// access time on input, at most every eight seconds, so that the first key
// after a pause is seen at once and the rest soon enough.
type TTYs struct {
	Dev string // root of devices; "" for /dev
}

// Name returns "ttys".
func (TTYs) Name() string { return "ttys" }

// Kinds returns Input.
func (TTYs) Kinds() []Kind { return []Kind{Input} }

// Run watches until ctx ends.
func (t TTYs) Run(ctx context.Context, report func(Reading)) {
	var last touch
	watch(ctx, t, report, func(ctx context.Context) error {
		return poll(ctx, inputPoll, func() error {
			at, name, n := t.newest()
			if n < 0 {
				return blind("there are no terminals in "+orRoot(t.Dev, "/dev"), "")
			}
			if last.news(at) {
				detail := fmt.Sprintf("%d terminals", n)
				if name != "" {
					detail = name
				}
				report(Reading{Sensor: t.Name(), Kind: Input, At: time.Now(), Touched: at, Partial: true, Detail: detail})
			}
			return nil
		})
	})
}

// newest returns when a terminal was last read from and which, and how many
// there are; -1 where there is not even a place for them.
func (t TTYs) newest() (at time.Time, name string, n int) {
	dev := orRoot(t.Dev, "/dev")
	if _, err := os.Stat(filepath.Join(dev, "pts")); err != nil {
		n = -1
	}
	for _, pattern := range []string{"tty[0-9]*", "pts/[0-9]*"} {
		names, _ := filepath.Glob(filepath.Join(dev, pattern))
		for _, path := range names {
			info, err := os.Stat(path)
			if err != nil {
				continue // closed since
			}
			n = max(n, 0) + 1
			st, ok := info.Sys().(*syscall.Stat_t)
			if !ok {
				continue
			}
			if used := time.Unix(st.Atim.Unix()); used.After(at) {
				at, name = used, path
			}
		}
	}
	return at, name, n
}
