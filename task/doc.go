// Package task holds the words that every other package speaks: identifiers,
// job files and the signed jobs made from them, sweeps and their expansion,
// and results.
//
// The package is pure. It reads no file and no clock: a job file arrives as
// bytes, and whoever calls says what time it is.
package task
