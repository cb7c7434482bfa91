package hostile

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"godwit/internal/pause"
)

// roads are about the ways between peers.
func roads() []attack {
	return []attack{
		{id: "S22", play: playTraps, before: "any address of a signed advert was dialled, as often as it was told: " +
			"scans and " +
			"floods by proxy"},
		{id: "S24", play: playRelay, before: "every node relayed for strangers of the open pool: 4 MiB/s, 345 GB a day"},
	}
}

// A trap counts how often some processes connect. Others are not minded: the strangers dial what
// they hear of each other, too.
type trap struct {
	net.Listener
	came atomic.Int64
}

func setTrap(of []Node) (*trap, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &trap{Listener: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			for _, n := range of {
				if dialledBy(n.PID(), c.RemoteAddr().(*net.TCPAddr).Port) {
					t.came.Add(1)
				}
			}
			c.Close()
		}
	}()
	return t, nil
}

// playTraps has members go who said that they are at addresses of somebody else.
func playTraps(ctx context.Context, f *field, row *Row) error {
	const traps = 8
	var addrs []string
	var set []*trap
	for range traps {
		t, err := setTrap(f.nodes)
		if err != nil {
			return err
		}
		defer t.Close()
		set, addrs = append(set, t), append(addrs, fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", t.Addr().(*net.TCPAddr).Port))
	}
	gone := max(4, min(f.Times/4, f.Strangers))
	for range gone {
		s, err := f.prepare(fellow)
		if err != nil {
			return err
		}
		s.offer.Addrs = addrs
		err = s.begin(ctx)
		s.end()
		if err != nil {
			return err
		}
	}
	if err := pause.For(ctx, 10*time.Second); err != nil {
		return err
	}
	came := int64(0)
	for _, t := range set {
		came += t.came.Load()
	}
	row.tried(gone*traps, "addresses of others in adverts of %d members that go", gone)
	row.now("%d connections were made there", came)
	if most := int64(gone * traps * len(f.nodes)); came > most {
		row.broke("%d connections were made to others for %d addresses, at most one of each node", came, gone*traps)
	}
	return f.hunted(ctx, row, openName, 2, "", func(*prey) error { return nil })
}

// dialledBy reports whether a process has the socket that a port of this machine belongs to.
func dialledBy(pid, port int) bool {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return false
	}
	const local, inode = 1, 9 // proc_pid_net(5): fields of a line
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) <= inode || !strings.HasSuffix(fields[local], fmt.Sprintf(":%04X", port)) {
			continue
		}
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, l := range links {
			if to, err := os.Readlink(l); err == nil && to == "socket:["+fields[inode]+"]" {
				return true
			}
		}
	}
	return false
}
