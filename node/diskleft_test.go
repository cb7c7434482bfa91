package node

import (
	"errors"
	"strings"
	"testing"

	"godwit/owner"
)

// TestDiskFinding has a full disk told, whether the node met it or the system says so.
func TestDiskFinding(t *testing.T) {
	for name, c := range map[string]struct {
		left       int64
		err        error
		full       bool
		want, says string
	}{
		"room":              {left: 5 << 30, want: owner.OK, says: "5GiB are free in /data"},
		"just enough":       {left: leastLeft, want: owner.OK, says: "64MiB are free"},
		"nothing left":      {left: 0, want: owner.Bad, says: "0B are free in /data, which is too little"},
		"a write failed":    {left: 5 << 30, full: true, want: owner.Bad, says: "the disk is full"},
		"failed, not known": {err: errors.New("gone"), full: true, want: owner.Bad, says: "the disk is full"},
		"not known":         {err: errors.New("gone"), want: owner.Blind, says: "not known: gone"},
	} {
		f := diskFinding("/data", c.left, c.err, c.full)
		if f.Result != c.want || !strings.Contains(f.Text, c.says) {
			t.Errorf("%s: %+v", name, f)
		}
		if (f.Fix == "") != (c.want == owner.OK) {
			t.Errorf("%s: the remedy is %q", name, f.Fix)
		}
	}
	if f := DiskLeft(t.TempDir()); f.Result == owner.Blind {
		t.Errorf("of a directory that is there: %+v", f)
	}
}
