package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ErrSilent is returned for a node that accepts a connection and sends nothing, such as one whose process is stopped.
var ErrSilent = errors.New("api: the node does not answer")

const (
	// dialTime bounds the time in which a client connects to a node.
	dialTime = 10 * time.Second
	// graceTime is how much longer than the node itself a client waits: the node's answer says more.
	graceTime = 30 * time.Second
)

// patience is a request's time limit at the client: it ends if nothing is sent or received for a while.
type patience struct {
	limit  time.Duration
	late   *time.Timer
	cancel context.CancelCauseFunc
}

// newPatience returns a context of a request that ends with patience. A node may take longTime for requests that change
// something, and writes more often while it answers.
func newPatience(ctx context.Context, method string) (context.Context, *patience) {
	p := &patience{limit: answerTime + graceTime}
	if method != http.MethodGet && method != http.MethodHead {
		p.limit = longTime + graceTime
	}
	ctx, p.cancel = context.WithCancelCause(ctx)
	p.late = time.AfterFunc(p.limit, func() { p.cancel(fmt.Errorf("%w: it sent nothing for %v", ErrSilent, p.limit)) })
	return ctx, p
}

// end ends a request.
func (p *patience) end() {
	p.late.Stop()
	p.cancel(nil)
}

// why returns err, or ErrSilent if the request with that context ended because of it.
func why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && err != io.EOF && errors.Is(cause, ErrSilent) {
		return cause
	}
	return err
}

// A patientBody is the body of a request, or of its answer if whole is set: the request ends with it then.
type patientBody struct {
	io.ReadCloser
	*patience
	ctx   context.Context
	whole bool
}

func (b *patientBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if n > 0 {
		b.late.Reset(b.limit)
	}
	return n, why(b.ctx, err)
}

func (b *patientBody) Close() error {
	err := b.ReadCloser.Close()
	if b.whole {
		b.end()
	}
	return err
}
