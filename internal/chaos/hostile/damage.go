package hostile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"godwit/task"
)

// damaged are events in which a few bytes of a node's files change. Nobody attacks.
func damaged() []attack {
	return []attack{
		{id: "T14", play: playIdentity, plain: true, limit: 15 * time.Minute, threat: "a flipped bit in identity.key",
			before: "the node started and said that it was ready, and no other node took its adverts: in 95 of 100 runs"},
		{id: "T15", play: playOptions, plain: true, limit: 20 * time.Minute, threat: "a damaged file of the store's own",
			before: "the node set its whole store aside, and with it jobs that exist nowhere else: in 31 of 100 runs"},
	}
}

// alone starts a node that knows nobody.
func (f *field) alone(ctx context.Context, flags ...string) (Node, error) {
	flags = append([]string{"--cores", "1", "--memory", "1GiB"}, flags...)
	return f.Start(ctx, Spec{Rules: rulesOf(f.disk), Flags: flags})
}

// playIdentity flips one bit of the identity each time. The node must refuse to start, and name the file.
func playIdentity(ctx context.Context, f *field, row *Row) error {
	const file = "identity.key"
	n, err := f.alone(ctx)
	if err != nil {
		return err
	}
	defer n.Kill()
	if err := n.Stop(); err != nil {
		return err
	}
	path := filepath.Join(n.Dir(), file)
	good, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	v := &Varied{Seed: f.Seed, Of: "starts of a real node with one flipped bit in its identity"}
	first := ""
	for range f.Times {
		bit := f.rng.IntN(8 * len(good))
		bad := slices.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			return err
		}
		v.Runs++
		begun := len(n.Said())
		err := n.Again(ctx)
		said := n.Said()
		switch {
		case err == nil:
			v.Succeeded++
			first = orFirst(first, "bit %d was flipped, and the node started", bit)
			if err := n.Stop(); err != nil {
				return err
			}
		case !strings.Contains(said[min(begun, len(said)):], file):
			v.Succeeded++
			first = orFirst(first, "bit %d was flipped, and the node doesn't name the file: %s", bit, lastWords(said))
		}
	}
	row.judge(v, first)
	if err := os.WriteFile(path, good, 0o600); err != nil {
		return err
	}
	if err := n.Again(ctx); err != nil {
		row.broke("the node doesn't start with its right identity: %v", err)
	}
	return nil
}

// playOptions damages a file of the store that has no data each time. The node must have its job after a start.
func playOptions(ctx context.Context, f *field, row *Row) error {
	const tasks = 3
	n, err := f.alone(ctx)
	if err != nil {
		return err
	}
	defer n.Kill()
	file, name, err := f.jobFile(tasks, "")
	if err != nil {
		return err
	}
	said, err := n.Verb(ctx, f.dir, "run", file, "--detach")
	if err != nil {
		return err
	}
	p := &prey{f: f, at: n, id: task.JobID(said), name: name, tasks: tasks}
	if err := p.settle(ctx, preyLimit); err != nil {
		return err
	}
	if err := n.Stop(); err != nil {
		return err
	}
	store, copied := filepath.Join(n.Dir(), "store"), filepath.Join(f.dir, "store.good")
	if err := copyDir(store, copied); err != nil {
		return err
	}
	v := &Varied{Seed: f.Seed, Of: "starts of a real node whose store's OPTIONS, or newest MANIFEST, was cut, " +
		"emptied or changed"}
	first := ""
	for range f.Times {
		what, err := f.spoil(store)
		if err != nil {
			return err
		}
		v.Runs++
		err = n.Again(ctx)
		if err == nil {
			err = p.settle(ctx, 5*time.Second)
		}
		switch aside, _ := filepath.Glob(store + ".corrupt-*"); {
		case err != nil:
			v.Succeeded++
			v.Lost += tasks
			first = orFirst(first, "%s: %v", what, err)
		case len(aside) > 0:
			v.Succeeded++
			first = orFirst(first, "%s: the store was set aside", what)
		default:
			v.Right += tasks
		}
		if err := n.Stop(); err != nil {
			return err
		}
		if err := f.restore(store, copied); err != nil {
			return err
		}
	}
	row.judge(v, first)
	return nil
}

// spoil damages one file of a store, and describes how.
func (f *field) spoil(store string) (string, error) {
	pattern := "OPTIONS-*"
	if f.rng.IntN(4) == 0 {
		pattern = "MANIFEST-*"
	}
	var files []string
	err := filepath.WalkDir(store, func(path string, d os.DirEntry, err error) error {
		if ok, _ := filepath.Match(pattern, filepath.Base(path)); err == nil && ok {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("finding %s in a store: %d, %w", pattern, len(files), err)
	}
	slices.Sort(files)
	path := files[len(files)-1] // the newest
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	how := "changed"
	switch f.rng.IntN(3) {
	case 0:
		how, b = "cut", b[:f.rng.IntN(len(b)+1)]
	case 1:
		how, b = "emptied", nil
	default:
		for range 4 {
			if len(b) > 0 {
				b[f.rng.IntN(len(b))] ^= byte(1 + f.rng.IntN(255))
			}
		}
	}
	rel, _ := filepath.Rel(store, path)
	return rel + " was " + how, os.WriteFile(path, b, 0o600)
}

// restore puts a copy of a store in its place.
func (f *field) restore(store, copied string) error {
	aside, _ := filepath.Glob(store + ".corrupt-*")
	for _, dir := range append(aside, store) {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return copyDir(copied, store)
}

func copyDir(from, to string) error { return os.CopyFS(to, os.DirFS(from)) }
