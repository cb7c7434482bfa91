package sandbox

import (
	"bytes"
	"crypto/sha256"
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
		Limits: t.Limits, Spacing: t.Spacing, Meets: t.Due != nil,
		Off: t.Checkpoint.Off, Saves: t.Pages != nil, FreezeAt: t.FreezeAtFuel, ThawEvery: t.ThawEvery, Hash: t.StateHash,
		Ready: t.ready,
		Tell:  t.OnBegin != nil || t.Stages != nil, Staged: t.Stages != nil, FuelEvery: t.fuelEvery(), Keeps: t.keeps()}
	_, run.Unkept = t.Pages.(Unkept)
	c.once = 0
	if !c.ready {
		sum, err := p.putModule(c, run.Module, t.ModulePath)
		if err != nil {
			return nil, fmt.Errorf("module: %w", err)
		}
		run.Sum, run.Compilers = sum[:], p.compilers()
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
			c.once += int64(len(in.Data))
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

// putModule sends a module, and what is kept of it. It returns the module's SHA-256.
func (p *Pool) putModule(c *child, key, path string) (sum [sha256.Size]byte, err error) {
	data, err := readFile(path, MaxModule)
	if err != nil {
		return sum, err
	}
	sum = sha256.Sum256(data)
	if err := writeFrame(c.in, request{Put: &put{Key: key}}, data); err != nil {
		return sum, fmt.Errorf("sending %s: %w", path, err)
	}
	c.once += int64(len(data))
	c.made = &makings{entries: p.entries, module: sum, maker: makerOf(p.cfg.Command, c.strict),
		most: maxEntry(int64(len(data)))}
	if p.entries == nil {
		return sum, nil
	}
	for n := noPart + 1; n < parts; n++ {
		if err := c.putEntry(n); err != nil {
			return sum, fmt.Errorf("sending what is kept of %s: %w", path, err)
		}
	}
	return sum, nil
}

// putEntry sends an entry, if there is one. The child uses nothing of it before it gets a task: one that does not bear
// the mark is taken back.
func (c *child) putEntry(n part) error {
	e, err := c.made.open(n)
	if err != nil {
		return nil
	}
	err = sendFrame(c.in, request{Put: &put{Key: n.key()}}, e, e.size)
	genuine := e.check()
	if err != nil {
		return err
	}
	if !genuine {
		return writeFrame(c.in, request{Drop: &drop{[]string{n.key()}}})
	}
	c.once += e.size
	return nil
}

// readFile reads a file of this host, of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &inputError{err}
	}
	defer f.Close()
	data, err := readAtMost(f, limit+1)
	if err != nil {
		return nil, &inputError{fmt.Errorf("reading %s: %w", path, err)}
	}
	if int64(len(data)) > limit {
		return nil, &inputError{fmt.Errorf("%s is over the limit of %d bytes", path, limit)}
	}
	return data, nil
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
