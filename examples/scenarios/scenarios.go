// Package scenarios has the scenario files of this directory, for programs.
package scenarios

import "embed"

// Files are the scenarios and the traces that they name, at the top level.
//
//go:embed *.yaml *.csv
var Files embed.FS
