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

// namesEvery is how many lists of terminals come between two readings of the directory of devices, which has hundreds:
// consoles are there from the start.
const namesEvery = 8

// A ttyWatch remembers which terminals are worth a look each time: a machine has 64 consoles, of
// which keys reach one.
type ttyWatch struct {
	t        TTYs
	looks    int
	consoles []string
	often    []string // pseudo-terminals; or all, where it is not known which console is shown
	n        int      // terminals; -1 where there is not even a place for them
	active   string   // what the kernel said last of the console that is shown
	front    string   // the path of that

	at   time.Time // when one was last read from
	name string    // which
}

// newest returns when a terminal was last read from and which, and how many
// there are; -1 where there is not even a place for them.
func (v *ttyWatch) newest() (at time.Time, name string, n int) {
	all := v.looks%listEvery == 0
	if all {
		v.list(v.looks%(listEvery*namesEvery) == 0)
	}
	v.looks++
	if all {
		return v.at, v.name, v.n
	}
	for _, path := range v.often {
		v.look(path)
	}
	if shown := v.shown(); shown != "" {
		v.look(shown)
	}
	return v.at, v.name, v.n
}

// list looks at all terminals; anew says that there may be other consoles than before.
func (v *ttyWatch) list(anew bool) {
	dev := orRoot(v.t.Dev, "/dev")
	if anew {
		v.consoles, _ = filepath.Glob(filepath.Join(dev, "tty[0-9]*"))
	}
	v.n, v.often = 0, v.often[:0]
	told := v.shown() != ""
	pts := filepath.Join(dev, "pts")
	if _, err := os.Stat(pts); err != nil {
		v.n = -1
	}
	for _, path := range v.consoles {
		v.found(path, !told)
	}
	pseudo, _ := filepath.Glob(filepath.Join(pts, "[0-9]*"))
	for _, path := range pseudo {
		v.found(path, true)
	}
}

// found looks at a terminal and counts it, unless it was closed since. often says that it is worth a look each time.
func (v *ttyWatch) found(path string, often bool) {
	if !v.look(path) {
		return
	}
	if v.n = max(v.n, 0) + 1; often {
		v.often = append(v.often, path)
	}
}

// shown is the console that keys reach; "" where the kernel does not tell. It is asked four times a second, hence
// without the buffers and the poller of package os.
func (v *ttyWatch) shown() string {
	fd, err := syscall.Open(filepath.Join(orRoot(v.t.Sys, "/sys"), "class", "tty", "tty0", "active"),
		syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = syscall.Close(fd) }()
	var b [64]byte // a name such as tty63
	n, err := syscall.Read(fd, b[:])
	if err != nil || n <= 0 {
		return ""
	}
	if said := strings.TrimSpace(string(b[:n])); said != v.active {
		v.active, v.front = said, ""
		if said != "" {
			v.front = filepath.Join(orRoot(v.t.Dev, "/dev"), filepath.Base(said))
		}
	}
	return v.front
}

// look takes in when a terminal was last read from. It reports false for one that is not there.
func (v *ttyWatch) look(path string) bool {
	var st syscall.Stat_t
	if syscall.Stat(path, &st) != nil {
		return false
	}
	if used := time.Unix(st.Atim.Unix()); used.After(v.at) {
		v.at, v.name = used, path
	}
	return true
}
