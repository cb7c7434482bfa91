package hostile

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// words are names and texts that come from peers.
func words() []attack {
	return []attack{
		{id: "S3", play: playNames, before: "a worker wrote .bashrc, .git/hooks/* and what else it liked into the " +
			"submitter's " +
			"current directory, over files that were there"},
		{id: "S18", play: playEscapes, before: "control characters of peers reached the terminal of godwit job, jobs " +
			"and why"},
	}
}

// usualMachine is what a member says that wants to be given work.
var usualMachine = overlay.Advert{Slots: 4, Memory: 4 << 30, Speed: 4}

// badNames are names of outputs that no job asked for.
func badNames() []string {
	out := []string{".bashrc", ".profile", ".git/hooks/post-checkout", ".ssh/authorized_keys", "Makefile", "stdout2",
		"stderr",
		"job.yaml", "results/0/stdout", "a/b/c", ".config/autostart/x.desktop", "go.mod", "0", "0/stdout", "stdout.txt"}
	for i := range 25 {
		out = append(out, fmt.Sprintf("file%d", i), fmt.Sprintf(".hidden%d", i), fmt.Sprintf("dir%d/.x", i))
	}
	return out
}

// named are outputs of such names.
func withNames(id task.JobID, index int, names []string) task.Result {
	r := saying(id, index, "evil")
	for _, n := range names {
		b := []byte("evil " + n)
		r.Outputs = append(r.Outputs, task.Output{Name: n, CID: task.RawCID(b), Size: int64(len(b)), Inline: b})
	}
	slices.SortFunc(r.Outputs, func(a, b task.Output) int { return cmp.Compare(a.Name, b.Name) })
	r.Outputs = slices.CompactFunc(r.Outputs, func(a, b task.Output) bool { return a.Name == b.Name })
	return r
}

// playNames runs a job of one task where people do, while a worker answers with names of
// its own.
func playNames(ctx context.Context, f *field, row *Row) error {
	home := filepath.Join(f.dir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	const mine, text = ".bashrc", "# the owner's\n"
	if err := os.WriteFile(filepath.Join(home, mine), []byte(text), 0o600); err != nil {
		return err
	}
	names := badNames()
	file, name, err := f.jobFile(1, "")
	if err != nil {
		return err
	}
	if err := f.paused(ctx, func() error { return f.answerWith(ctx, row, home, file, name, names) }); err != nil {
		return err
	}
	row.tried(0, "%d names of outputs in results of leased and of unleased workers of a job that asks for stdout; godwit "+
		"run without --out", len(names))
	var found []string
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(home, path)
			found = append(found, rel)
		}
		return err
	})
	b, _ := os.ReadFile(filepath.Join(home, mine))
	row.now("files there are %.200q", found)
	if string(b) != text {
		row.broke("a file of the project owner's was replaced")
	}
	for _, path := range found {
		if path != mine && filepath.Base(path) != task.Stdout {
			row.broke("%d files were written, such as %s", len(found)-1, path)
			break
		}
	}
	return err
}

// answerWith runs the job while strangers bring results of it. The nodes are paused: only
// the strangers take leases.
func (f *field) answerWith(ctx context.Context, row *Row, home, file, name string, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, preyLimit)
	defer cancel()
	var running sync.WaitGroup
	var failed error
	running.Go(func() { _, failed = f.helper().Verb(ctx, home, "run", file, "--quiet") })
	id, err := f.idOf(ctx, name)
	if err != nil {
		row.now("the job was not seen: %v", err)
		cancel()
		running.Wait()
		return nil
	}
	const workers = 5
	var last *worker
	for i := range workers {
		some := names[i*len(names)/workers : (i+1)*len(names)/workers]
		last, err = f.labour(ctx, fellow, id, 1, usualMachine, func(l *message.Lease) *task.Result {
			r := withNames(id, int(l.Task.Index), some)
			return &r
		})
		if err != nil {
			return err
		}
		p, err := f.agreed(ctx, openName)
		if err != nil {
			continue
		}
		r, err := signedBy(last.key, withNames(id, 0, some))
		if err != nil {
			return err
		}
		for n := range 4 {
			if err := last.say(ctx, p.Leader, ended(p.Epoch, attemptAt(p.Epoch, n), r)); err != nil {
				return err
			}
		}
		row.Times += len(some)
	}
	if err := rest(ctx); err != nil {
		return err
	}
	taken := 0
	if last != nil {
		taken, err = last.came()
	}
	for _, n := range f.nodes {
		_, _ = n.Verb(ctx, f.dir, "resume")
	}
	running.Wait()
	row.now("the last worker was given %d leases", taken)
	if failed != nil {
		row.now("godwit run: %.200v", failed)
	}
	return err
}

