// Package task holds the words that every other package speaks: identifiers,
// job files and the signed jobs made from them, sweeps and their expansion,
// and results.
//
// The package is pure. It reads no file and no clock: a job file arrives as
// bytes, and whoever calls says what time it is.
//
// # From a file to a task
//
// ParseFile reads a job file into a File. The caller stores the module and
// every file of InputNames as blocks, and File.Job makes the Job: every name a
// CID, every default filled in. SignJob makes the Record whose CID is the
// JobID. Whoever fetches the record checks and reads it with Open, and
// Job.Expand computes from it what the task of an index runs with.
//
// # Job files
//
// A job file is one YAML document without anchors, tags and merge keys, at most
// MaxFile bytes. Text is taken as it is written. Arguments, values of the
// environment and names of files and stdin are templates: {{.name}} is the
// value of the axis of that name, {{.trial}} the number of the trial, and
// {{"{{"}} two opening braces. Outputs are patterns of path.Match.
//
// An axis is a list of texts or a range {from, to, step} of decimals. A range
// ends with `to` if a step meets it, and before it otherwise; the step is 1
// where it is left out. Its numbers are written with the fewest digits that are
// exact: {from: 0, to: 1, step: 0.5} is 0, 0.5 and 1.
//
// # Hostile input
//
// Everything here may come from a stranger. Decode, DecodeRecord, Record.Open,
// Result.Verify and ParseFile bound what they read before they allocate for it,
// return errors and do not panic.
package task
