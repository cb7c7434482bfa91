package sandbox

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"godwit/task"
)

// cached lists the entries in a store's directory.
func cached(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What a first process makes of a module is there for the next: it compiles nothing, and makes nothing new.
func TestEntriesServeTheNextProcess(t *testing.T) {
	dir := t.TempDir()
	alone := func(c *Config) { c.CacheDir, c.MaxIdle = dir, -1 }
	tk := noop.task(t, "a")
	run(t, newTestPool(t, alone), tk)
	files := cached(t, dir)
	if len(files) != 2 {
		t.Fatalf("kept are %v, want a verdict and code", files)
	}
	before := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		before[f] = b
	}
	code, cache, err := newCodeCache()
	if err != nil {
		t.Fatalf("the engine takes no code: %v", err)
	}
	e := &engine{engineKind: engineKind{cache: code, behind: cache}}
	store, err := openEntries(dir)
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := os.ReadFile(tk.ModulePath)
	if err != nil {
		t.Fatal(err)
	}
	l := loading{sum: sha256.Sum256(wasm)}
	maker := makerOf(newTestPool(t).cfg.Command, false)
	l.verdict = keptIn(store, store.path(l.sum, maker, verdictPart))
	l.code = keptIn(store, store.path(l.sum, maker, codePart))
	if m, err := e.load(t.Context(), wasm, l); err != nil || m.verdict != nil || m.code != nil {
		t.Errorf("loading it again made %v, %v", m, err)
	}
	e.unload(t.Context())
	run(t, newTestPool(t, alone), tk)
	for f, was := range before {
		if b, err := os.ReadFile(f); err != nil || !bytes.Equal(b, was) {
			t.Errorf("%s has changed: %v", f, err)
		}
	}
	st, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil || st.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("the key: %v, %v", st, err)
	}
}

// Code that was not made of a module, or not marked, is never run: an entry of another module in its place, one
// that was
// changed, one of another key.
func TestForgedEntryIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	alone := func(c *Config) { c.CacheDir, c.MaxIdle = dir, -1 }
	honest, thief := noop.task(t, "a"), exit(3).task(t, "a")
	run(t, newTestPool(t, alone), honest)
	files := cached(t, dir)
	if rep := run(t, newTestPool(t, alone), thief); rep.ExitCode != 3 {
		t.Fatalf("the other program: %v", rep)
	}
	for _, f := range cached(t, dir) {
		for _, of := range files { // the thief's under the honest one's name
			if f[len(f)-1] != of[len(of)-1] || f == of {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(of, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if rep := run(t, newTestPool(t, alone), honest); rep.Outcome != task.Completed || rep.ExitCode != 0 {
		t.Errorf("with another module's code: %v %d %q", rep.Outcome, rep.ExitCode, rep.Message)
	}
	store, err := openEntries(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		whole, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if keptIn(store, f) == nil {
			t.Errorf("%s does not bear the mark", f)
		}
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 1
		for _, b := range [][]byte{nil, whole[:10], whole[:len(whole)-1], flipped, append(whole[:len(whole):len(whole)], 0)} {
			if err := os.WriteFile(f, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if keptIn(store, f) != nil {
				t.Errorf("%d of %d bytes count as whole", len(b), len(whole))
			}
		}
		if err := os.WriteFile(f, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		other := &entries{dir, bytes.Repeat([]byte{1}, keySize)}
		if keptIn(other, f) != nil {
			t.Errorf("%s bears the mark of any key", f)
		}
	}
}

// A process can have nothing kept once its module is loaded, when its guest may have taken it over; nor more than its
// share, nor an entry that there is not.
func TestEntriesAreTakenWhileLoadingOnly(t *testing.T) {
	dir := t.TempDir()
	store, err := openEntries(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := &conversation{c: &child{made: &makings{entries: store, maker: "m", most: 8}}}
	hear := func(e event, body string) string {
		if err := v.hear(e, []byte(body)); err != nil {
			return err.Error()
		}
		return ""
	}
	if why := hear(event{Made: parts}, "x"); why == "" {
		t.Error("an entry of an unknown kind was taken")
	}
	if why := hear(event{Made: verdictPart}, "1234") + hear(event{Made: verdictPart}, "5678"); why != "" {
		t.Error(why)
	}
	if why := hear(event{Made: codePart}, "12345678") + hear(event{Made: codePart}, "9"); why != "" {
		t.Error(why)
	}
	if why := hear(event{Loaded: true}, ""); why != "" {
		t.Error(why)
	}
	for name, e := range map[string]event{"code": {Made: codePart}, "the end of loading": {Loaded: true}} {
		if why := hear(e, "late"); !strings.Contains(why, "sandbox process") {
			t.Errorf("%s after that: %q", name, why)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 { // the key and the verdict
		t.Errorf("kept are %v, %v", files, err)
	}
	if got := keptIn(store, store.path([sha256.Size]byte{}, "m", verdictPart)); string(got) != "12345678" {
		t.Errorf("the verdict is %q", got)
	}
}

func TestStreamFrame(t *testing.T) {
	var b bytes.Buffer
	body := strings.Repeat("0123456789", 20_000)
	if err := sendFrame(&b, request{Put: &put{Key: "k"}}, iotest.HalfReader(strings.NewReader(body)),
		int64(len(body))); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := writeFrame(&want, request{Put: &put{Key: "k"}}, []byte(body)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want.Bytes()) {
		t.Error("a frame that is streamed differs from one that is written")
	}
	if err := sendFrame(&b, request{}, strings.NewReader("short"), 6); err == nil {
		t.Error("a body that ends early is no error")
	}
}

// Where the owner wants it modules are interpreted: no machine code is made, and results are the same. It holds
// from the
// next task on.
func TestStrict(t *testing.T) {
	dir, strict := t.TempDir(), true
	p := newTestPool(t, func(c *Config) { c.CacheDir, c.Interpret = dir, func() bool { return strict } })
	tk := noop.task(t, "a")
	if rep := run(t, p, tk); rep.Outcome != task.Completed {
		t.Errorf("interpreted: %v %q", rep.Outcome, rep.Message)
	}
	if files := cached(t, dir); len(files) != 1 || !strings.HasSuffix(files[0], "-1") {
		t.Errorf("kept are %v, want a verdict alone", files)
	}
	strict = false
	if rep := run(t, p, tk); rep.Outcome != task.Completed {
		t.Errorf("compiled: %v %q", rep.Outcome, rep.Message)
	}
	if files := cached(t, dir); len(files) != 3 {
		t.Errorf("kept are %v, want code too", files)
	}
}
