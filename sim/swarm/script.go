package swarm

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"godwit/task"
)

// A Script fixes what a run otherwise draws or makes up, so that it can be set
// beside a swarm that lives: who the nodes are and who is handed what. The zero Script fixes nothing.
type Script struct {
	// Keys are the nodes', those of the hosts first; nil are drawn by the seed.
	Keys []ed25519.PrivateKey
	// Jobs come beside the Scenario's workload, of which they know nothing: its
	// classes must be none that come with them, such as one after the run's end.
	Jobs []Job
	// Ends says how each host's node ends; nil: Options.Ends holds of all.
	Ends []Ending
	// Draws are what each node draws, from 0 to 1, whenever it renews its advert or comes into
	// another cell; nil: they are drawn by the seed.
	Draws []float64
}

// A Job is one that is handed to a node that is up by then.
type Job struct {
	At   time.Duration // after the start, by the machines' clock
	Node int           // who signs it and hands it in
	Spec task.Job      // signed as it is; each task takes its Work
}

// check says what is wrong with a script for so many nodes, of which the first
// are hosts.
func (s *Script) check(nodes, hosts int) error {
	var errs []error
	if len(s.Keys) != 0 && len(s.Keys) != nodes {
		errs = append(errs, fmt.Errorf("sim/swarm: script: %d keys for %d nodes: give one for each, or none", len(s.Keys),
			nodes))
	}
	if len(s.Draws) != 0 && len(s.Draws) != nodes {
		errs = append(errs, fmt.Errorf("sim/swarm: script: %d draws for %d nodes: give one for each, or none",
			len(s.Draws), nodes))
	}
	if len(s.Ends) != 0 && len(s.Ends) != hosts {
		errs = append(errs, fmt.Errorf("sim/swarm: script: %d ways to end for %d hosts: give one for each, or none",
			len(s.Ends), hosts))
	}
	for i, j := range s.Jobs {
		switch {
		case j.Node < 0 || j.Node >= nodes:
			errs = append(errs, fmt.Errorf("sim/swarm: script: job %d is of node %d: there are %d", i, j.Node, nodes))
		case j.At < 0:
			errs = append(errs, fmt.Errorf("sim/swarm: script: job %d comes at %v: write 0 or more", i, j.At))
		}
		if err := j.Spec.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("sim/swarm: script: job %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// keyOf is a node's.
func (s *Script) keyOf(seed uint64, i int) ed25519.PrivateKey {
	if len(s.Keys) > 0 {
		return s.Keys[i]
	}
	return Key(seed, i)
}

// drawOf is what a node draws.
func (s *Script) drawOf(i int, drawn func() float64) func() float64 {
	if len(s.Draws) > 0 {
		return func() float64 { return s.Draws[i] }
	}
	return drawn
}

// follow arranges what the script says.
func (s *Script) follow(w *world) {
	for i := range s.Jobs {
		j := &s.Jobs[i]
		w.queue.add(j.At, arriving, func() { w.handScripted(j) })
	}
}

// handScripted hands in a job of the script.
func (w *world) handScripted(j *Job) task.JobID {
	n := w.nodes[j.Node]
	if !n.up {
		w.note(fmt.Errorf("script: node %d is not up to be handed a job", j.Node))
		return ""
	}
	spec := &j.Spec
	b := &jobBook{spec: spec}
	for range spec.Sweep.Count() {
		t := &taskBook{
			number: uint64(len(w.tasks)), state: spec.Memory, work: max(1, spec.Work),
			arrived: w.now, begun: -1, ended: -1, waiting: true,
		}
		w.tasks, b.tasks = append(w.tasks, t), append(b.tasks, t)
		w.say(t, "arrived", nil, nil, "")
		w.waiting++
		w.inside(1)
	}
	return w.hand(b, n)
}
