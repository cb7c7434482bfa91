package node

import (
	"context"
	"errors"
	"testing"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"godwit/blocks"
	"godwit/internal/noop"
)

// checkerFunc is a Checker that counts its calls.
type checkerFunc func(module []byte) error

func (f checkerFunc) Check(_ context.Context, module []byte) error { return f(module) }

// A module of a job is validated by the runner, which does that in a process of its own, once for all jobs of the module.
func TestModulesAreCheckedByTheRunner(t *testing.T) {
	s, err := blocks.New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		t.Fatal(err)
	}
	module, err := s.ImportBytes(t.Context(), noop.Module)
	if err != nil {
		t.Fatal(err)
	}
	calls, wrong := 0, errors.New("wrong")
	c := &content{blocks: s, checker: checkerFunc(func(m []byte) error {
		if calls++; string(m) != string(noop.Module) {
			t.Errorf("%d bytes were checked, want %d", len(m), len(noop.Module))
		}
		return wrong
	})}
	if err := c.checkModule(t.Context(), module); !errors.Is(err, wrong) {
		t.Errorf("got %v, want the checker's error", err)
	}
	wrong = nil
	for range 2 {
		if err := c.checkModule(t.Context(), module); err != nil {
			t.Error(err)
		}
	}
	if calls != 2 {
		t.Errorf("checked %d times, want 2", calls)
	}
}
