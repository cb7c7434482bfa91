// Package overlay holds who belongs to a computation and who coordinates it: the
// signed manifest, whom it admits and invites, the adverts that members gossip about
// themselves, the view that a member builds of the others, the suspicion that one
// of them is gone, the election of a group of coordinators, and the lease by which
// one of them leads.
//
// The package is pure: time is an argument, and nothing here sends anything.
package overlay
