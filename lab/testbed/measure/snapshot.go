package measure

// A Snapshot is what a run has come to so far. Times are in units of its rates.
type Snapshot struct {
	Policy string  `json:"policy"`
	At     float64 `json:"at"`     // time since the start, at most Length
	Length float64 `json:"length"` // of the run
	// Classes are those of the workload, in its order, and then all tasks.
	Classes []ClassCount  `json:"classes"`
	Servers []ServerCount `json:"servers"` // in the order of the scenario
	// Published are mean responses of a publication, by class and then of all; 0 is one that is not given.
	Published []float64 `json:"published,omitempty"`
}

// A ClassCount counts the tasks of a class, or of all.
type ClassCount struct {
	Class   string `json:"class"` // "all" is all tasks
	Arrived int    `json:"arrived"`
	Waiting int    `json:"waiting"`
	Running int    `json:"running"`
	Done    int    `json:"done"`
	Failed  int    `json:"failed"`
	// Response is the mean time from arrival to end of the tasks that are done; 0 if none is.
	Response float64 `json:"response"`
}

// A ServerCount counts the tasks of a server.
type ServerCount struct {
	Server  string `json:"server"`
	State   string `json:"state"` // such as "up" or "down"
	Running int    `json:"running"`
	Done    int    `json:"done"`
}

// A Counter adds up a Snapshot. Classes and servers are known by their numbers.
type Counter struct {
	snapshot Snapshot
	sums     []float64 // of responses, by class and then of all
}

// NewCounter returns a counter of tasks of some classes on some servers.
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

// both are the numbers of a class's row and of that of all.
func (c *Counter) both(class int) [2]int { return [2]int{class, len(c.sums) - 1} }

// Arrive adds tasks that wait.
func (c *Counter) Arrive(class, tasks int) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Arrived += tasks
		c.snapshot.Classes[k].Waiting += tasks
	}
}

// Run moves a waiting task to a server.
func (c *Counter) Run(class, server int) { c.running(class, server, 1) }

// Return moves a running task back to those that wait.
func (c *Counter) Return(class, server int) { c.running(class, server, -1) }

func (c *Counter) running(class, server, by int) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Waiting -= by
		c.snapshot.Classes[k].Running += by
	}
	c.snapshot.Servers[server].Running += by
}

// Finish ends a running task after a response in units.
func (c *Counter) Finish(class, server int, response float64) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Running--
		c.snapshot.Classes[k].Done++
		c.sums[k] += response
	}
	c.snapshot.Servers[server].Running--
	c.snapshot.Servers[server].Done++
}

// Fail ends a running task that has failed for good.
func (c *Counter) Fail(class, server int) {
	for _, k := range c.both(class) {
		c.snapshot.Classes[k].Running--
		c.snapshot.Classes[k].Failed++
	}
	c.snapshot.Servers[server].Running--
}

// Snapshot returns a copy of what is added up at a time of the run. state returns the state of a server.
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
