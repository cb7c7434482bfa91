package place

import "time"

// briefWork is the length, in nanoseconds on the reference core, below which a task
// is short: over so little time a forecast, which is made of sessions of hours,
// tells nobody apart.
const briefWork = float64(time.Minute)

// unknown says whether nobody knows how long the task takes.
func (t *Task) unknown() bool { return t.Left == 0 && t.Work == 0 }

// brief says whether the task is worth giving to a busy host ahead: it is short, or
// may be. A longer one gains nothing, a round trip in minutes, and is better placed
// when a host is idle, by what is known then.
func (t *Task) brief() bool {
	if t.Left > 0 {
		return float64(t.Left) < briefWork
	}
	return float64(t.Work) < briefWork
}

// ahead gives short tasks to busy hosts, as FCFS does. It is a policy's memory.
type ahead struct {
	fcfs  FCFS
	hosts []Host
	queue briefQueue
}

// A briefQueue shows the short tasks of a queue.
type briefQueue struct {
	Queue
	passed int // jobs of others
}

// Next implements Queue.
func (q *briefQueue) Next() (Task, bool) {
	for q.passed < maxMisses {
		t, ok := q.Queue.Next()
		if !ok || t.brief() {
			return t, ok
		}
		q.passed++
		q.Queue.SkipJob()
	}
	return Task{}, false
}

// giveAhead gives tasks to hosts that are busy, so that short ones never wait for a
// round trip. While a task waits beside an idle host none go: they would only
// have to be fetched back.
func (p *Expected) giveAhead(queue Queue, hosts []Host) {
	if len(p.out) < p.idle {
		return // the queue is at its end, or a task waits
	}
	a := &p.ahead
	a.hosts = a.hosts[:0]
	next := 0 // in p.hosts, which are the idle ones of hosts in their order
	for i := range hosts {
		h := &hosts[i]
		if next < len(p.hosts) && p.hosts[next].Peer == h.Peer {
			h = &p.hosts[next]
			next++
		}
		if h.Free > 0 && h.Idle() == 0 {
			a.hosts = append(a.hosts, *h)
		}
	}
	if len(a.hosts) == 0 {
		return
	}
	a.queue = briefQueue{Queue: queue}
	p.out = append(p.out, a.fcfs.Place(time.Time{}, &a.queue, a.hosts, nil, nil)...)
	a.queue.Queue = nil
}
