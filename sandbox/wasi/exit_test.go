package wasi

import (
	"errors"
	"runtime"
	"testing"

	"github.com/tetratelabs/wazero/sys"
)

// An exit goes to whom it was promised, and only without one to wazero.
func TestOnExit(t *testing.T) {
	s := New("exits", nil, nil, Limits{})
	end := func() (got error, panicked any) {
		done := make(chan struct{})
		s.OnExit(func(err error) { got = err; runtime.Goexit() })
		go func() {
			defer close(done)
			defer func() { panicked = recover() }()
			procExit(&call{State: s, p: []uint64{7}})
		}()
		<-done
		return got, panicked
	}
	var exit *sys.ExitError
	if got, panicked := end(); !errors.As(got, &exit) || exit.ExitCode() != 7 || panicked != nil {
		t.Errorf("left with %v, panic %v", got, panicked)
	}
	s.OnExit(nil)
	defer func() {
		if err, _ := recover().(error); !errors.As(err, &exit) || exit.ExitCode() != 7 {
			t.Errorf("panic of %v", err)
		}
	}()
	procExit(&call{State: s, p: []uint64{7}})
}
