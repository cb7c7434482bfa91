// Package guests holds what is no package's own test: that whole programs
// which were written without this project in mind, or to be awkward for it,
// end the same whether they run undisturbed or are frozen again and again and
// go on in another process, on another engine, on another architecture.
//
// The programs are the tests of Go's standard library, built for wasip1, and
// the C programs in testdata. GODWIT_GUESTS=all runs all of them, a list of
// names (comma-separated) those, and without it a sample runs that takes
// seconds. scripts/test-guests and scripts/test-arch set it, and what else turns
// on what takes minutes: the C programs through `godwit exec --hops`.
//
// The corpus is programs that others wrote, by toolchains that were made
// without this project in mind: interpreters, a data base, compressors, compilers.
// corpus_table_test.go lists them. All is fetched with the clients of registries
// and built when the test runs, in a cache of its own, and nothing of it is kept
// here: testdata/corpus has what they run, and stand-ins for what WASI lacks.
// GODWIT_CORPUS=all runs it; the ordinary tests run a few of our own C programs
// with and without an optimiser, by what is installed.
//
// The benchmarks measure what the sandbox costs, and how soon a guest stops and
// goes on: scripts/bench runs them and puts their figures beside the targets.
package guests
