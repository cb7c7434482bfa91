package progress

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Without a terminal a line comes when one is due, and at the end; of few bytes none.
func TestImportLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := New(&b, false)
		p.Import(1, leastImport-1)
		for done := range int64(12) {
			time.Sleep(time.Second)
			p.Import(done<<30, 12<<30)
		}
		p.Import(12<<30, 12<<30)
		p.Begin()
		time.Sleep(time.Second)
		p.Show(Runs(0, 3, 3))
		want := "0B of 12GiB of inputs stored, 1s\n" +
			"5GiB of 12GiB of inputs stored, 6s, about 8s to go\n" +
			"10GiB of 12GiB of inputs stored, 11s, about 2s to go\n" +
			"12GiB of 12GiB of inputs stored, 12s\n" +
			"0 of 3 done, 3 running, 1s\n"
		if b.String() != want {
			t.Errorf("got\n%s\nwant\n%s", b.String(), want)
		}
	})
}

func TestImportBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := New(&b, false)
		p.Terminal = true
		time.Sleep(time.Second)
		p.Import(16<<20, 32<<20)
		p.Import(17<<20, 32<<20) // not drawn so soon
		p.Begin()
		want := eraseLine + "[" + strings.Repeat("=", 12) + strings.Repeat(" ", 13) +
			"] 16MiB of 32MiB of inputs stored, 1s, about 1s to go\n"
		if b.String() != want {
			t.Errorf("got\n%q\nwant\n%q", b.String(), want)
		}
	})
}
