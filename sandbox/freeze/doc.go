// Package freeze makes WebAssembly programs stoppable: a pass puts safe points into a module, and a
// Machine runs the result, so that a program can be paused, throttled, metered, killed, or frozen in
// mid-computation and thawed in another process, on another engine or architecture, bit for bit.
//
// # Safe points
//
// Every loop as it goes round, and one function on every cycle of calls, charges a fuel counter with
// the static cost of what runs until the next charge. When the fuel is used up the guest calls the one
// function the pass imports, godwit.yield, and there the host decides. Fuel does not depend on the
// machine: the same program with the same input has used the same fuel at the same place everywhere, so
// fuel names a checkpoint.
//
// # Freezing
//
// To freeze, yield sets __ck_state. Each function on the stack then stores its live locals and operands
// as a frame, in a region borrowed from the guest's memory (no guest code runs until the region has been
// given back), and returns to its caller, which sees the state and does the same. The cost to a running
// program is the fuel counter and one test after each call that may unwind; the code that leaves frames stands
// at the ends of functions.
//
// # Thawing
//
// The instrumented functions cannot be entered in the middle. To thaw, resume functions are generated for
// just the safe points on the stack, in a small module of their own that shares memory, tables and
// globals with the instrumented one: each loads its frame, calls the resume function of the next frame
// (the innermost calls yield), and runs the rest of its function, as fast as before. A loop around the
// safe point is written twice there: the rest of the iteration, then the whole loop. So the code that runs
// most has no dispatch on re-entry, and nothing is paid for freezing that may never happen.
package freeze

// PassVersion names the instrumentation and the frames it leaves behind. A checkpoint made with one
// version cannot be thawed with another: frames, fuel and resume points would not agree.
const PassVersion = 7
