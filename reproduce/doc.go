// Package reproduce is what published experiments that run again have in common: an
// Experiment, the Bench that it works on, and its Cells, which put what was published
// beside what is obtained, with a verdict on each figure.
//
// The experiments are in the packages below, one a publication: zhang (Zhang 2010), mgst
// (Kokaly 2008), simpetek (Karaduman 2010) and koala (Grundeken 2009). What these
// publications specify is in docs/spec. Package policies is no publication: it holds the
// project's own policies to those published, on equal hosts and arrivals.
//
// An experiment makes scenarios, runs them side by side through a function of the
// caller, and judges cells: published text, obtained text, verdict, and a note that says
// what a reader must know to trust the verdict. Where a published text contradicts its
// own definitions, the cell is judged by the definitions and the note says what the text
// prints. Where the published traces are lost, "-like" sets stand for them: then only
// directions are judged, never numbers.
package reproduce
