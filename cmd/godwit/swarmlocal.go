package main

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
)

// localOptions are those of measuring how guests delay jobs of the machine's owner.
type localOptions struct {
	bedOptions
	work   time.Duration // of each process of the owner's job, above 0
	rounds int           // how often each way is measured
}

// A localReport is the JSON of `godwit swarm local`.
type localReport struct {
	Nodes  int         `json:"nodes"`
	Slots  int         `json:"slots"`
	Rounds int         `json:"rounds"`
	WorkS  float64     `json:"work_s"` // of processor time, by each process of a local job
	Ways   []localWay  `json:"ways"`
	Stops  localSpread `json:"stops_s"` // from the owner's word until every guest stood still
}

// A localWay is one way in which local jobs met guests.
type localWay struct {
	Way       string      `json:"way"`
	MakespanS localSpread `json:"makespan_s"`
	// AddedS is the mean makespan less that of the first way, and Polls the same in the
	// thesis's polls of 10 s.
	AddedS float64 `json:"added_s"`
	Polls  float64 `json:"polls"`
	// Guests is the part of one processor that guests had meanwhile; -1 where it is not
	// known.
	Guests float64 `json:"guests"`
}

type localSpread struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

func localSpreadOf(x []float64) localSpread {
	if len(x) == 0 {
		return localSpread{}
	}
	return localSpread{len(x), meanOf(x), slices.Min(x), slices.Max(x)}
}

// The ways, of which the first is without guests.
const (
	localAlone   = iota // guests stand still before the job comes
	localReturns        // they run, and the owner says that he is back as the job comes
	localUnsaid         // they run on: what they leave is by their priority alone
	localWays
)

var localNames = [localWays]string{"no guest runs", "the owner returns with the job", "nobody says so, guests go on"}

const (
	// koalaPoll is how often the lookout of Grundeken 2009, section 3.2.1, polls a local
	// queue, and koalaLeast and koalaMost what it adds to the makespan of local jobs there
	// (Table 4.2, recomputed).
	koalaPoll               = 10 * time.Second
	koalaLeast, koalaMost   = 7.787, 29.235
	localSettle             = time.Second // that guests run before a job comes
	localPoll               = time.Millisecond
	localPatience           = 10 * time.Second
	localRounds             = 5
	localWork               = 2 * time.Second
	localMost, mostRounds   = 10 * time.Minute, 1000
	localTimeout, localName = 24 * time.Hour, "guests"
)

// A localTrial is nodes full of guests, and jobs of the machine's owner beside them.
type localTrial struct {
	sw     *swarm
	rounds uint64 // of burn, for each process of a job
	procs  int    // of a job
}

// run measures, and prints what came of it.
func (o *localOptions) run(ctx context.Context, out, log io.Writer) error {
	if o.work <= 0 || o.work > localMost || o.rounds < 1 || o.rounds > mostRounds {
		return failure.Usage("", "--work is above 0 and at most %v, --rounds 1 to %d", localMost, mostRounds)
	}
	if err := o.check(); err != nil {
		return err
	}
	say := o.progress(log)
	return o.with(ctx, func(sw *swarm, _ time.Duration) error {
		t := &localTrial{sw: sw, procs: runtime.NumCPU()}
		if err := t.fill(ctx, o.nodes*o.cores); err != nil {
			return err
		}
		rep, err := t.measure(ctx, o.work, o.rounds, say)
		if err != nil {
			return err
		}
		rep.Nodes, rep.Slots = o.nodes, o.nodes*o.cores
		return o.tell(out, rep, rep.print)
	})
}

