package shares

import "time"

// A cluster is a local scheduler and its nodes. Each node is free, has a part of a
// higher job, is held by a bag, or leaves one.
type cluster struct {
	*Cluster
	w       *world
	index   int
	free    int
	held    int           // by bags, without those that leave
	leaving int           // ordered back from bags and not yet free
	claimed int           // for grid jobs whose parts are not submitted yet
	queue   []*job        // a part each, in the order of arrival
	busy    time.Duration // until when it dispatches what it has begun
	stopped time.Duration // until when it clears nodes one after the other

	counted time.Duration // up to when these were summed up
	idle    time.Duration // of nodes together
	bags    time.Duration
}

func newCluster(w *world, i int) *cluster {
	return &cluster{Cluster: &w.Clusters[i], w: w, index: i, free: w.Clusters[i].Nodes}
}

func (c *cluster) speed() float64 {
	if c.Speed == 0 {
		return 1
	}
	return c.Speed
}

// count sums up what nodes did since it was last called. Before they change it must
// be.
func (c *cluster) count() {
	d := c.w.now - c.counted
	c.counted = c.w.now
	c.idle += d * time.Duration(c.free)
	c.bags += d * time.Duration(c.held+c.leaving)
}

// waiting is how many nodes the parts in the queue want.
func (c *cluster) waiting() int {
	n := 0
	for _, j := range c.queue {
		n += j.Nodes
	}
	return n
}

// submit puts a part of a job in the queue.
func (c *cluster) submit(j *job) {
	c.queue = append(c.queue, j)
	c.next()
}

// next starts what is first in the queue as long as there are nodes for it: nobody
// goes before the first.
func (c *cluster) next() {
	for len(c.queue) > 0 && c.queue[0].Nodes <= c.free {
		j := c.queue[0]
		c.queue = c.queue[1:]
		c.count()
		c.free -= j.Nodes
		j.waited = max(j.waited, c.w.now-j.At)
		c.w.at(c.dispatch()+j.Run, func() {
			c.count()
			c.free += j.Nodes
			j.ended(c.w)
			c.next()
		})
	}
}

// dispatch returns when what is now given nodes runs.
func (c *cluster) dispatch() time.Duration {
	c.busy = max(c.busy, c.w.now) + c.w.Costs.Dispatch
	return c.busy + c.w.Costs.Start
}

// vacate frees a node that a bag leaves.
func (c *cluster) vacate() {
	ordered := c.w.now
	c.count()
	c.held--
	c.leaving++
	c.stopped = max(c.stopped, c.w.now) + c.w.Costs.StopEach
	c.w.at(c.stopped+c.w.Costs.Stop, func() {
		c.w.orders.add(c.w.now - ordered)
		c.count()
		c.leaving--
		c.free++
		c.next()
	})
}

// A job is one of higher priority.
type job struct {
	Higher
	left   int           // parts that have not ended
	waited time.Duration // until the last part so far had its nodes
	took   time.Duration // until the last ended; 0: not yet
}

func (j *job) ended(w *world) {
	if j.left--; j.left == 0 {
		j.took = w.now - j.At
		w.open--
	}
}
