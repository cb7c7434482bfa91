// Package docs reads the project's documents: their fenced blocks, the marks that say
// how a block of commands is to be tried, what a command should print, and the sections
// that tests generate. The program internal/docs/try runs the blocks (scripts/docs).
package docs
