// Package mapping runs a program once for each of many inputs, as one job however many they are: `godwit map`.
//
// Inputs become the rows of a table (package task/table): a column for what is shown of an input, and one for
// each other placeholder that the arguments use. So the job says in a few bytes what a million tasks run with.
package mapping
