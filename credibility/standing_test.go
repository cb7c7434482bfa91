package credibility

import (
	"testing"
	"time"
)

func TestFinal(t *testing.T) {
	var c Credit
	c.Confirm(1, 1, day0)
	m := c.Mark(day0)
	for i := range FinalAudits - 1 {
		if c.Final(m, day0.Add(FinalAfter)) {
			t.Fatalf("final by time after %d audits in all", i+1)
		}
		c.Confirm(24, 24, day0)
		if c.Final(m, day0) {
			t.Fatalf("final after %d audits", i+1)
		}
	}
	if c.Final(m, day0.Add(FinalAfter-time.Second)) || !c.Final(m, day0.Add(FinalAfter)) {
		t.Error("final before its time, or not by then")
	}
	if c.Final(c.Mark(day0), day0.Add(100*FinalAfter)) {
		t.Error("final by time alone")
	}
	c.Confirm(0, 24, day0) // nothing was audited
	if c.Final(m, day0) {
		t.Error("final by an audit of nothing")
	}
	if c.Confirm(1, 24, day0); !c.Final(m, day0) {
		t.Error("not final after as many audits as it takes")
	}
	if c.Faults++; c.Final(m, day0.Add(2*FinalAfter)) {
		t.Error("final though its worker was found wrong")
	}
}
