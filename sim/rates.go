package sim

import (
	"fmt"
	"time"
)

// Rates are execution rates imposed on hosts, by class: a task of class i takes
// host j, which has a_j of its processor for it, 1/(mu_ij a_j) in the mean (Kokaly
// 2008, section 3.1). A task that is longer than Class.Work takes longer in
// proportion; the host's speed, where that is Traced, divides all that.
//
// A host runs one task at a time then, and the log has none: its tasks have no
// class.
type Rates struct {
	// Unit is the time in which Of counts tasks; 0 is a second.
	Unit time.Duration
	// Of are the mu_ij, by Workload.Classes and then by Scenario.Trace's hosts: tasks
	// in a Unit; 0 is a host that cannot run the class. Read only.
	Of [][]float64
	// Availability are the a_j, by host, 0 to 1; nil is 1 of each. Read only.
	Availability []float64
	// Overhead is host time that each task takes beside its own.
	Overhead time.Duration
	// Measured keeps Of and Availability from the policy, which is told what was
	// measured so far instead (Kokaly 2008, section 8.1.2: tracking of processing
	// rates): the tasks of a class that a host ended over the time that it had them;
	// before the first of them, as if the host were the reference core.
	Measured bool
	// Timeout, if not 0, is how many times as long as is expected of its class there a
	// task may be under way at a host, Overhead included; then it waits to be sent anew.
	// A host that is gone by then is known to be (Kokaly 2008, section 8.1.2 and appendix
	// B); one that is there stops the task. A policy with patience (place.Traits) has its own.
	Timeout float64
}

// mostTimeout bounds Rates.Timeout: beyond it nothing ever times out.
const mostTimeout = 1000.0

// unit is Unit, or its default.
func (r *Rates) unit() time.Duration {
	if r.Unit == 0 {
		return time.Second
	}
	return r.Unit
}

// at is the share of a host's processor that tasks get.
func (r *Rates) at(host int) float64 {
	if r.Availability == nil {
		return 1
	}
	return r.Availability[host]
}

// maxMu bounds mu_ij: tasks in a unit, which is a nanosecond at the least.
const maxMu = 1e9

// check looks at rates of so many classes and hosts.
func (r *Rates) check(p *problems, classes, hosts int) {
	p.length("rates: unit", r.Unit)
	p.length("rates: overhead", r.Overhead)
	if len(r.Of) != classes {
		p.add("rates: they are of %d classes, and the workload has %d: give a row of rates to each", len(r.Of), classes)
	}
	if n := len(r.Availability); r.Availability != nil && n != hosts {
		p.add("rates: availability is of %d hosts, and there are %d: give one to each, or leave it out", n, hosts)
	}
	for j, a := range r.Availability {
		if !(a >= 0 && a <= 1) {
			p.add("rates: availability of host %d is %v: write 0 to 1", j, a)
			break
		}
	}
	if r.Timeout != 0 && !(r.Timeout >= 1 && r.Timeout <= mostTimeout) {
		p.add("rates: the time-out is after %v times the expected time: write 1 to %v, or 0 for none", r.Timeout, mostTimeout)
	}
	for i, row := range r.Of {
		if len(row) != hosts {
			p.add("rates: class %d has rates of %d hosts, and there are %d: give one to each", i, len(row), hosts)
			return
		}
		for j, mu := range row {
			if !(mu >= 0 && mu <= maxMu) {
				p.add("rates: class %d on host %d is %v: write tasks in a unit of time, 0 to %v", i, j, mu, float64(maxMu))
				return
			}
		}
	}
}

// checkRates looks at what goes with rates.
func (s *Scenario) checkRates(p *problems) {
	r := s.Rates
	if r == nil || s.Trace == nil {
		return
	}
	r.check(p, len(s.Workload.Classes), len(s.Trace.Hosts))
	if s.Hosts.Slots > 1 {
		p.add("rates: hosts have %d slots: rates are of one task at a time, leave slots out", s.Hosts.Slots)
	}
	if s.Hosts.Sharing != Queue {
		p.add("rates: hosts share their time between tasks: rates are of one task at a time, leave sharing out")
	}
	if s.Workload.Log != nil {
		p.add("rates: tasks of a log have no class, and no rates: give classes alone")
	}
}

// A ClassReport is what came of the tasks of a class. Times are means in seconds
// over those that succeeded, from their last placement and their last start; each
// Response is the sum of the other three to the nanosecond.
type ClassReport struct {
	Class         string  `json:"class"`
	Arrived       uint64  `json:"arrived"`
	Succeeded     uint64  `json:"succeeded"`
	Waiting       float64 `json:"waiting_s"`       // from arrival to being sent to a host
	Communication float64 `json:"communication_s"` // to its start there
	Execution     float64 `json:"execution_s"`     // to its end
	Response      float64 `json:"response_s"`
}

// A classTally sums times of a class, in nanoseconds.
type classTally struct {
	arrived, succeeded                          uint64
	waiting, communication, execution, response wide
}

// succeed counts a task that came, was sent, was begun and ended at these times.
func (y *classTally) succeed(arrived, sent, begun, now int64) {
	y.succeeded++
	y.waiting.add(1, uint64(sent-arrived))
	y.communication.add(1, uint64(begun-sent))
	y.execution.add(1, uint64(now-begun))
	y.response.add(1, uint64(now-arrived))
}

func (y *classTally) of(name string) ClassReport {
	mean := func(w wide) float64 {
		if y.succeeded == 0 {
			return 0
		}
		return w.float() / float64(y.succeeded) / 1e9
	}
	return ClassReport{
		Class: name, Arrived: y.arrived, Succeeded: y.succeeded,
		Waiting: mean(y.waiting), Communication: mean(y.communication), Execution: mean(y.execution),
		Response: mean(y.response),
	}
}

// float is the sum, rounded.
func (w wide) float() float64 { return float64(w.high)*(1<<64) + float64(w.low) }

// nameOf is the name under which policies see a class.
func nameOf(i int, c *Class) string {
	if c.Name == "" {
		return fmt.Sprint("#", i)
	}
	return c.Name
}
