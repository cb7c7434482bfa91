// Package local measures how guests delay jobs of a machine's owner.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/testbed"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/measure"
)

// Options are those of measuring how guests delay jobs of the machine's owner.
type Options struct {
	testbed.Options
	Work   time.Duration // of each process of the owner's job, above 0
	Rounds int           // how often each way is measured
}

// A report is the JSON of `godwit swarm local`.
type report struct {
	Nodes  int         `json:"nodes"`
	Slots  int         `json:"slots"`
	Rounds int         `json:"rounds"`
	WorkS  float64     `json:"work_s"` // of processor time, by each process of a local job
	Ways   []wayReport `json:"ways"`
	Stops  spread      `json:"stops_s"` // from the owner's word until every guest stood still
}

// A wayReport is one way in which local jobs met guests.
type wayReport struct {
	Way       string `json:"way"`
	MakespanS spread `json:"makespan_s"`
	// AddedS is the mean makespan less that of the first way, and Polls the same in the
	// thesis's polls of 10 s.
	AddedS float64 `json:"added_s"`
	Polls  float64 `json:"polls"`
	// Guests is the part of one processor that guests had meanwhile; -1 where it is not
	// known.
	Guests float64 `json:"guests"`
}

type spread struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

func spreadOf(x []float64) spread {
	if len(x) == 0 {
		return spread{}
	}
	return spread{len(x), measure.Average(x), slices.Min(x), slices.Max(x)}
}

// The ways, of which the first is without guests.
const (
	alone   = iota // guests stand still before the job comes
	returns        // they run, and the owner says that he is back as the job comes
	unsaid         // they run on: what they leave is by their priority alone
	ways
)

var wayNames = [ways]string{"no guest runs", "the owner returns with the job", "nobody says so, guests go on"}

// What is measured where nothing else is asked for: how often each way, and the work of each process of a job.
const (
	Rounds = 5
	Work   = 2 * time.Second
)

const (
	// koalaPoll is how often the lookout of Grundeken 2009, section 3.2.1, polls a local
	// queue, and koalaLeast and koalaMost what it adds to the makespan of local jobs there
	// (Table 4.2, recomputed).
	koalaPoll               = 10 * time.Second
	koalaLeast, koalaMost   = 7.787, 29.235
	settle                  = time.Second // that guests run before a job comes
	poll                    = time.Millisecond
	patience                = 10 * time.Second
	mostWork, mostRounds    = 10 * time.Minute, 1000
	guestTimeout, guestName = 24 * time.Hour, "guests"
)

// A trial is nodes full of guests, and jobs of the machine's owner beside them.
type trial struct {
	sw     *testbed.Swarm
	rounds uint64 // of burn, for each process of a job
	procs  int    // of a job
}

// Run measures, and prints what came of it.
func (o *Options) Run(ctx context.Context, out, log io.Writer) error {
	if o.Work <= 0 || o.Work > mostWork || o.Rounds < 1 || o.Rounds > mostRounds {
		return failure.Usage("", "--work is above 0 and at most %v, --rounds 1 to %d", mostWork, mostRounds)
	}
	if err := o.Check(); err != nil {
		return err
	}
	say := o.NewProgress(log)
	return o.With(ctx, func(sw *testbed.Swarm, _ time.Duration) error {
		t := &trial{sw: sw, procs: runtime.NumCPU()}
		if err := t.fill(ctx, o.Nodes*o.Cores); err != nil {
			return err
		}
		rep, err := t.measure(ctx, o.Work, o.Rounds, say)
		if err != nil {
			return err
		}
		rep.Nodes, rep.Slots = o.Nodes, o.Nodes*o.Cores
		return o.Tell(out, rep, rep.print)
	})
}

// fill gives every slot a guest that never ends, and waits until they run.
func (t *trial) fill(ctx context.Context, slots int) error {
	text := fmt.Sprintf("name: %s\nmodule: endless.wasm\nverify: off\nmemory: 1MiB\ncheckpoint: off\ntimeout: %s\n"+
		"sweep:\n  task: {from: 1, to: %d}\n", guestName, guestTimeout, slots)
	guests, err := submission.New("guests.yaml", text, endless)
	if err != nil {
		return fmt.Errorf("making the guests: %w", err)
	}
	client := api.Dial(t.sw.Nodes[0].Dir)
	defer client.Close()
	if _, err := submission.Submit(ctx, client, guests); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, testbed.GatherTimeout)
	defer cancel()
	for at := time.Now(); ; at = at.Add(testbed.GatherPoll) {
		if !clock.SleepUntil(ctx, at) {
			return fmt.Errorf("waiting until every slot has a guest: %w", ctx.Err())
		}
		running := 0
		for _, n := range t.sw.Nodes {
			c := api.Dial(n.Dir)
			st, err := c.Status(ctx)
			c.Close()
			if err != nil {
				return fmt.Errorf("waiting until every slot has a guest: %w", err)
			}
			running += st.Tasks
		}
		if running >= slots {
			return nil
		}
	}
}

