// Package leasing has the states that a lease passes through at the coordinator that gave
// it, and the one table of what takes it from each to the next.
package leasing
