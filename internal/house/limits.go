package house

// What must hold of the module.
const (
	mostMethods       = 60  // of a type
	mostFields        = 25  // of a struct
	mostFileLines     = 500 // tests aside
	mostFunctionLines = 60  // tests aside
	mostColumns       = 120 // of a line, also in tests
	mostUp            = .15 // of the arrows in a room

	// fewestArrows is how many arrows a room must have for mostUp to hold of it: in a
	// smaller one a single pair of files that need each other breaks any limit.
	fewestArrows = 20

	// fewerLines is by how much the source must have become shorter, tests aside.
	fewerLines = 3000
)

// leastTests says of each room for which that has a limit how many lines of tests it
// needs to a line of source, the rooms below it included.
var leastTests = map[string]float64{
	"member":       .8,
	"migrate":      .8,
	"overlay":      .8,
	"predictor":    .8,
	"sandbox/wasi": .6,
	"sandbox/wasm": .6,
	"scheduler":    .8,
	"task":         .8,
	"trace":        .8,
}
