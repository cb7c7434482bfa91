package sandbox

// Excess returns how much memory the children hold beyond what their tasks may have for
// themselves, in bytes, by the name of the task that each runs; "" for all that wait for one. What
// is compiled, the files that a task writes and the runtime's own are among it, and files of the
// host that are mapped are not. It is empty where the system does not tell.
func (p *Pool) Excess() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int64{}
	for c := range p.children {
		select {
		case <-c.exited: // its number may be another's by now
			continue
		default:
		}
		if n := ownMemory(c.cmd.Process.Pid) - c.asked; n > 0 {
			out[c.runs] += n
		}
	}
	return out
}

// runsNow records which task a child runs. From then on the child belongs to the task's tenant, unless the task only
// makes the module ready.
func (p *Pool) runsNow(c *child, t *Task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.runs, c.asked = t.Name, t.Limits.Memory
	if !t.ready {
		of := t.Tenant // a copy, so that the idle child does not keep the task in memory
		c.tenant = &of
	}
}
