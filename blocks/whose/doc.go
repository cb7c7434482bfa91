// Package whose knows whose the blocks are that a node keeps: of which overlays a root
// reaches each. It is pure: who walks the content below the roots tells it what is there.
//
// Roots are told as the node comes to have them, and all of them anew now and then. What
// they reach is looked for only when somebody asks for it, and remembered as long as there
// is room: an Index that answers too little forgets nothing for good, since what is asked
// for again is looked for again.
package whose
