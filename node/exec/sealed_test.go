package exec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// keyed returns a key and its sealer.
func keyed(t *testing.T, fill byte) ([]byte, *seal.Sealer) {
	t.Helper()
	key := bytes.Repeat([]byte{fill}, task.KeySize)
	s, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, s
}

// holds reports whether content that is stored here has some bytes, its blocks one by one.
func holds(t *testing.T, b *blocks.Store, root task.CID, what []byte) bool {
	t.Helper()
	data, err := b.Get(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	found := bytes.Contains(data, what)
	if links, err := b.Tree(t.Context(), root); err == nil {
		for _, l := range links {
			found = found || holds(t, b, l.CID, what)
		}
	}
	return found
}

// A lease of a sealed job without its key, or with another, is refused with a reason, and
// nothing of the job is staged; with the key its input is.
func TestPreparesWithKeyAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost()
		x := h.executor(t, &filing{})
		key, sealer := keyed(t, 1)
		other, _ := keyed(t, 2)
		secret := bytes.Repeat([]byte("secret"), 100_000)
		c, size, err := h.blocks.Import(t.Context(), sealer.Sealing(bytes.NewReader(secret)))
		if err != nil {
			t.Fatal(err)
		}
		module, err := h.blocks.ImportBytes(t.Context(), []byte("not run"))
		if err != nil {
			t.Fatal(err)
		}
		h.job = &task.Job{Module: module, Files: []string{"in"}, Inputs: []task.FileRef{{Name: "in", CID: c, Size: size}},
			Sealed: task.KeyCommitment(key)}
		id := task.JobID(task.RawCID([]byte("job")))
		for _, tt := range []struct {
			key    []byte
			reason string
		}{{nil, task.ErrKey.Error()}, {other, task.ErrKey.Error()}, {key[:31], task.ErrKey.Error()}, {key, ""}} {
			heard := len(h.heard())
			h.do(x, message.Prepare{Job: id, Key: tt.key})
			synctest.Wait()
			said := h.heard()[heard:]
			if len(said) != 1 || said[0].(message.Prepared).Err != tt.reason {
				t.Fatalf("with the key %x: %+v, want %q", tt.key, said, tt.reason)
			}
			if n, _, _ := stagedFiles(t, h, x); tt.reason != "" && n > 0 {
				t.Errorf("with the key %x %d files are staged", tt.key, n)
			}
		}
		if got, err := os.ReadFile((&Run{Job: x.jobs.get(id)}).Input(c)); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("staged are %d bytes, %v; want %d", len(got), err, len(secret))
		}
	})
}

// What one job has staged and opened is no input of a job that names the same content with
// another key, or with none.
func TestStagedForKeyAlone(t *testing.T) {
	h := newFakeHost()
	x := h.executor(t, &Sleeper{})
	key, sealer := keyed(t, 1)
	otherKey, other := keyed(t, 2)
	secret := []byte("what only one overlay may read")
	sealed := sealer.SealFile(secret)
	c, err := h.blocks.ImportBytes(t.Context(), sealed)
	if err != nil {
		t.Fatal(err)
	}
	take := func(key []byte, s *seal.Sealer) (string, error) {
		j := &Job{spec: &task.Job{}}
		if key != nil {
			j.spec.Sealed = task.KeyCommitment(key)
		}
		path, err := x.jobs.files.take(t.Context(), j.input(c), blocks.Exactly(int64(len(sealed))), s)
		if err != nil {
			return "", err
		}
		b, err := os.ReadFile(path)
		return string(b), err
	}
	if got, err := take(key, sealer); got != string(secret) || err != nil {
		t.Fatalf("with its key: %q, %v", got, err)
	}
	if got, err := take(otherKey, other); !errors.Is(err, seal.ErrSealed) {
		t.Errorf("with another key: %q, %v", got, err)
	}
	if got, err := take(nil, nil); got != string(sealed) || err != nil {
		t.Errorf("without a key: %q, %v; want what is stored", got, err)
	}
	if n, _, counted := stagedFiles(t, h, x); n != 2 || counted != 2*int64(len(sealed)) {
		t.Errorf("%d files are staged, %d bytes are counted", n, counted)
	}
}

// Outputs are sealed, also those in the result, and are the same whoever runs the task.
func TestOutputsSealed(t *testing.T) {
	h := newFakeHost()
	x := h.executor(t, &Sleeper{})
	_, sealer := keyed(t, 1)
	files := []sandbox.File{{Name: "empty"}, {Name: "large", Data: bytes.Repeat([]byte("secret"), 100_000)},
		{Name: "most", Data: bytes.Repeat([]byte("secret"), task.MaxInline)}, {Name: "small", Data: []byte("secret")}}
	var digests []task.Digest
	for range 2 {
		out, err := x.keepOutputs(t.Context(), sealer, files)
		if err != nil {
			t.Fatal(err)
		}
		r := task.Result{Task: task.TaskID{Job: new(task.Record).ID()}, Outcome: task.Completed, Outputs: out}
		if err := r.Sign(x.Key); err != nil {
			t.Fatal(err)
		}
		digests = append(digests, r.Digest())
		for i, o := range out {
			b := o.Inline
			if len(b) == 0 {
				b = readStored(t, h.blocks, o)
			}
			got, err := sealer.OpenFile(b)
			if err != nil || !bytes.Equal(got, files[i].Data) || bytes.Contains(b, []byte("secret")) {
				t.Errorf("%s: %d bytes that open to %d, %v", o.Name, len(b), len(got), err)
			}
			if o.Size != sealer.Size(int64(len(files[i].Data))) {
				t.Errorf("%s has %d bytes, it is said", o.Name, o.Size)
			}
		}
	}
	if digests[0] != digests[1] {
		t.Error("two runs of a task do not agree")
	}
}

