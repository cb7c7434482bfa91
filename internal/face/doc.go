// Face looks at the dashboard as a person does: it starts a swarm of three real nodes, drives a headless Chromium
// through every page, tells what was asked beside what was seen, and writes pictures. The tests of this package do the
// same.
package main
