package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// damageTasks and damageHeld are the size of the job under which the node is killed, and the number
	// of its results that are held by then.
	damageTasks = 200
	damageHeld  = 6
	// heldLimit is how long a node may take to hold these.
	heldLimit = time.Minute
	// backLimit is how long a node that was started again may take to list its job.
	backLimit = 10 * time.Second
	// flippedBytes is the number of bytes that are changed in the middle of a file.
	flippedBytes = 4
)

// harms are what a disk does to a file.
var harms = []struct {
	name string
	do   func([]byte) []byte
}{
	{"flipped", func(b []byte) []byte {
		for i := len(b) / 2; i < min(len(b)/2+flippedBytes, len(b)); i++ {
			b[i] ^= 0x55
		}
		return b
	}},
	{"cut", func(b []byte) []byte { return b[:len(b)/2] }},
	{"emptied", func([]byte) []byte { return nil }},
}

// damageTable damages each file of a node's data directory in three ways. Each time the node starts
// with its job and all results that are readable, or refuses to start and names the file and a remedy.
func damageTable(ctx context.Context, t *trial) error {
	if err := t.addLocal(1); err != nil {
		return err
	}
	n := t.nodes[0]
	id, held, err := t.killedUnderJob(ctx, n)
	if err != nil {
		return err
	}
	whole := n.dir + "-whole"
	if err := os.Rename(n.dir, whole); err != nil {
		return fmt.Errorf("keeping the data directory: %w", err)
	}
	if err := os.RemoveAll(filepath.Join(whole, "api.sock")); err != nil { // a socket cannot be copied
		return fmt.Errorf("keeping the data directory: %w", err)
	}
	names, err := regularFiles(whole)
	if err != nil {
		return err
	}
	t.say("%d results are held; %d files are damaged in %d ways", held, len(names), len(harms))
	for _, name := range names {
		for _, h := range harms {
			came, err := t.startHarmed(ctx, n, whole, name, h.do, id, held)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.say("%-8s %-45s %s", h.name, name, came)
			t.report.must(fmt.Sprintf("%s, %s: no readable job is lost, or the node names file and remedy", name, h.name), err)
		}
	}
	return nil
}

// killedUnderJob runs a job at a node and kills the node several times, so that its store has files of
// all kinds. It returns the job, and the number of results that the node holds at least.
func (t *trial) killedUnderJob(ctx context.Context, n *node) (id string, held int, err error) {
	for life := 1; life <= 3; life++ {
		if err := n.start(ctx, nil); err != nil {
			return "", 0, err
		}
		if life == 1 {
			l, err := t.labour(ctx)
			if err != nil {
				return "", 0, err
			}
			j := job{name: "damaged", tasks: damageTasks, labour: l}
			file, err := j.write(t.dir)
			if err != nil {
				return "", 0, fmt.Errorf("writing a job: %w", err)
			}
			if id, err = n.verb(ctx, "run", file, "--detach"); err != nil {
				return "", 0, err
			}
		}
		if err := until(ctx, heldLimit, func() string {
			v, err := n.ask.job(ctx, id)
			if err != nil || v.Held < damageHeld*life {
				return fmt.Sprintf("%d results are held: %v", v.Held, err)
			}
			held = v.Held
			return ""
		}); err != nil {
			return "", 0, err
		}
		n.kill()
	}
	return id, held, nil
}

// startHarmed starts the node on a copy of its data in which a file is damaged. It returns what came of
// it, and an error if a promise is broken.
func (t *trial) startHarmed(ctx context.Context, n *node, whole, name string, harm func([]byte) []byte, id string,
	held int) (came string, err error) {
	if err := os.RemoveAll(n.dir); err != nil {
		return "", err
	}
	if err := os.CopyFS(n.dir, os.DirFS(whole)); err != nil {
		return "", err
	}
	path := filepath.Join(n.dir, name)
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, harm(b), 0o600)
	}
	if err != nil {
		return "", err
	}
	said := n.logSize()
	defer n.kill()
	if err := n.start(ctx, nil); err != nil {
		text := n.saidSince(said)
		if !strings.Contains(text, filepath.Base(name)) || !strings.Contains(text, "hint:") {
			return "does not start", fmt.Errorf("the node names neither file nor remedy:\n%s", text)
		}
		return "refuses to start, with file and remedy", nil
	}
	var v jobView
	err = until(ctx, backLimit, func() string { // other machines of the node may give the job back
		if v, err = n.ask.job(ctx, id); err != nil {
			return err.Error()
		}
		return ""
	})
	switch lossy := onlyThere(name); {
	case err != nil && !lossy:
		return "job lost", fmt.Errorf("the job is lost: %w", err)
	case err != nil:
		return "starts; the job was in this file alone", nil
	case v.Held < held && !lossy:
		return "results lost", fmt.Errorf("%d of %d results are left", v.Held, held)
	}
	return fmt.Sprintf("starts with %d of %d results", min(v.Held, held), held), nil
}

// onlyThere reports whether a file contains pairs that are in no other: damage to it may cost these.
func onlyThere(name string) bool {
	switch filepath.Ext(name) {
	case ".sst", ".blob", ".log":
		return strings.HasPrefix(name, storeName)
	}
	return false
}

// regularFiles lists the files of a directory that are to be damaged: all but locks.
func regularFiles(dir string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != "LOCK" {
			names = append(names, path)
		}
		return err
	})
	return names, err
}
