package task

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// MaxConfirm bounds what a job says of the results that matter, in bytes.
const MaxConfirm = 512

// A Condition tells the results of a job that matter from the others: Verify.Confirm has its text.
// It reads
//
//	OUTPUT contains TEXT
//	OUTPUT matches REGEXP
//	OUTPUT exists
//	exit code N
//
// where OUTPUT is the name of an output, or a pattern of names, without spaces, and REGEXP an
// expression of RE2, which takes time in proportion to what it is matched with.
type Condition struct {
	output string // "" for an exit code
	how    string // one of the verbs
	text   []byte
	expr   *regexp.Regexp
	code   uint32
}

// The verbs of conditions.
const (
	verbContains = "contains"
	verbMatches  = "matches"
	verbExists   = "exists"
	exitCode     = "exit code "
)

// ParseCondition reads a condition.
func ParseCondition(s string) (*Condition, error) {
	if err := checkText("confirm", s, MaxConfirm); err != nil {
		return nil, err
	}
	if n, ok := strings.CutPrefix(s, exitCode); ok {
		code, err := strconv.ParseUint(strings.TrimSpace(n), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("exit code %s is not a whole number", quote(n))
		}
		return &Condition{code: uint32(code)}, nil
	}
	output, rest, _ := strings.Cut(s, " ")
	how, text, _ := strings.Cut(rest, " ")
	c := &Condition{output: output, how: how, text: []byte(text)}
	if err := checkPattern(output); err != nil {
		return nil, err
	}
	switch {
	case how == verbExists && text == "":
		return c, nil
	case how != verbContains && how != verbMatches:
		return nil, fmt.Errorf("%s is not understood", quote(s))
	case text == "":
		return nil, fmt.Errorf("%s does not say what the output %s", quote(s), how)
	case how == verbContains:
		return c, nil
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no regular expression: %w", quote(text), err)
	}
	c.expr = expr
	return c, nil
}

// Meets reports whether a result meets the condition. open opens the content of an output that is
// not empty.
func (c *Condition) Meets(r *Result, open func(*Output) (io.ReadCloser, error)) (bool, error) {
	if c.output == "" {
		return r.Outcome == Completed && c.code == 0 || r.Outcome == ExitFailure && r.ExitCode == c.code, nil
	}
	for i := range r.Outputs {
		o := &r.Outputs[i]
		if !MatchOutput([]string{c.output}, o.Name) {
			continue
		}
		if c.how == verbExists {
			return true, nil
		}
		if met, err := c.read(o, open); met || err != nil {
			return met, err
		}
	}
	return false, nil
}

// read reads one output.
func (c *Condition) read(o *Output, open func(*Output) (io.ReadCloser, error)) (bool, error) {
	var content io.Reader = strings.NewReader("")
	if o.Size > 0 {
		r, err := open(o)
		if err != nil {
			return false, err
		}
		defer r.Close()
		content = r
	}
	if c.how == verbContains {
		return contains(content, c.text)
	}
	in := &faulty{Reader: content}
	met := c.expr.MatchReader(bufio.NewReaderSize(in, readBytes))
	if in.err != nil {
		return false, fmt.Errorf("reading output %s: %w", quote(o.Name), in.err)
	}
	return met, nil
}

// readBytes is how much of an output is looked at at once.
const readBytes = 64 << 10

// contains reports whether a text is in what is read.
func contains(r io.Reader, text []byte) (bool, error) {
	buf := make([]byte, readBytes+len(text))
	kept := 0 // of what was read before, that a text may begin in
	for {
		n, err := r.Read(buf[kept:])
		n += kept
		if bytes.Contains(buf[:n], text) {
			return true, nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("reading an output: %w", err)
		}
		kept = min(n, len(text)-1)
		copy(buf, buf[n-kept:n])
	}
}

// faulty notes why a reader could not be read to its end, which regexp does not tell.
type faulty struct {
	io.Reader
	err error
}

// Read is that of io.Reader.
func (f *faulty) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// checkConfirm checks what a job says of the results that matter. Whether an expression is one is
// left to the submitter, who alone matches it: nodes of other versions may know other ones.
func (j *Job) checkConfirm() *fault {
	if j.Verify == nil || j.Verify.Confirm == "" {
		return nil
	}
	const hint = `write confirm: {when: "stdout contains FOUND"}`
	s := j.Verify.Confirm
	if f := checkText("confirm", s, MaxConfirm); f != nil {
		return f
	}
	if !isPrintable(s) {
		return faultf("confirm", hint, "confirm contains a character that cannot be seen")
	}
	if strings.HasPrefix(s, exitCode) {
		return nil
	}
	output, _, _ := strings.Cut(s, " ")
	if !MatchOutput(j.Outputs, output) {
		return faultf("confirm", "name one of the job's outputs", "%s is not among the job's outputs", quote(output))
	}
	return nil
}
