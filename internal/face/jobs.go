package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"godwit/internal/noop"
	"godwit/scheduler/message"
)

// hostileName is that of the job that is dropped: whoever shows it as markup runs it.
const hostileName = `"<img src=x onerror=document.title='run'>"`

// jobFiles writes the files of a job that is dropped: of examples/render where its module is given, else of one that is
// over at once.
func (f *face) jobFiles() ([]string, error) {
	dir := filepath.Join(f.dir, "job")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	text := "name: " + hostileName + "\nmodule: copy.wasm\nstdin: said.txt\nsweep:\n  n: {from: 1, to: 12}\n"
	files := map[string][]byte{"job.yaml": []byte(text), "copy.wasm": noop.Copying, "said.txt": []byte("copied")}
	if f.module != "" {
		module, err := os.ReadFile(f.module)
		if err != nil {
			return nil, err
		}
		files = map[string][]byte{"render.wasm": module}
		for _, name := range []string{"job.yaml", "scene.json"} {
			if files[name], err = os.ReadFile(filepath.Join("examples", "render", name)); err != nil {
				return nil, err
			}
		}
	}
	var paths []string
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// A point is a place in the window.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

const copies = 1 // of DragData.DragOperationsMask

// drop lets files fall on an element, as from a file manager.
func (t *tab) drop(at string, files []string) error {
	p, err := eval[point](t, `(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2}))(document.querySelector(`+quoted(at)+
		`).getBoundingClientRect())`)
	if err != nil {
		return err
	}
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: copies}
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		event := input.DispatchDragEventParams{Type: kind, X: p.X, Y: p.Y, Data: data}
		if err := tellTab(t, input.DispatchDragEvent, event); err != nil {
			return fmt.Errorf("dropping files: %w", err)
		}
	}
	return nil
}

// jobTime is how long the job may take.
const jobTime = 5 * time.Minute

func seeDrop(f *face) (string, error) {
	files, err := f.jobFiles()
	if err != nil {
		return "", err
	}
	if err := errors.Join(f.tab.visit("jobs"), f.tab.drop(".drop", files),
		f.tab.await(`location.hash.startsWith("#/jobs/")`)); err != nil {
		return "", err
	}
	hash, err := eval[string](f.tab, `location.hash`)
	if err != nil {
		return "", err
	}
	f.job = strings.TrimPrefix(hash, "#/jobs/")
	begun := time.Now()
	if err := f.halfway(); err != nil {
		return "", err
	}
	c := f.swarm.client(0)
	defer c.Close()
	ctx, cancel := context.WithTimeout(f.ctx, jobTime)
	defer cancel()
	var last message.JobStatus
	err = c.Watch(ctx, f.job, func(j message.JobStatus) bool { last = j; return true })
	if err != nil || last.Tasks.Done != last.Tasks.Total {
		return "", fmt.Errorf("%d of %d tasks are done: %w", last.Tasks.Done, last.Tasks.Total, err)
	}
	return fmt.Sprintf("%d tasks in %.0f s", last.Tasks.Done, time.Since(begun).Seconds()),
		f.tab.await(`document.querySelector("h1 small").innerText === "done"`)
}

// halfway takes pictures while the job runs, where they are wanted.
func (f *face) halfway() error {
	if f.pictures == "" || f.module == "" {
		return nil
	}
	const some = `document.querySelectorAll(".grid .is-done").length > 20`
	return errors.Join(f.tab.awaitFor(jobTime, some), f.picture("job-running"), f.tab.visit(""), f.picture("home-running"),
		f.tab.visit("jobs/"+f.job))
}

func seeResults(f *face) (string, error) {
	if err := f.tab.visit("jobs/" + f.job); err != nil {
		return "", err
	}
	dir := filepath.Join(f.dir, "fetched")
	if _, err := chromedp.CallBrowser(f.tab.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: "allow", DownloadPath: dir}); err != nil {
		return "", err
	}
	if err := f.tab.press("Fetch results"); err != nil {
		return "", err
	}
	path, err := f.fetched(dir)
	if err != nil {
		return "", err
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return "", fmt.Errorf("opening the results: %w", err)
	}
	defer z.Close()
	if len(z.File) == 0 {
		return "", errors.New("the archive is empty")
	}
	return fmt.Sprintf("%d files, such as %s", len(z.File), z.File[0].Name), nil
}

// fetched waits for a whole archive in a directory.
func (f *face) fetched(dir string) (string, error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(looking)
	defer again.Stop()
	for {
		if found, err := filepath.Glob(filepath.Join(dir, "*.zip")); err != nil || len(found) > 0 {
			return strings.Join(found, ""), err
		}
		select {
		case <-again.C:
		case <-deadline.C:
			return "", errors.New("no archive came")
		}
	}
}
