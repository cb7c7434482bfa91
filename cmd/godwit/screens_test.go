package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/lab/progress"
	"godwit/lab/screen"
	"godwit/lab/testbed"
	"godwit/node"
	"godwit/overlay"
	"godwit/owner"
	"godwit/scheduler/message"
)

// golden holds what is shown to a file of testdata/screens; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s shows\n%s\nwant\n%s", name, got, want)
	}
}

// eachScreen calls show for terminals of two widths, with colours and without.
func eachScreen(t *testing.T, verb string, show func(p screen.Painter, columns int) string) {
	for _, columns := range []int{80, 120} {
		for _, p := range []screen.Painter{false, true} {
			name := fmt.Sprintf("%s-%d", verb, columns)
			if p {
				name += "-colour"
			}
			t.Setenv("COLUMNS", fmt.Sprint(columns))
			got := show(p, columns)
			golden(t, name, got)
			if !p {
				fits(t, name, got, columns)
			}
		}
	}
}

// fits checks that no line of what is drawn is wider than the terminal.
func fits(t *testing.T, name, text string, columns int) {
	t.Helper()
	for line := range strings.Lines(text) {
		for piece := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\r\x1b[K") {
			if cut := screen.Cut(piece, columns); cut != piece {
				t.Errorf("%s: %q is wider than %d columns", name, piece, columns)
			}
		}
	}
}

const somePeer = "12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"

// The first start says in five lines what will happen, and then that the node is there.
func TestFirstScreenOfUp(t *testing.T) {
	usual, all := owner.Default(), owner.Everything()
	m := owner.Machine{Cores: 8, Memory: 16 << 30}
	r := testbed.Ready{PeerID: somePeer, Addrs: make([]string, 6), API: "127.0.0.1:7733"}
	eachScreen(t, "up", func(p screen.Painter, _ int) string {
		text := welcome(nil, &usual, m)
		if lines := strings.Count(text, "\n"); lines != 5 {
			t.Errorf("%d lines", lines)
		}
		return text + readyText(r, p)
	})
	if text := welcome([]string{"lab"}, &all, m); !strings.Contains(text, "to lab.\n") ||
		!strings.Contains(text, "while somebody uses the machine") {
		t.Errorf("of a machine that lends everything to a lab: %s", text)
	}
}

func someStatus() node.Status {
	return node.Status{PeerID: somePeer, Version: "v1.0.0", State: overlay.Available, Reason: "no rule stops it",
		Since: time.Now().Add(-90 * time.Minute), Tasks: 2, Slots: 4, Peers: 11,
		Notices: []string{"the disk has no room for 1GiB more: content takes 9GiB of the 10GiB that its owner lends"},
		Overlays: []node.OverlayStatus{
			{Name: "commons", Role: node.RoleMember, Members: 12, Leader: somePeer, Epoch: 3, Term: 1},
			{Name: "lab", Role: node.RoleCoordinator, Members: 1}},
		Given:    node.GivenToday{Tasks: 14, CPU: 192 * time.Minute, For: []string{"fit", "render"}},
		RSSBytes: 64 << 20, RxBytes: 3 << 30, TxBytes: 1 << 20,
		Addrs: []string{"/ip4/192.0.2.1/udp/24001/quic-v1/p2p/" + somePeer}}
}

// What status --watch draws fits the terminal; colours are few.
func TestScreenOfStatus(t *testing.T) {
	eachScreen(t, "status", func(p screen.Painter, columns int) (shown string) {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			s := screen.Screen{Out: &b}
			if err := s.Show(statusText(someStatus(), p)); err != nil {
				t.Fatal(err)
			}
			shown = b.String()
		})
		return shown
	})
	paused := someStatus()
	paused.State = overlay.UserPresent
	if text := statusText(paused, true); !strings.Contains(text, string(screen.Notice)+"user-present") {
		t.Errorf("of a machine in use: %q", text)
	}
	hostile := someStatus()
	hostile.Overlays[0].Name = "a\x1b[2Jb"
	if text := statusText(hostile, false); strings.Contains(text, "\x1b") {
		t.Errorf("what others wrote plays with the terminal: %q", text)
	}
}

// The bar of run fits the terminal, however much there is to say.
func TestScreenOfRun(t *testing.T) {
	eachScreen(t, "run", func(p screen.Painter, _ int) (shown string) {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			bar := progress.New(&b, false)
			bar.Terminal, bar.Painter = true, p
			show := func(done, failed, total int) {
				time.Sleep(time.Minute)
				st := progress.Runs(done, total, 10)
				st.Tasks.Failed = uint64(failed)
				bar.Show(st)
				fmt.Fprintln(&b)
			}
			show(0, 0, 200)
			bar.End = func() string { return "end not known yet" }
			show(0, 0, 200)
			bar.End = func() string { return "" } // nobody can say: it goes by the rate
			show(5, 0, 200)
			bar.End = func() string { return "about 17m38s to go (16m0s to 23h0m0s)" }
			show(90, 7, 200)
			st := message.JobStatus{Final: true}
			st.Tasks.Total, st.Tasks.Done = 200, 200
			bar.Show(st)
			bar.Done()
			shown = b.String()
		})
		return shown
	})
}
