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

// runsNow notes which task a child runs, and what that may have; "" and 0 for none.
func (p *Pool) runsNow(c *child, name string, memory int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.runs, c.asked = name, memory
}
