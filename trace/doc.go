// Package trace holds records of availability and of workloads: it reads,
// makes and describes them. A History is one host's record, from a trace file,
// from a generator or from a live node; nothing that uses it can tell which.
package trace
