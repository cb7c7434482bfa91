// Package reproduce runs published experiments again and puts what was
// published beside what is obtained, with a verdict on each figure.
//
// An Experiment makes scenarios of package sim, runs them side by side through
// a function of the caller, and judges cells: published text, obtained text,
// verdict, and a note that says what a reader must know to trust the verdict.
// Zhang lists those of Zhang 2010, SimPETEK those of Karaduman 2010, which run
// scenarios of package sim/sweep. Where a published text contradicts its own
// definitions, the cell is judged by the definitions and the note says what the
// text prints. Where the published traces are lost, "-like" sets stand for
// them: then only directions are judged, never numbers.
//
// A PolicyGrid is no publication: it holds the project's own policies to those
// published, on equal hosts and arrivals, and to the targets in its summary.
package reproduce
