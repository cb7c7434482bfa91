package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
)

// An inputError is a file of this host that could not be read.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// supply sends the child the contents that it lacks for a task, and returns
// what to ask of it.
func (p *Pool) supply(c *child, t Task) (*runReq, error) {
	run := &runReq{Name: t.Name, Module: moduleKey(t.Module), Args: t.Args, Env: t.Env, Outputs: t.Outputs,
		Limits: t.Limits,
		Off:    t.Checkpoint.Off, Saves: t.Pages != nil, FreezeAt: t.FreezeAtFuel, ThawEvery: t.ThawEvery, Hash: t.StateHash,
		Tell: t.OnBegin != nil || t.Stages != nil, Staged: t.Stages != nil, FuelEvery: t.fuelEvery()}
	if !c.ready {
		if err := c.putModule(run.Module, t.ModulePath); err != nil {
			return nil, fmt.Errorf("module: %w", err)
		}
	}
	inputs := t.Files
	if t.Stdin != nil {
		inputs = append(inputs[:len(inputs):len(inputs)], *t.Stdin)
	}
	keys, err := p.putInputs(c, inputs)
	if err != nil {
		return nil, err
	}
	if t.Stdin != nil {
		run.Stdin = keys[len(t.Files)]
	}
	run.Files = make([]fileReq, len(t.Files))
	for i, f := range t.Files {
		run.Files[i] = fileReq{f.Name, keys[i]}
	}
	return run, nil
}

func moduleKey(module string) string { return "module/" + module }

// putInputs sends the inputs that the child does not hold, and returns the
// key of each.
func (p *Pool) putInputs(c *child, inputs []Input) ([]string, error) {
	keys := make([]string, len(inputs))
	total := int64(0)
	for i, in := range inputs {
		key, size, err := in.key(i)
		if err != nil {
			return nil, &inputError{fmt.Errorf("input file %q: %w", in.Name, err)}
		}
		if total += size; total > MaxInputs {
			return nil, &inputError{fmt.Errorf("inputs are over the limit of %d bytes", MaxInputs)}
		}
		keys[i] = key
	}
	if err := p.makeRoom(c, keys); err != nil {
		return nil, err
	}
	for i, in := range inputs {
		if _, ok := c.held[keys[i]]; ok {
			continue
		}
		if in.Path == "" {
			if err := writeFrame(c.in, request{Put: &put{Key: keys[i]}}, in.Data); err != nil {
				return nil, fmt.Errorf("sending input %q: %w", in.Name, err)
			}
		} else if err := c.putInput(keys[i], in.Path); err != nil {
			return nil, fmt.Errorf("input %q: %w", in.Name, err)
		}
	}
	return keys, nil
}

// key names an input's content. Data has no name of its own, so it is sent
// each time; a file is known by its path and what stat says.
func (in *Input) key(i int) (string, int64, error) {
	if in.Path == "" {
		return transient + strconv.Itoa(i), int64(len(in.Data)), nil
	}
	st, err := os.Stat(in.Path)
	if err != nil {
		return "", 0, err
	}
	return fmt.Sprintf("file/%s/%d/%d", in.Path, st.Size(), st.ModTime().UnixNano()), st.Size(), nil
}

// makeRoom lets the child forget what this task does not need, once it holds
// more than it may.
func (p *Pool) makeRoom(c *child, needed []string) error {
	held := int64(0)
	for _, n := range c.held {
		held += n
	}
	if held <= p.cfg.InputCache {
		return nil
	}
	keep := map[string]bool{}
	for _, k := range needed {
		keep[k] = true
	}
	var old []string
	for k := range c.held {
		if !keep[k] {
			old = append(old, k)
			delete(c.held, k)
		}
	}
	if len(old) == 0 {
		return nil
	}
	return writeFrame(c.in, request{Drop: &drop{old}})
}

// putModule sends a module, a file of this host.
func (c *child) putModule(key, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return &inputError{err}
	}
	defer f.Close()
	data, err := readAtMost(f, MaxModule+1)
	if err != nil {
		return &inputError{fmt.Errorf("reading %s: %w", path, err)}
	}
	if int64(len(data)) > MaxModule {
		return &inputError{fmt.Errorf("%s is over the limit of %d bytes", path, MaxModule)}
	}
	if err := writeFrame(c.in, request{Put: &put{Key: key}}, data); err != nil {
		return fmt.Errorf("sending %s: %w", path, err)
	}
	return nil
}

// readAtMost reads a file, at most n bytes of it, into one piece of memory of its
// size: a module has tens of megabytes, and growing as it comes copies them twice.
func readAtMost(f *os.File, n int64) ([]byte, error) {
	var b bytes.Buffer
	if st, err := f.Stat(); err == nil {
		b.Grow(int(min(st.Size(), n)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(f, n))
	return b.Bytes(), err
}
