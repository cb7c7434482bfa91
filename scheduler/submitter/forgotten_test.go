package submitter

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
)

// A job that is forgotten leaves nothing, though a task of it runs again.
func TestForgottenWhileChecked(t *testing.T) {
	b := newAuditBench(t, 2, "full")
	b.deliver(0, nil, b.ran(2, 0, truth))
	b.deliver(1, nil, b.ran(2, 1, truth))
	b.do(message.ForgetJob{Job: b.id})
	b.pass(time.Minute)
	b.audits[0].Task.Index = 0
	b.do(message.Audited{Task: b.task(0), Here: b.says(truth)(message.Audit{Task: b.task(0)})})
	for key := range b.disk {
		if strings.HasPrefix(key, submitterChecks) || strings.HasPrefix(key, ResultsPrefix) {
			t.Errorf("%s is left", key)
		}
	}
	if len(b.s.audits.at) > 0 {
		t.Error("an audit is waited for")
	}
}