// measure runs a job of each way in each round; which comes first goes round.
func (t *trial) measure(ctx context.Context, work time.Duration, rounds int, say *progress.Progress) (*report, error) {
	if err := t.owner(ctx, true); err != nil {
		return nil, err
	}
	if err := t.calibrate(ctx, work); err != nil {
		return nil, err
	}
	var took, share [ways][]float64
	var stops []float64
	for k := range rounds {
		say.Note("round %d of %d", k+1, rounds)
		for i := range ways {
			way := (i + k) % ways
			one, err := t.try(ctx, way)
			if err != nil {
				return nil, err
			}
			took[way], share[way] = append(took[way], one.took.Seconds()), append(share[way], one.guests)
			if way == returns && one.stopped >= 0 {
				stops = append(stops, one.stopped.Seconds())
			}
		}
	}
	rep := &report{Rounds: rounds, WorkS: work.Seconds(), Stops: spreadOf(stops)}
	for way, name := range wayNames {
		w := wayReport{Way: name, MakespanS: spreadOf(took[way]), Guests: measure.Average(share[way])}
		if slices.Min(share[way]) < 0 {
			w.Guests = -1
		}
		w.AddedS = w.MakespanS.Mean - measure.Average(took[alone])
		w.Polls = w.AddedS / koalaPoll.Seconds()
		rep.Ways = append(rep.Ways, w)
	}
	return rep, nil
}

// owner has the owner of every node be there, or not, and returns when it is durable.
func (t *trial) owner(ctx context.Context, there bool) error {
	errs := make([]error, len(t.sw.Nodes))
	var wg sync.WaitGroup
	for i, n := range t.sw.Nodes {
		wg.Go(func() {
			client := api.Dial(n.Dir)
			defer client.Close()
			if there {
				_, errs[i] = client.Pause(ctx, 0)
			} else {
				_, errs[i] = client.Resume(ctx)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// calibrate finds how many rounds take so much of a processor's time.
func (t *trial) calibrate(ctx context.Context, work time.Duration) error {
	t.rounds = TrialRounds
	cmd, err := t.process(ctx)
	if err == nil {
		err = cmd.Run()
	}
	if err != nil {
		return fmt.Errorf("trying this machine: %w", err)
	}
	t.rounds = max(1, uint64(TrialRounds*work.Seconds()/max(cmd.ProcessState.UserTime(), time.Millisecond).Seconds()))
	return nil
}

// process is one process of a local job.
func (t *trial) process(ctx context.Context) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, "burn", "--rounds", strconv.FormatUint(t.rounds, 10))
	cmd.SysProcAttr = testbed.DieWithParent()
	return cmd, nil
}

// A try is what became of one local job.
type try struct {
	took    time.Duration // from when it came until its last process ended
	stopped time.Duration // until every guest stood still; -1: nobody was told, or it cannot be seen
	guests  float64       // part of one processor that guests had; -1: it cannot be seen
}

// try runs a local job in one of the ways.
func (t *trial) try(ctx context.Context, way int) (one try, err error) {
	if err := t.owner(ctx, way == alone); err != nil {
		return one, err
	}
	if !clock.SleepUntil(ctx, time.Now().Add(settle)) {
		return one, errors.New("interrupted")
	}
	guests := t.guests()
	before := cpuOf(guests)
	begun := time.Now()
	one.stopped = -1
	var wg sync.WaitGroup
	var ownerErr error
	if way == returns {
		wg.Go(func() { ownerErr = t.owner(ctx, true) })
		wg.Go(func() { one.stopped = standstill(ctx, guests, begun) })
	}
	errs := make([]error, t.procs)
	for i := range errs {
		cmd, err := t.process(ctx)
		if err != nil {
			return one, err
		}
		wg.Go(func() { errs[i] = cmd.Run() })
	}
	wg.Wait()
	one.took = time.Since(begun)
	if err := errors.Join(append(errs, ownerErr)...); err != nil {
		return one, fmt.Errorf("running a local job: %w", err)
	}
	if one.guests = -1; len(before) > 0 {
		one.guests = 0
	}
	for pid, used := range cpuOf(guests) { // one that measured the speed may be gone
		one.guests += (used - before[pid]).Seconds() / one.took.Seconds()
	}
	return one, nil
}