func readStored(t *testing.T, b *blocks.Store, o task.Output) []byte {
	t.Helper()
	data, err := readAll(t.Context(), b, o.CID, blocks.Exactly(o.Size))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A checkpoint is sealed, manifest, pages and the names of pages; pages that did not change
// are the same blocks in the next; who has the key goes on from it, and nobody else.
func TestCheckpointSealed(t *testing.T) {
	h := newFakeHost()
	page := func(text string) ([32]byte, []byte) {
		b := []byte(strings.Repeat(text, 1000))
		return sha256.Sum256(b), b
	}
	h1, p1 := page("secret one ")
	h2, p2 := page("secret two ")
	h3, p3 := page("secret three ")
	states := map[string][][32]byte{"secret first": {h1, h2}, "secret second": {h1, h3}}
	x := h.executor(t, &pagedSleeper{of: func(m []byte) ([][32]byte, error) { return states[string(m)], nil }})
	_, sealer := keyed(t, 1)
	_, other := keyed(t, 2)

	kept := x.newPages(t.Context(), sealer)
	var roots []task.CID
	for _, s := range []struct {
		manifest string
		pages    map[[32]byte][]byte
	}{{"secret first", map[[32]byte][]byte{h1: p1, h2: p2}}, {"secret second", map[[32]byte][]byte{h1: p1, h3: p3}}} {
		for hash, b := range s.pages {
			if err := kept.Put(hash, b); err != nil {
				t.Fatal(err)
			}
		}
		root, err := kept.tree([]byte(s.manifest))
		if err != nil {
			t.Fatal(err)
		}
		if holds(t, h.blocks, root, []byte("secret")) {
			t.Error("a block of the state can be read")
		}
		roots = append(roots, root)
	}
	links := map[task.CID]int{}
	for _, root := range roots {
		all, err := h.blocks.Tree(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			links[l.CID]++
			for _, hash := range [][32]byte{h1, h2, h3} {
				if none := (*seal.Sealer)(nil); l.Name == none.Name(hash) {
					t.Error("a page is named by its hash")
				}
			}
		}
	}
	if len(links) != 5 {
		t.Errorf("two manifests and three pages are %d blocks", len(links))
	}

	bring := func(s *seal.Sealer) (*pageStore, []byte, error) {
		pages := x.newPages(t.Context(), s)
		m, err := x.bringCheckpoint(t.Context(), message.Start{From: &message.Checkpoint{CID: roots[1]}}, pages)
		return pages, m, err
	}
	pages, m, err := bring(sealer)
	if err != nil || string(m) != "secret second" {
		t.Fatalf("with its key: %q, %v", m, err)
	}
	if b, err := pages.Get(h3); err != nil || !bytes.Equal(b, p3) {
		t.Errorf("a page has %d bytes, %v; want %d", len(b), err, len(p3))
	}
	for name, s := range map[string]*seal.Sealer{"another": other, "no": nil} {
		if _, m, err := bring(s); err == nil && len(states[string(m)]) > 0 {
			t.Errorf("with %s key: %q", name, m)
		}
	}
	if _, _, err := bring(other); !errors.Is(err, errBad) {
		t.Errorf("a state that does not open is not called bad: %v", err)
	}
}

// A page that its worker did not seal is as good as one with other bytes: the state is bad, and
// not this machine's disk.
func TestUnsealedPage(t *testing.T) {
	h := newFakeHost()
	hash := sha256.Sum256([]byte("page"))
	x := h.executor(t, &pagedSleeper{of: func([]byte) ([][32]byte, error) { return [][32]byte{hash}, nil }})
	_, sealer := keyed(t, 1)
	c, err := h.blocks.ImportBytes(t.Context(), []byte("a page that nobody sealed"))
	if err != nil {
		t.Fatal(err)
	}
	pages := x.newPages(context.Background(), sealer)
	pages.links[hash] = blocks.Link{Name: sealer.Name(hash), CID: c, Size: 25}
	if b, err := pages.Get(hash); err != nil || string(b) == "page" || pages.failed.Load() {
		t.Errorf("it is %q, %v, and the disk failed: %v", b, err, pages.failed.Load())
	}
	if err := h.blocks.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := pages.Get(hash); !errors.Is(err, blocks.ErrNotFound) || !pages.failed.Load() {
		t.Errorf("a page that is gone: %v, and the disk failed: %v", err, pages.failed.Load())
	}
}
