// Package scenario reads the files that describe simulated experiments, and lays
// out the runs that they ask for.
//
// A file is YAML of plain keys and values. Keys that it does not know are
// refused, with their place; what a file does not mention has the value of
// Default. Of the experiment it needs a source of hosts and a workload:
//
//	trace: sessions.csv            # or synth: {kind: deug, hosts: 680, days: 7, seed: 1}
//	placement: [fcfs, "fcfspp:n=6"]
//	workload:
//	  classes:
//	    - {work: 10m, arrival: every, interval: 1m}
//	seeds: 5
package scenario