// fill gives every slot a guest that never ends, and waits until they run.
func (t *localTrial) fill(ctx context.Context, slots int) error {
	text := fmt.Sprintf("name: %s\nmodule: endless.wasm\nmemory: 1MiB\ncheckpoint: off\ntimeout: %s\n"+
		"sweep:\n  task: {from: 1, to: %d}\n", localName, localTimeout, slots)
	guests, err := submission.New("guests.yaml", text, endless)
	if err != nil {
		return fmt.Errorf("making the guests: %w", err)
	}
	client := api.Dial(t.sw.nodes[0].dir)
	defer client.Close()
	if _, err := submission.Submit(ctx, client, guests); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	for at := time.Now(); ; at = at.Add(gatherPoll) {
		if !sleepUntil(ctx, at) {
			return fmt.Errorf("waiting until every slot has a guest: %w", ctx.Err())
		}
		running := 0
		for _, n := range t.sw.nodes {
			c := api.Dial(n.dir)
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
func (t *localTrial) measure(ctx context.Context, work time.Duration, rounds int, say *progress.Progress) (*localReport, error) {
	if err := t.owner(ctx, true); err != nil {
		return nil, err
	}
	if err := t.calibrate(ctx, work); err != nil {
		return nil, err
	}
	var took, share [localWays][]float64
	var stops []float64
	for k := range rounds {
		say.Note("round %d of %d", k+1, rounds)
		for i := range localWays {
			way := (i + k) % localWays
			one, err := t.try(ctx, way)
			if err != nil {
				return nil, err
			}
			took[way], share[way] = append(took[way], one.took.Seconds()), append(share[way], one.guests)
			if way == localReturns && one.stopped >= 0 {
				stops = append(stops, one.stopped.Seconds())
			}
		}
	}
	rep := &localReport{Rounds: rounds, WorkS: work.Seconds(), Stops: localSpreadOf(stops)}
	for way, name := range localNames {
		w := localWay{Way: name, MakespanS: localSpreadOf(took[way]), Guests: meanOf(share[way])}
		if slices.Min(share[way]) < 0 {
			w.Guests = -1
		}
		w.AddedS = w.MakespanS.Mean - meanOf(took[localAlone])
		w.Polls = w.AddedS / koalaPoll.Seconds()
		rep.Ways = append(rep.Ways, w)
	}
	return rep, nil
}

// owner has the owner of every node be there, or not, and returns when it is durable.
func (t *localTrial) owner(ctx context.Context, there bool) error {
	errs := make([]error, len(t.sw.nodes))
	var wg sync.WaitGroup
	for i, n := range t.sw.nodes {
		wg.Go(func() {
			client := api.Dial(n.dir)
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
func (t *localTrial) calibrate(ctx context.Context, work time.Duration) error {
	t.rounds = burnTrial
	cmd, err := t.process(ctx)
	if err == nil {
		err = cmd.Run()
	}
	if err != nil {
		return fmt.Errorf("trying this machine: %w", err)
	}
	t.rounds = max(1, uint64(burnTrial*work.Seconds()/max(cmd.ProcessState.UserTime(), time.Millisecond).Seconds()))
	return nil
}

// process is one process of a local job.
func (t *localTrial) process(ctx context.Context) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, exe, "burn", "--rounds", strconv.FormatUint(t.rounds, 10))
	cmd.SysProcAttr = dieWithParent()
	return cmd, nil
}

// A localTry is what became of one local job.
type localTry struct {
	took    time.Duration // from when it came until its last process ended
	stopped time.Duration // until every guest stood still; -1: nobody was told, or it cannot be seen
	guests  float64       // part of one processor that guests had; -1: it cannot be seen
}

// try runs a local job in one of the ways.
func (t *localTrial) try(ctx context.Context, way int) (one localTry, err error) {
	if err := t.owner(ctx, way == localAlone); err != nil {
		return one, err
	}
	if !sleepUntil(ctx, time.Now().Add(localSettle)) {
		return one, errors.New("interrupted")
	}
	guests := t.guests()
	before := cpuOf(guests)
	begun := time.Now()
	one.stopped = -1
	var wg sync.WaitGroup
	var ownerErr error
	if way == localReturns {
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
