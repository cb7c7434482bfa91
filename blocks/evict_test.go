package blocks

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"godwit/task"
)

var errNoMore = errors.New("no more is allowed")

// An Allowance is a Budget of so many bytes; fewer than 0 are no bound.
type Allowance struct{ Left int64 }

func (a *Allowance) Reserve(bytes int64) error {
	if a.Left >= 0 && bytes > a.Left {
		return errNoMore
	}
	a.Left -= bytes
	return nil
}

func (a *Allowance) Release(bytes int64) { a.Left += bytes }

// What is stored is reserved, what is removed or not stored released, whatever the way.
func TestKeepWithin(t *testing.T) {
	b := inMemory(t)
	a := &Allowance{Left: 1 << 20}
	b.Keep(a)
	ctx := t.Context()
	check := func(when string) {
		t.Helper()
		if a.Left != 1<<20-b.Size() {
			t.Errorf("%s: %d bytes are left, %d are stored", when, a.Left, b.Size())
		}
	}
	root, err := b.ImportBytes(ctx, bytes.Repeat([]byte("many words"), 60<<10))
	if err != nil {
		t.Fatal(err)
	}
	check("imported")
	if _, err := b.ImportBytes(ctx, bytes.Repeat([]byte("many words"), 60<<10)); err != nil {
		t.Errorf("what is here already: %v", err)
	}
	check("imported again")
	if _, err := b.ImportBytes(ctx, bytes.Repeat([]byte("other words"), 60<<10)); !errors.Is(err, ErrQuota) ||
		!errors.Is(err, errNoMore) {
		t.Errorf("beyond the budget: %v", err)
	}
	check("refused")
	if err := b.DeleteDAG(ctx, root); err != nil {
		t.Fatal(err)
	}
	check("deleted")
	b.now = func() time.Time { return time.Now().Add(time.Hour) }
	if _, err := b.Collect(ctx, RootsOf(), 0); err != nil {
		t.Fatal(err)
	}
	if check("collected"); b.Size() != 0 {
		t.Errorf("%d bytes are stored", b.Size())
	}
}

// Evicting takes what was used longest ago, no more than is asked for, and nothing that
// is needed or new.
func TestEvict(t *testing.T) {
	b := inMemory(t)
	ctx, now := t.Context(), time.Now()
	const size = 1000
	var cids []task.CID
	put := func(name byte, age time.Duration) {
		b.now = func() time.Time { return now.Add(-age) }
		c, err := b.ImportBytes(ctx, bytes.Repeat([]byte{name}, size))
		if err != nil {
			t.Fatal(err)
		}
		cids = append(cids, c)
	}
	put('0', 9*time.Hour) // needed
	put('1', 5*time.Hour)
	put('2', 8*time.Hour) // used since
	put('3', 7*time.Hour)
	put('4', 4*time.Hour)
	put('5', time.Minute)
	put('2', 3*time.Hour)
	b.now = func() time.Time { return now }
	for _, step := range []struct {
		bytes int64
		want  string
	}{{0, "012345"}, {1, "01245"}, {size + 1, "025"}, {1 << 20, "05"}} {
		gone, err := b.Evict(ctx, RootsOf(cids[:1]...), time.Hour, step.bytes)
		if err != nil {
			t.Fatal(err)
		}
		left := ""
		for _, c := range cids[:6] {
			if data, err := b.Get(ctx, c); err == nil {
				left += string(data[:1])
			}
		}
		if left != step.want {
			t.Errorf("room for %d bytes: %q is left, want %q; %+v", step.bytes, left, step.want, gone)
		}
	}
}
