package sandbox

import (
	"context"
	"errors"
	"fmt"

	"godwit/task"
)

// A module from a stranger is validated in a child process. Validation runs the engine's decoder and compiler, and this
// package's own pass, on hostile bytes: a fault there, or a module that takes too much memory or time, must end neither
// a node nor a command.

// checkKey is the key under which a child gets the module to validate.
const checkKey = "check"

// plainPriority in a child's environment keeps the child at its parent's priority: a user waits for it, or the owner wants
// it so.
const plainPriority = "GODWIT_SANDBOX_PRIORITY=plain"

// A checkReq has the child validate a module that it was sent.
type checkReq struct {
	Freezable bool `json:"freezable,omitempty"` // also find out whether the module can be frozen
}

// A checked is the child's answer.
type checked struct {
	Kind   ModuleErrorKind `json:"kind,omitempty"` // 0 if the module can run
	Reason string          `json:"reason,omitempty"`
	Hint   string          `json:"hint,omitempty"`
	WhyNot string          `json:"why_not,omitempty"` // why the module cannot be frozen
}

// Check is CheckModule in a child process of its own, which runs even while tasks are suspended. With freezable it also
// returns why the module cannot be frozen, "" if it can. The error is a *ModuleError if the module cannot run here,
// including one that takes the child too much memory or time.
func (p *Pool) Check(ctx context.Context, wasm []byte, freezable bool) (whyNot string, err error) {
	if int64(len(wasm)) > MaxModule {
		return "", CheckSections(wasm)
	}
	select {
	case p.checks <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-p.checks }()
	c, err := p.take("", &Tenant{}, 0)
	if err == nil {
		c, err = p.launch("", true, plainPriority)
	}
	if err != nil {
		return "", err
	}
	defer p.discard(c)
	defer context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })()
	answer, err := p.askCheck(c, wasm, freezable)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		_ = c.cmd.Process.Kill()
		<-c.exited
		if rep := c.postMortem(err); rep.Outcome == task.OutOfMemory {
			return "", invalid(TooLarge, "", "the module takes too much memory to validate")
		} else if p.isClosed() {
			return "", ErrClosed
		}
		return "", fmt.Errorf("sandbox: validating a module: %w: %s", err, clip(c.stderr.String()))
	case answer.Kind != 0:
		return "", &ModuleError{answer.Kind, clip(answer.Reason), clip(answer.Hint)}
	}
	return clip(answer.WhyNot), nil
}

// askCheck sends a module to a child that was just launched, and reads its answer.
func (p *Pool) askCheck(c *child, wasm []byte, freezable bool) (*checked, error) {
	c.once = int64(len(wasm))
	if err := p.limitMemory(c, Limits{}.withDefaults()); err != nil {
		p.cfg.Log.Warn("a sandbox's memory is not limited", "err", err)
	}
	if err := writeFrame(c.in, request{Put: &put{Key: checkKey}}, wasm); err != nil {
		return nil, fmt.Errorf("sending the module: %w", err)
	}
	if err := writeFrame(c.in, request{Check: &checkReq{freezable}}); err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	for {
		var e event
		if _, err := readFrame(c.out, &e, 0); err != nil {
			return nil, fmt.Errorf("waiting for the answer: %w", err)
		}
		switch {
		case e.Wall != nil: // comes first of all
		case e.Checked != nil && e.Checked.Kind <= Unsupported:
			return e.Checked, nil
		case e.End != nil: // of limitLoad
			return &checked{Kind: TooLarge, Reason: e.End.Message}, nil
		default:
			return nil, errors.New("the sandbox process answered what was not asked")
		}
	}
}

// check validates the module that came under checkKey, and answers.
func (s *server) check(r *checkReq) error {
	wasm := s.contents[checkKey]
	s.before = cpuTime()
	stop := s.limitLoad(wasm)
	var answer checked
	err := CheckModule(wasm)
	var bad *ModuleError
	switch {
	case errors.As(err, &bad):
		answer.Kind, answer.Reason, answer.Hint = bad.Kind, clip(bad.Reason), clip(bad.Hint)
	case err != nil:
		answer.Kind, answer.Reason = Malformed, clip(err.Error())
	case r.Freezable:
		if err := CheckFreezable(wasm); err != nil {
			answer.WhyNot = clip(err.Error())
		}
	}
	stop()
	return s.out.event(event{Checked: &answer})
}

// CheckIn is Pool.Check with a pool that exists only for this call. command is that of Config.
func CheckIn(ctx context.Context, command []string, wasm []byte, freezable bool) (whyNot string, err error) {
	p := NewPool(Config{Command: command})
	defer p.Close()
	return p.Check(ctx, wasm, freezable)
}
