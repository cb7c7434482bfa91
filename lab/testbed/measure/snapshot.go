package measure

// Snapshot contains the current results of a run. Times are in units of its rates.
type Snapshot struct {
	Policy string  `json:"policy"`
	At     float64 `json:"at"`     // elapsed time, at most Length
	Length float64 `json:"length"` // run length
	// Classes has the workload's classes in order, and a last entry for all tasks.
	Classes []ClassCount  `json:"classes"`
	Servers []ServerCount `json:"servers"` // in scenario order
	// Published contains published mean response times in the order of Classes, 0 if unknown. It is nil without a
	// publication.
	Published []float64 `json:"published,omitempty"`
}

// ClassCount counts the tasks of one class, or all tasks.
type ClassCount struct {
	Class   string `json:"class"` // class name, or "all"
	Arrived int    `json:"arrived"`
	Waiting int    `json:"waiting"`
	Running int    `json:"running"`
	Done    int    `json:"done"`
	Failed  int    `json:"failed"`
	// Response is the mean time from arrival to completion, 0 if Done is 0.
	Response float64 `json:"response"`
}

// ServerCount counts the tasks of one server.
type ServerCount struct {
	Server  string `json:"server"`
	State   string `json:"state"` // for example "up" or "down"
	Running int    `json:"running"`
	Done    int    `json:"done"`
}

// Counter builds a Snapshot. Methods identify classes and servers by index.
type Counter struct {
	snapshot Snapshot
	sums     []float64 // sums of response times in the order of Snapshot.Classes
}

// NewCounter returns a Counter for the named classes and servers.
func NewCounter(policy string, classes, servers []string) *Counter {
	c := &Counter{snapshot: Snapshot{Policy: policy}, sums: make([]float64, len(classes)+1)}
	for _, name := range classes {
		c.snapshot.Classes = append(c.snapshot.Classes, ClassCount{Class: name})
	}
	c.snapshot.Classes = append(c.snapshot.Classes, ClassCount{Class: everyClass})
	for _, name := range servers {
		c.snapshot.Servers = append(c.snapshot.Servers, ServerCount{Server: name})
	}
	return c
}

// both returns the indices of a class and of the last entry.
func (c *Counter) both(class int) [2]int { return [2]int{class, len(c.sums) - 1} }

// Arrive adds waiting tasks.
func (c *Counter) Arrive(class, tasks int) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Arrived += tasks
		c.snapshot.Classes[k].Waiting += tasks
	}
}

// Run assigns a waiting task to a server.
func (c *Counter) Run(class, server int) { c.running(class, server, 1) }

// Return moves a running task back to the queue.
func (c *Counter) Return(class, server int) { c.running(class, server, -1) }

func (c *Counter) running(class, server, by int) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Waiting -= by
		c.snapshot.Classes[k].Running += by
	}
	c.snapshot.Servers[server].Running += by
}

// Finish completes a running task. response is in units.
func (c *Counter) Finish(class, server int, response float64) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Running--
		c.snapshot.Classes[k].Done++
		c.sums[k] += response
	}
	c.snapshot.Servers[server].Running--
	c.snapshot.Servers[server].Done++
}

// Fail ends a running task without a result.
func (c *Counter) Fail(class, server int) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Running--
		c.snapshot.Classes[k].Failed++
	}
	c.snapshot.Servers[server].Running--
}

// Refuse ends a waiting task without a result.
func (c *Counter) Refuse(class int) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Waiting--
		c.snapshot.Classes[k].Failed++
	}
}

// Snapshot returns the counts at a time of the run. state returns the state of a server.
func (c *Counter) Snapshot(at, length float64, state func(server int) string) Snapshot {
	s := c.snapshot
	s.At, s.Length = min(at, length), length
	s.Classes = append([]ClassCount(nil), s.Classes...)
	for k := range s.Classes {
		if n := s.Classes[k].Done; n > 0 {
			s.Classes[k].Response = c.sums[k] / float64(n)
		}
	}
	s.Servers = append([]ServerCount(nil), s.Servers...)
	for i := range s.Servers {
		s.Servers[i].State = state(i)
	}
	return s
}
