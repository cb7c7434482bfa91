package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"godwit/api/door"
	"godwit/task"
)

const (
	// answerTime is the time limit of a request without progress: no byte is read from the client or written to it. It
	// suffices for a node on a busy machine. Streams write more often.
	answerTime = time.Minute
	// longTime is answerTime of the requests in longRoutes.
	longTime = 15 * time.Minute
	// bodyTime is the longest pause in the body of a request, and writeTime the time limit for the client to take
	// writePart bytes of an answer.
	bodyTime  = time.Minute
	writeTime = 30 * time.Second
	writePart = 64 << 10
)

// longRoutes are the requests that import and compile files, or wait for other members.
var longRoutes = map[string]bool{
	"POST /v1/jobs":             true,
	"POST /v1/jobs/check":       true,
	"POST /v1/jobs/{id}/retry":  true,
	"POST /v1/files":            true,
	"POST /v1/tables":           true,
	"POST /v1/plan":             true,
	"POST /v1/overlays/join":    true,
	"DELETE /v1/overlays/{id}":  true,
	"GET /v1/jobs/{id}/archive": true,
}

// limitOf returns the time limit of a route for a request without progress.
func limitOf(pattern string) time.Duration {
	if longRoutes[pattern] {
		return longTime
	}
	return answerTime
}

// errSlow is the cause of a request's context that ended because the request made no progress.
var errSlow = errors.New("api: the request made no progress")

// answer returns what answers the requests of a route. A request ends when it makes no progress for the limit: the
// context that h has then ends, and with it every wait for the node.
func answer(h handler, limit time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		late := time.AfterFunc(limit, func() { cancel(errSlow) })
		defer late.Stop()
		p := &progress{ResponseWriter: w, to: http.NewResponseController(w), again: func() { late.Reset(limit) }}
		defer p.end()
		p.begin()
		r = r.WithContext(ctx)
		body := &steadyBody{from: r.Body, progress: p, patient: door.CallerOf(r) != nil}
		if r.ContentLength != 0 {
			r.Body = body
			body.wait()
		}
		err := h(p, r)
		switch {
		case err == nil:
		case body.late:
			writeError(p, &Error{Message: "the request's body did not arrive in time", Kind: KindInput,
				Status: http.StatusRequestTimeout, Hint: fmt.Sprintf("send it without a pause of more than %v", bodyTime)})
		case context.Cause(ctx) == errSlow:
			writeError(p, slowError(err, limit))
		default:
			writeError(p, asError(err))
		}
	}
}

// slowError is the answer to a request that the node could not answer in time.
func slowError(err error, limit time.Duration) *Error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	return &Error{Message: fmt.Sprintf("the node gave no answer within %v", limit), Kind: KindUnreachable,
		Status: http.StatusServiceUnavailable, Hint: "the node is busy or stuck: try again, read its log, and restart it " +
			"if `godwit status` gets no answer either"}
}

// offeredError is the error of a job that no coordinator accepted in time. Other errors stay as they are.
func offeredError(ctx context.Context, id task.JobID, err error) error {
	if err == nil || id == "" || context.Cause(ctx) != errSlow {
		return err
	}
	return &Error{Message: fmt.Sprintf("no coordinator has accepted job %s yet", id), Kind: KindUnreachable,
		Status: http.StatusServiceUnavailable, Hint: "the node goes on offering it: `godwit jobs` shows whether it is accepted"}
}

// progress is a writer that bounds the time in which the client takes an answer.
type progress struct {
	http.ResponseWriter
	to    *http.ResponseController
	again func() // grants the request its time limit anew
}

// begin clears the deadline of the connection's last request. Errors are of writers without deadlines, as in tests.
func (p *progress) begin() { _ = p.to.SetWriteDeadline(time.Time{}) }

// end bounds the time in which the client takes what is left.
func (p *progress) end() { _ = p.to.SetWriteDeadline(time.Now().Add(writeTime)) }

// Write writes in parts, each with its own deadline. Between two writes there is none, because HTTP/2 would reset an
// answer that is idle at its deadline.
func (p *progress) Write(b []byte) (n int, err error) {
	for {
		part := b[n:min(len(b), n+writePart)]
		p.end()
		more, err := p.ResponseWriter.Write(part)
		p.begin()
		p.again()
		if n += more; err != nil || n == len(b) {
			return n, err
		}
	}
}

// FlushError sends what was written.
func (p *progress) FlushError() error {
	p.end()
	defer p.begin()
	return p.to.Flush()
}

// Unwrap returns the writer below, for http.ResponseController.
func (p *progress) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// A steadyBody is the body of a request, whose sender may not pause for longer than bodyTime.
type steadyBody struct {
	from     io.ReadCloser
	progress *progress
	patient  bool // false for a client without a key, whose door has set a deadline for the whole body
	late     bool
}

// wait grants the sender another pause.
func (b *steadyBody) wait() {
	if b.patient {
		_ = b.progress.to.SetReadDeadline(time.Now().Add(bodyTime))
	}
}

func (b *steadyBody) Read(to []byte) (int, error) {
	b.wait()
	n, err := b.from.Read(to)
	if err == io.EOF && b.patient { // a deadline that stays would end the request's context later
		_ = b.progress.to.SetReadDeadline(time.Time{})
	}
	if n > 0 {
		b.progress.again()
	}
	b.late = b.late || errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

func (b *steadyBody) Close() error { return b.from.Close() }
