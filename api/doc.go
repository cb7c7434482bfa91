// Package api is how programs talk to a running node: HTTP with JSON, on a
// unix socket in the node's data directory and on loopback TCP with a token,
// and the Go client of it that the command line uses. openapi.yaml describes
// it for other languages.
package api
