package progress

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPlainLines: without a terminal a line comes when one is due, and at the end.
func TestPlainLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := New(&b, false)
		for done := range 12 { // one a second
			time.Sleep(time.Second)
			p.Show(Runs(done, 12, 3))
		}
		last := Runs(12, 12, 3)
		last.Final, last.Tasks.Failed = true, 2
		p.Show(last)
		p.Note("%d files", 3)
		want := "0 of 12 done, 3 running, 1s\n" +
			"5 of 12 done, 3 running, 6s, about 8s to go\n" +
			"10 of 12 done, 2 running, 11s, about 2s to go\n" +
			"12 of 12 done, 0 running, 2 failed, 12s\n" +
			"3 files\n"
		if b.String() != want {
			t.Errorf("got\n%s\nwant\n%s", b.String(), want)
		}
	})
}

// TestBar: on a terminal one line is drawn again and again, and ended before anything else.
func TestBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := New(&b, false)
		p.Terminal = true
		time.Sleep(2 * time.Second)
		p.Show(Runs(0, 0, 1))
		p.Show(Runs(15, 30, 3))
		p.Note("paused")
		p.Note("goes on")
		p.Show(Runs(30, 30, 3))
		p.Done()
		p.Done()
		want := eraseLine + "[" + strings.Repeat(" ", barWidth) + "] 0 of 0 done, 0 running, 2s" +
			eraseLine + "[===============               ] 15 of 30 done, 3 running, 2s, about 2s to go\npaused\ngoes on\n" +
			eraseLine + "[" + strings.Repeat("=", barWidth) + "] 30 of 30 done, 0 running, 2s\n"
		if b.String() != want {
			t.Errorf("got\n%q\nwant\n%q", b.String(), want)
		}
	})
}

func TestQuiet(t *testing.T) {
	var b bytes.Buffer
	p := New(&b, true)
	p.Note("a word")
	p.Show(Runs(1, 2, 1))
	p.Done()
	if b.Len() > 0 {
		t.Errorf("said %q", b.String())
	}
}
