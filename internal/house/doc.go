// Package house measures the source of this module: how large its types, files and
// functions are, which way references between the files of a package run, how much
// of it is tested and documented. The measures need no type checker, so that they
// take seconds. See Survey, and scripts/house, which prints them.
package house
