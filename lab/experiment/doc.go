// Package experiment manages experiments with classes of tasks on machines of different speeds. It validates
// definitions, solves the linear program of LPAS_DG, and executes runs on the simulator or on real nodes. Clients can
// read, control and stop a run during its execution.
//
// A Manager stores definitions and runs in memory only.
package experiment
