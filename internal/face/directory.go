package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"

	"godwit/internal/noop"
	"godwit/scheduler/message"
	"godwit/task"
)

// A tree is a directory with a job file, to be handed in as it is.
type tree struct {
	name  string
	files map[string]string // contents by name
	tasks uint64
	last  string // what the last task prints
	// dropped has it fall on the page; else it is chosen
	dropped bool
}

// trees are jobs that name more than files: stages, a directory, patterns, and tables whose rows name files.
func trees() []tree {
	return []tree{
		{"stages", map[string]string{
			"job.yaml": "name: stages\nstages:\n  say:\n    module: bin/copy.wasm\n    stdin: in/said.txt\n" +
				"    files: [in/, 'more/**/[a-b]?.txt']\n    sweep: {n: [1, 2]}\n" +
				"  again: {module: bin/copy.wasm, each: say, stdin: '{{.say}}/stdout'}\n",
			"bin/copy.wasm": string(noop.Copying), "in/said.txt": "said in stages", "in/deep/.hidden": "h",
			"more/a1.txt": "1", "more/x/b2.txt": "2", "more/c3.txt": "not named", "other.yaml": "not: the job file"},
			4, "said in stages", false},
		{"tables", map[string]string{
			"job.yaml": "name: tables\nmodule: copy.wasm\nstdin: '{{.case.file}}'\n" +
				"sweep:\n  case: {csv: cases.csv}\n  each: {files: 'in/*.txt'}\n",
			"copy.wasm": string(noop.Copying), "cases.csv": "file,n\nsaid/1.txt,1\nsaid/2.txt,2\n", "said/1.txt": "first",
			"said/2.txt": "second", "in/a.txt": "a", "in/b.txt": "b", "in/c.png": "not named"},
			4, "second", true},
	}
}

// write makes the directory below dir, and returns it.
func (t *tree) write(dir string) (string, error) {
	dir = filepath.Join(dir, t.name)
	for name, content := range t.files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// choose gives files, or a directory, to an input of the page.
func (t *tab) choose(at string, paths ...string) error {
	return t.do(chromedp.SetUploadFiles(chromedp.CSS(at), paths))
}

const (
	filesInput     = `.drop input:not([webkitdirectory])`
	directoryInput = `.drop input[webkitdirectory]`
)

// seeDirectory hands in directories, and files without theirs, which the page refuses with a way out.
func seeDirectory(f *face) (string, error) {
	if err := f.seePatterns(); err != nil {
		return "", err
	}
	for i, t := range trees() {
		dir, err := t.write(f.dir)
		if err != nil {
			return "", err
		}
		if err := f.tab.visit("jobs"); err != nil {
			return "", err
		}
		if i == 0 {
			loose := []string{filepath.Join(dir, "job.yaml"), filepath.Join(dir, "bin", "copy.wasm")}
			if err := errors.Join(f.tab.choose(filesInput, loose...), f.tab.await(`[...document.querySelectorAll(`+
				`".drop .trouble code")].some(e => e.innerText === "godwit run")`)); err != nil {
				return "", fmt.Errorf("a job file without its directory: %w", err)
			}
		}
		give := func() error { return f.tab.choose(directoryInput, dir) }
		if t.dropped {
			give = func() error { return f.tab.drop(".drop", []string{dir}) }
		}
		if err := errors.Join(give(), f.tab.await(`location.hash.startsWith("#/jobs/")`)); err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
		hash, err := eval[string](f.tab, `location.hash`)
		if err == nil {
			err = f.ended(strings.TrimPrefix(hash, "#/jobs/"), &t)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return fmt.Sprintf("%d jobs, each a directory", len(trees())), nil
}

// ended waits until a job is over, and holds it to what it is to come to.
func (f *face) ended(job string, want *tree) error {
	c := f.swarm.client(0)
	defer c.Close()
	ctx, cancel := context.WithTimeout(f.ctx, jobTime)
	defer cancel()
	var last message.JobStatus
	err := c.Watch(ctx, job, func(j message.JobStatus) bool { last = j; return true })
	if err != nil || last.Tasks.Done != want.tasks || last.Tasks.Total != want.tasks || last.Name != want.name {
		return fmt.Errorf("of %q %d of %d tasks are done, want %d: %w", last.Name, last.Tasks.Done, last.Tasks.Total,
			want.tasks, err)
	}
	r, err := c.OpenOutput(ctx, job, want.tasks-1, task.Stdout)
	if err != nil {
		return err
	}
	defer r.Close()
	printed, err := io.ReadAll(io.LimitReader(r, 1<<10))
	if err != nil || string(printed) != want.last {
		return fmt.Errorf("the last task printed %q, want %q: %w", printed, want.last, err)
	}
	return nil
}

// A verdict is what the page says of a pattern and a name.
type verdict struct {
	Of, Name string
	Is       bool
}

// seePatterns holds the page's patterns of files to task.MatchFile, and to its time: a pattern that tries all ways would
// take hours for the hostile ones.
func (f *face) seePatterns() error {
	hostile := []verdict{{Of: strings.Repeat("**/", 10) + "b", Name: strings.Repeat("a/", 60) + "a"},
		{Of: strings.Repeat("*a", 60) + "*b", Name: strings.Repeat("a", 255)}}
	vectors := filepath.Join("task", "testdata", "globs.json")
	text, err := os.ReadFile(vectors)
	if errors.Is(err, fs.ErrNotExist) { // a test's directory is its package's
		text, err = os.ReadFile(filepath.Join("..", "..", vectors))
	}
	if err != nil {
		return fmt.Errorf("reading patterns, at the top of the project: %w", err)
	}
	all, err := eval[[]verdict](f.tab, `import("/ui/globs.js").then(m => { const {names, matches} = `+string(text)+`
		return [...Object.keys(matches).flatMap(of => names.map(name => [of, name])), `+
		fmt.Sprintf("[%s, %s], [%s, %s]", quoted(hostile[0].Of), quoted(hostile[0].Name), quoted(hostile[1].Of),
			quoted(hostile[1].Name))+`].map(([of, name]) => ({Of: of, Name: name, Is: m.matcher(of)(name)})) })`)
	if err != nil || len(all) < 100 {
		return fmt.Errorf("%d answers about patterns: %w", len(all), err)
	}
	for _, s := range all {
		if want := task.MatchFile(s.Of, s.Name); s.Is != want {
			err = errors.Join(err, fmt.Errorf("that %q matches %q is %v on the page, %v elsewhere", s.Of, s.Name, s.Is, want))
		}
	}
	return err
}