// idOf finds the job of a name.
func (f *field) idOf(ctx context.Context, name string) (id task.JobID, err error) {
	return id, until(ctx, gatherLimit, func() error {
		var list []struct {
			ID   task.JobID `json:"id"`
			Name string     `json:"name"`
		}
		if err := f.helper().Get(ctx, "/v1/jobs", &list); err != nil {
			return err
		}
		for _, j := range list {
			if j.Name == name {
				id = j.ID
				return nil
			}
		}
		return fmt.Errorf("there is no job %s", name)
	})
}

// escapes are texts that a terminal obeys, or that show otherwise than they are.
var escapes = []string{"\x1b]0;owned\x07", "\x1b[2J\x1b[1;1Hall tasks done\x1b[8m", "\u202etxt.exe", "\u2066x\u2069",
	"a\rb",
	"\x9b2J", "\u200fx", "x\x00y", "\x7f", "line\nline: done"}

// playEscapes brings such texts as messages of results, as reasons, and as names of jobs.
func playEscapes(ctx context.Context, f *field, row *Row) error {
	var said []string
	err := f.hunted(ctx, row, openName, 6, "retries: 20\n", func(p *prey) error {
		crowd, err := f.crowd(ctx, 2, fellow)
		if err != nil {
			return err
		}
		failures := 0
		if _, err := f.labour(ctx, fellow, p.id, 1, usualMachine, func(l *message.Lease) *task.Result {
			if failures++; failures > len(escapes) {
				return nil
			}
			r := failing(p.id, int(l.Task.Index), 0)
			r.Message = escapes[failures-1]
			return &r
		}); err != nil {
			return err
		}
		defer f.dismiss()
		for i, text := range escapes {
			s := crowd[i%len(crowd)]
			if err := s.writeOnWalls(ctx, p, text, i); err != nil {
				return err
			}
			row.Times += 4
		}
		if err := rest(ctx); err != nil {
			return err
		}
		for _, args := range [][]string{{"job", string(p.id)}, {"jobs"}, {"why", string(p.id)}} {
			for _, n := range f.nodes {
				text, err := n.Verb(ctx, f.dir, args...)
				if err != nil {
					text = err.Error()
				}
				said = append(said, text)
			}
		}
		return nil
	})
	row.tried(0, "%d texts as messages of results, reasons of refusals, errors of holds and names of jobs", len(escapes))
	bad := 0
	for _, text := range said {
		for _, r := range text {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				bad++
			}
		}
	}
	row.now("%d answers of job, jobs and why have %d such characters", len(said), bad)
	if bad > 0 {
		row.broke("%d characters that a terminal obeys were printed", bad)
	}
	return err
}

// writeOnWalls says a text wherever a peer can say one.
func (s *stranger) writeOnWalls(ctx context.Context, p *prey, text string, n int) error {
	pool, err := s.f.agreed(ctx, openName)
	if err != nil {
		return nil //nolint:nilerr // which is judged
	}
	index := n % p.tasks
	r := failing(p.id, index, 0)
	r.Message = strings.ToValidUTF8(text, "?")
	if r, err = signedBy(s.key, r); err != nil {
		return err
	}
	id := task.TaskID{Job: p.id, Index: uint64(index)}
	messages := []message.Message{
		ended(pool.Epoch, attemptAt(pool.Epoch, n), r),
		{Report: &message.Report{Epoch: pool.Epoch, Refused: []message.Refusal{{Task: id, Attempt: attemptAt(pool.Epoch, n),
			Reason: text}}}},
		{Copied: &message.Copied{Epoch: pool.Epoch, Session: 1, Held: []message.HeldBlocks{{
			Name: message.HoldName{Task: id, Kind: message.HoldJob}, Err: text}}}},
	}
	if rec, err := s.jobOf(s.key, 1, func(j *task.Job) { j.Name = text }); err == nil {
		messages = append(messages, message.Message{Submit: &message.Submit{Record: rec}})
	}
	for _, m := range messages {
		if err := s.say(ctx, pool.Leader, m); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			return err
		}
	}
	return nil
}
