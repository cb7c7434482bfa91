// Package archtest keeps the rules of the house as tests: which package may
// import which, what the core must not touch, and that everything exported is
// documented. It holds no code of its own.
package archtest
