// Package toolchain turns programs of several languages into modules with the compilers that are installed here, and
// writes programs of ten lines to begin with.
package toolchain
