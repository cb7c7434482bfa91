package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"time"

	"godwit/internal/chaos/walk"
)

// A tide is what a task does that is moved while it is watched: the program
// internal/chaos/tide with its arguments, and what a round of it takes.
type tide struct {
	walk.Tide
	module string
	round  time.Duration // CPU of one round, when nothing disturbs it
	memory int64         // that it may have, in bytes
}

const (
	// roundSteps is the steps of a round: about 50 µs of a core, so that one who
	// looks each millisecond sees every look another number.
	roundSteps = 20_000
	// tryRounds is how many rounds tell what one takes: about a second's.
	tryRounds, tries = 20_000, 3
	// rewritten is the share of its memory that a guest writes in a second of CPU.
	rewritten = .01
	mebibyte  = 1 << 20
	// beside is what the program needs beside the memory that it rewrites, in bytes.
	beside = mebibyte
)

// newTide makes a tide over so many MiB that takes so much CPU.
func (t *trial) newTide(ctx context.Context, mebibytes int, work time.Duration) (tide, error) {
	d := tide{module: filepath.Join(t.dir, "tide.wasm"), memory: int64(mebibytes)*mebibyte + beside}
	d.Blocks, d.Steps, d.Every = uint64(mebibytes)*mebibyte/walk.BlockBytes, roundSteps, math.MaxUint32
	if err := t.build(ctx, "tide", d.module); err != nil {
		return d, skip(err.Error())
	}
	d.Rounds = tryRounds
	for range tries {
		cpu, err := t.try(ctx, d)
		if err != nil {
			return d, err
		}
		if one := cpu / tryRounds; d.round == 0 || one < d.round {
			d.round = one
		}
	}
	d.Every = max(1, uint64(math.Round(d.rate()/(rewritten*float64(d.Blocks)))))
	d.Rounds = uint64(work.Seconds() * d.rate())
	return d, nil
}

// rate is how many rounds a second of a core has.
func (d tide) rate() float64 { return 1 / d.round.Seconds() }

// cpu is what so many rounds take.
func (d tide) cpu(rounds uint64) time.Duration { return time.Duration(rounds) * d.round }

// try runs the program alone, over one block, and returns the CPU that it took.
func (t *trial) try(ctx context.Context, d tide) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, t.godwit, "exec", d.module, "--json", "--", "0", "1", fmt.Sprint(d.Steps),
		fmt.Sprint(d.Every), fmt.Sprint(d.Rounds))
	said, err := cmd.Output()
	var ran struct {
		CPU float64 `json:"cpu_s"`
	}
	if err == nil {
		err = json.Unmarshal(said, &ran)
	}
	if err == nil && !(ran.CPU > 0) {
		err = fmt.Errorf("it took no time: %s", said)
	}
	if err != nil {
		return 0, fmt.Errorf("trying the guest: %w", err)
	}
	return time.Duration(ran.CPU * float64(time.Second)), nil
}

// labour is a job of such tasks, saved that often.
func (d tide) labour(every time.Duration) labour {
	return labour{
		module: d.module,
		rules: fmt.Sprintf("args: [\"{{.task}}\", \"%d\", \"%d\", \"%d\", \"%d\"]\nmemory: %dMiB\ncheckpoint: %v\n",
			d.Blocks, d.Steps, d.Every, d.Rounds, d.memory/mebibyte, every),
		want: func(i int) string { return fmt.Sprintf("%d %016x\n", d.Rounds, d.Sum(uint64(i))) },
	}
}
