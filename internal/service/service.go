// Package service has the system start a node: as a systemd unit, an agent of launchd, or a scheduled task of Windows.
//
// What a system is told is text (a unit) and commands; both are made here without asking which system this is, so that
// tests look at all of them on any. [Manager.Install], [Manager.Remove] and [Manager.Status] carry them out.
package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// mark stands in each file that is written here, so that nobody else's is written over or removed.
const mark = "godwit service install"

// patience is how long one command of the system's manager may take: stopping a node waits for what it hands over.
const patience = 2 * time.Minute

// Errors that callers tell apart.
var (
	// ErrForeign is returned by Install and Remove where somebody else wrote the file.
	ErrForeign = errors.New("the file was not written by `godwit service install`")
	// ErrUnsupported is returned by For where the system has no service that is known here.
	ErrUnsupported = errors.New("services are known of systemd, launchd and Windows")
	// ErrBadWord is returned where a path or an argument has a control character, which units cannot hold.
	ErrBadWord = errors.New("has a control character")
)

// A Spec is a node that the system is to start.
type Spec struct {
	Program string   // absolute path of the program
	DataDir string   // absolute path of the node's data directory
	Args    []string // further arguments of `godwit up`
	System  bool     // for the machine, not for a user: of systemd alone
	Home    string   // of the user, absolute
	Config  string   // where the user's configuration lies, absolute; systemd alone
	UID     int      // of the user; launchd alone
	Linger  bool     // to run also while the user is logged out; systemd alone
}

// words are the command line.
func (s *Spec) words() []string {
	return append([]string{s.Program, "up", "--data-dir", s.DataDir}, s.Args...)
}

// check refuses what a unit cannot hold.
func (s *Spec) check() error {
	for _, w := range s.words() {
		if strings.ContainsFunc(w, unicode.IsControl) {
			return fmt.Errorf("%q %w", w, ErrBadWord)
		}
	}
	return nil
}

// A plan is what one system is told of a node.
type plan struct {
	file            string // "" where the system keeps the text itself
	text            string
	reload          []string   // after the file changed; nil for none
	start, restart  [][]string // of what was there before; of what changed
	stop            [][]string // failures do not matter
	enabled, active []string   // they end with code 0 where it is so
}

// For plans the service of a node for a system, by the names of GOOS.
func For(goos string, s Spec) (*Manager, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	m := &Manager{Do: run}
	switch {
	case goos == "linux":
		m.plan = systemd(&s)
	case s.System:
		return nil, fmt.Errorf("%w, and of the whole machine by systemd alone", ErrUnsupported)
	case goos == "darwin":
		m.plan = launchd(&s)
	case goos == "windows":
		m.plan = schedule(&s)
	default:
		return nil, ErrUnsupported
	}
	return m, nil
}

// A Manager installs one service, removes it and looks at it.
type Manager struct {
	// Do runs a command and returns an error with what it said; tests put their own here.
	Do   func(ctx context.Context, argv []string) error
	plan plan
}

// File is the path of the unit.
func (m *Manager) File() string { return m.plan.file }

// Text is what stands in it.
func (m *Manager) Text() string { return m.plan.text }

// A Status is what the system says of a service.
type Status struct {
	Installed bool   `json:"installed"`
	Enabled   bool   `json:"enabled"` // starts by itself
	Running   bool   `json:"running"`
	File      string `json:"file"`
}

// Status asks the system. Where it does not answer, nothing is enabled or running.
func (m *Manager) Status(ctx context.Context) (Status, error) {
	_, found, err := m.written()
	s := Status{Installed: found, File: m.plan.file}
	if err != nil || !found {
		return s, err
	}
	s.Enabled = m.Do(ctx, m.plan.enabled) == nil
	s.Running = m.Do(ctx, m.plan.active) == nil
	return s, nil
}

// written is the file as it is, and whether it is there.
func (m *Manager) written() (text string, found bool, err error) {
	b, err := os.ReadFile(m.plan.file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("reading the service's file: %w", err)
	case !strings.Contains(string(b), mark):
		return "", true, fmt.Errorf("%s: %w", m.plan.file, ErrForeign)
	}
	return string(b), true, nil
}

// Install writes the file, and has the system start the node now and from now on. Done again, it changes nothing; a
// file that changed restarts the node. Where the system refuses, the file is as before.
func (m *Manager) Install(ctx context.Context) (changed bool, err error) {
	before, found, err := m.written()
	if err != nil {
		return false, err
	}
	changed = before != m.plan.text
	then := m.plan.start
	if changed {
		if err := replace(m.plan.file, m.plan.text); err != nil {
			return false, fmt.Errorf("writing the service's file: %w", err)
		}
		then = m.plan.restart
		if m.plan.reload != nil {
			then = append([][]string{m.plan.reload}, then...)
		}
	}
	for _, argv := range then {
		if err := m.Do(ctx, argv); err != nil {
			return changed, errors.Join(err, m.restore(ctx, changed, found, before))
		}
	}
	return changed, nil
}

// restore puts back what was there before an installation that failed.
func (m *Manager) restore(ctx context.Context, changed, found bool, before string) error {
	switch {
	case !changed:
		return nil
	case found:
		return replace(m.plan.file, before)
	}
	_, err := m.Remove(ctx)
	return err
}

// Remove stops the node and takes the file away. What the node keeps stays.
func (m *Manager) Remove(ctx context.Context) (found bool, err error) {
	if _, found, err = m.written(); err != nil || !found {
		return found, err
	}
	for _, argv := range m.plan.stop {
		_ = m.Do(ctx, argv) // it may not run, or the system's manager may be gone: the file goes all the same
	}
	if err := os.Remove(m.plan.file); err != nil {
		return true, fmt.Errorf("removing the service's file: %w", err)
	}
	if m.plan.reload != nil {
		_ = m.Do(ctx, m.plan.reload)
	}
	return true, nil
}

// replace writes a file as a whole, or not at all.
func replace(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	next := path + ".new"
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil { // no secret: systemd wants it readable
		return err
	}
	return os.Rename(next, path)
}

// run runs a command.
func run(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err == nil {
		return nil
	}
	said := strings.TrimSpace(string(out))
	if said == "" {
		return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, said)
}
