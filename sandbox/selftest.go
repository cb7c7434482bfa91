package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// selfTurns is how often the loop of the self-test turns: milliseconds of a core.
	selfTurns = 200_000
	// selfFuel and selfState are what every machine comes to in it: the fuel, and the state at the end.
	selfFuel  = 3_999_980
	selfState = "8f0c5ae8176f3673233889023f270eafdc270003b5626ee0694590c555f9ee10"
	// selfTime limits the self-test and Wall. Both take a fraction of a second, but longer on a busy machine, and
	// forever if the process stays suspended.
	selfTime = 10 * time.Second
)

// Errors of SelfTest.
var (
	// ErrUntested is returned if no task may run now, or if the process does not answer in time.
	ErrUntested = errors.New("sandbox: not tested")
	// ErrWrong is returned where a known program came to something else than everywhere.
	ErrWrong = errors.New("sandbox: a known program came to something else than on other machines")
)

// SelfTest runs a known program of integers, floating point and memory as any task runs, and compares what
// it comes to with what it comes to everywhere.
func (p *Pool) SelfTest(ctx context.Context) error {
	if p.standsStill() {
		return ErrUntested
	}
	module := speedModule(selfTurns)
	dir, err := os.MkdirTemp(p.cfg.ScratchDir, "selftest")
	if err != nil {
		return fmt.Errorf("sandbox: testing itself: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "selftest.wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		return fmt.Errorf("sandbox: testing itself: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, selfTime)
	defer cancel()
	digest := sha256.Sum256(module)
	r, err := p.Run(ctx, Task{
		Name: "selftest/0", Module: hex.EncodeToString(digest[:]), ModulePath: path,
		Limits: Limits{Memory: speedMemory}, StateHash: true,
	})
	switch {
	case ctx.Err() != nil:
		return ErrUntested
	case err != nil:
		return fmt.Errorf("sandbox: testing itself: %w", err)
	case r.Message != "":
		return fmt.Errorf("sandbox: testing itself: %v: %s", r.Outcome, r.Message)
	}
	if state := hex.EncodeToString(r.StateHash[:]); state != selfState || r.Fuel != selfFuel {
		return fmt.Errorf("%w: %d units of fuel, and the state %s", ErrWrong, r.Fuel, state)
	}
	return nil
}

// standsStill reports whether the owner, or somebody else, lets nothing run now.
func (p *Pool) standsStill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held) > 0
}
