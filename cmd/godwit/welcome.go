package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"godwit/lab/screen"
	"godwit/lab/table"
	"godwit/lab/testbed"
	"godwit/node"
	"godwit/owner"
	"godwit/task"
)

// firstStart reports whether no node has run in a data directory yet.
func firstStart(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, node.KeyName))
	return os.IsNotExist(err)
}

// welcome says in five lines what will happen, to an owner whose node starts for the first time.
func welcome(overlays []string, rules *owner.Rules, m owner.Machine) string {
	pool := node.DefaultOverlay + ", a pool that anybody may join"
	if len(overlays) > 0 {
		pool = strings.Join(overlays, ", ")
	}
	text := func(key string) string {
		v, err := rules.Get(key)
		if err != nil {
			panic(err) // the rules have both
		}
		return v
	}
	when := "It works when nobody has used the machine for " + text("idle_time_to_run")
	if rules.RunIfUserActive {
		when = "It works also while somebody uses the machine"
	}
	return strings.Join([]string{
		"This machine now lends its idle time to " + pool + ".",
		when + ".",
		fmt.Sprintf("It lends at most %s, %s of memory and %s of disk: `godwit config get`.",
			counted(int(rules.MaxCores.Of(int64(m.Cores))), "core"), task.FormatSize(rules.MaxMemory.Of(m.Memory)),
			text("max_disk")),
		"Programs of others run in a sandbox, without network and without your files.",
		"`godwit status` says what it does and why; `godwit pause` or Ctrl-C stops it.",
	}, "\n") + "\n"
}

// readyText says to a person that a node is there; scripts read a line of its own.
func readyText(r testbed.Ready, p screen.Painter) string {
	return fmt.Sprintf("%s: %s, at %s; its API is at %s\n", p.Paint(screen.Good, "ready"), table.ShortPeer(r.PeerID),
		addressesText(len(r.Addrs)), r.API)
}

func addressesText(n int) string {
	if n == 1 {
		return "1 address"
	}
	return fmt.Sprintf("%d addresses", n)
}
