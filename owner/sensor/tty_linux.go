package sensor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// TTYs looks when terminals were last read from: the consoles, and the
// pseudo-terminals of ssh and terminal windows. The kernel sets a terminal's
// access time on input, at most every eight seconds, so that the first key
// after a pause is seen at once and the rest soon enough.
type TTYs struct {
	Dev string // root of devices; "" for /dev
	Sys string // root of sysfs; "" for /sys
}

// listEvery is how many looks come between two lists of the terminals that there are. Who opens
// one has touched another before.
const listEvery = 8

// Name returns "ttys".
func (TTYs) Name() string { return "ttys" }

// Kinds returns Input.
func (TTYs) Kinds() []Kind { return []Kind{Input} }

// Run watches until ctx ends.
func (t TTYs) Run(ctx context.Context, report func(Reading)) {
	var last touch
	watch(ctx, t, report, func(ctx context.Context) error {
		v := ttyWatch{t: t}
		return Poll(ctx, inputPoll, func() error {
			at, name, n := v.newest()
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

// A ttyWatch remembers which terminals are worth a look each time: a machine has 64 consoles, of
// which keys reach one.
type ttyWatch struct {
	t     TTYs
	looks int
	often []string // pseudo-terminals; or all, where it is not known which console is shown
	n     int      // terminals; -1 where there is not even a place for them

	at   time.Time // when one was last read from
	name string    // which
}

// newest returns when a terminal was last read from and which, and how many
// there are; -1 where there is not even a place for them.
func (v *ttyWatch) newest() (at time.Time, name string, n int) {
	dev := orRoot(v.t.Dev, "/dev")
	all := v.looks%listEvery == 0
	v.looks++
	if all {
		v.list(dev)
		return v.at, v.name, v.n
	}
	for _, path := range v.often {
		v.look(path)
	}
	if shown := v.shown(dev); shown != "" {
		v.look(shown)
	}
	return v.at, v.name, v.n
}

// list looks at all terminals.
func (v *ttyWatch) list(dev string) {
	v.n, v.often = 0, v.often[:0]
	told := v.shown(dev) != ""
	if _, err := os.Stat(filepath.Join(dev, "pts")); err != nil {
		v.n = -1
	}
	for _, pattern := range []string{"tty[0-9]*", "pts/[0-9]*"} {
		names, _ := filepath.Glob(filepath.Join(dev, pattern))
		for _, path := range names {
			if !v.look(path) {
				continue // closed since
			}
			v.n = max(v.n, 0) + 1
			if !told || pattern[0] == 'p' {
				v.often = append(v.often, path)
			}
		}
	}
}

// shown is the console that keys reach; "" where the kernel does not tell.
func (v *ttyWatch) shown(dev string) string {
	b, err := os.ReadFile(filepath.Join(orRoot(v.t.Sys, "/sys"), "class", "tty", "tty0", "active"))
	if name := strings.TrimSpace(string(b)); err == nil && name != "" {
		return filepath.Join(dev, filepath.Base(name))
	}
	return ""
}

// look takes in when a terminal was last read from. It reports false for one that is not there.
func (v *ttyWatch) look(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if used := time.Unix(st.Atim.Unix()); used.After(v.at) {
			v.at, v.name = used, path
		}
	}
	return true
}
