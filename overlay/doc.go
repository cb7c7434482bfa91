// Package overlay holds who belongs to a computation and who coordinates it:
// the signed manifest, the adverts that members gossip about themselves, and
// the view that a member builds of the others.
//
// The package is pure: time is an argument, and nothing here sends anything.
package overlay
