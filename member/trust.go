package member

import (
	"godwit/credibility"
	"godwit/overlay"
)

// Assumed returns what is assumed of the workers of an overlay, by who may be a member.
func Assumed(a overlay.Admission) (credibility.Terms, credibility.Strangers) {
	switch a {
	case overlay.Invited:
		return credibility.InvitedPool, credibility.Strangers{}
	case overlay.Listed:
		return credibility.ListedPool, credibility.Strangers{}
	}
	return credibility.OpenPool, credibility.OpenStrangers
}
