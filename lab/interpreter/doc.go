// Package interpreter keeps interpreters that are modules, so that scripts run as programs do: each is fetched or built
// once, by the ordinary client of a registry, into a directory of its own.
package interpreter
