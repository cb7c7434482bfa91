// Package experiment keeps experiments of classes of tasks on machines of unlike speeds: their definitions, the
// allocation that the linear program of LPAS_DG makes of each, and their runs, on the simulator or on real nodes of this
// machine. A run is read, controlled and stopped while it lasts.
//
// A Manager owns definitions and runs. Everything is kept in memory: it ends with the Manager.
package experiment
