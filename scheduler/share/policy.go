// Package share decides whose turn it is: how many of the slots that are idle
// each claimant may fill, and who gives back how many when an owner wants some
// again. Which members a claimant's tasks go to is decided by package place, and
// which of its tasks it gives up by a Giver.
//
// A policy is one file and its registration. All of them obey strict priorities
// above fairness: a claimant gets nothing that one of higher priority wants.
package share

import (
	"math"
	"time"
)

// A Policy divides slots among claimants. It changes nothing of its arguments
// and keeps none of them. It remembers whose turn the last remainder was: one
// is for one coordinator. What a call returns holds until the next.
type Policy interface {
	// Grow divides the slots that are idle at now, and never decreases. Of the
	// grants no claimant gets more than its Demand together, and no site gives
	// more than its Idle. Claimants are in the order of their arrival, each ID
	// once; sites in an order that stays. A claimant with a demand that gets
	// nothing has one grant of 0 slots, whose reason says why. The order of
	// grants is always the same for the same calls and means nothing.
	//
	// None of the policies here looks at now: they go by what is held, not by what
	// was used (Grundeken 2009, section 3.7.1, for both of his).
	Grow(now time.Time, claimants []Claimant, sites []Site) []Grant
	// Shrink says who gives back how much of need slots at a site, its index as in
	// Holding.Site. Together it is the less of need and what is held there; those of
	// the lowest priority give first. What there is of each resource, which dominant
	// shares are parts of, is as in the last Grow.
	Shrink(claimants []Claimant, site, need int) []Release
	// Local is Shrink for higher-priority work that claimants see at the site by
	// themselves, each without the others: by the parameter local, fair is Shrink,
	// with drastic each gives need, with proportional each its part rounded up.
	Local(claimants []Claimant, site, need int) []Release
	// Terms are the same for the life of the policy.
	Terms() Terms
}

// Terms are what whoever asks a policy has to heed. The zero Terms divide all slots
// as one among jobs, and take none back.
type Terms struct {
	// PerOwner has the claimants be owners, each with all its jobs; else they are jobs.
	PerOwner bool
	// OnArrival has slots given back for a job that arrives and is entitled to more
	// than is idle.
	OnArrival bool
	// Sites says that Grow tells sites apart. Otherwise one that stands for all of them
	// is as good.
	Sites bool
	// EachSite says that each site is divided by itself.
	EachSite bool
	// Levels says that Grow makes up for what others hold, so that equal claimants
	// are entitled to slots that others of their priority have.
	Levels bool
	// Aging is the interval of waiting after which a claimant's priority is to rise by one; 0 if priorities do not rise.
	// The caller raises them: Grow sees the raised priorities.
	Aging time.Duration
	// Guarded says that Grow may leave idle slots ungranted.
	Guarded bool
	// First says who of one priority gets the first slot. Of very many claimants only
	// the first by it, as many as there are idle slots, need be shown to Grow.
	First Order
}

// An Order says who of one priority comes first.
type Order int

// The orders. Before weights and resources were looked at, ByWeight is near to what
// drf goes by, not the same.
const (
	ByHoldings  Order = iota // who has the fewest slots
	ByWeight                 // who has the fewest slots by weight
	ByTurn                   // who got some longest ago
	ByArrival                // who arrived first
	ByDeadline               // earliest deadline, then earliest arrival
	ByLeastWork              // least work, then earliest arrival
	ByMostWork               // most work, then earliest arrival
)

// Unbounded is the demand of a claimant that takes whatever it gets.
const Unbounded = math.MaxInt32

// AnySite, as Grant.Site, leaves the choice of sites to the placement.
const AnySite = -1

// A Claimant is who slots are divided among: a job, or all jobs of an owner.
type Claimant struct {
	ID string // distinct
	// Priority is strict: larger ones have all that they want first.
	Priority int
	// Weight is its part beside others of its priority, where the policy heeds
	// weights. 0, less, or no number is 1; it counts from 1e-6 to 1e6.
	Weight float64
	// Demand is how many more tasks it would run now, or Unbounded.
	Demand int
	// Held are the slots that it has, of each site once, in the order of sites.
	// Sites where it has none are left out. Read only.
	Held []Holding
	// Used is for how long it had slots, in seconds. What cannot be divided goes to who had
	// least; to all alike, as with 0, it goes by turns.
	Used float64
	// Sorting is the key of the job, or of an owner's next job, for job sorting rules.
	Sorting Sorting
	// Task is what one of its tasks takes, for dominant resources. Its zero value,
	// and 0 Cores, are one core.
	Task Amount
}

// A Holding is what a claimant has at a site.
type Holding struct {
	Site  int // index in the sites
	Slots int
}

// An Amount is resources of each kind.
type Amount struct {
	Cores  int64
	Memory int64 // bytes
}

// A Site is a group of members that grow and shrink together: a cluster, a
// network, or a single member.
type Site struct {
	Name  string
	Total int // slots of its members
	Used  int // of these in use, by whomever
	Idle  int // of these free to be granted; may be less than Total-Used
	// Queued is the slots that work of higher priority waits for that could run
	// here. While it is not 0 nothing is granted here (Grundeken 2009, section 2.5,
	// first requirement).
	Queued int
	// Capacity is what the site has in all and Free what of it nobody has, for
	// dominant resources. Capacity.Cores of 0 stands for Total and Idle; where the
	// memory of no site is known, memory is not counted.
	Capacity, Free Amount
}

// A Grant lets a claimant fill slots.
type Grant struct {
	Claimant int // index in the claimants
	Site     int // index in the sites, or AnySite
	Slots    int
	Reason   Reason
}

// A Release is what a claimant gives back; Slots > 0.
type Release struct {
	Claimant int // index in the claimants
	Slots    int
	Reason   Reason
}

// Parse returns the policy of a specification: a name ("" means Default), and
// after a colon its parameters with commas between them, as in
// "sep:guard=gate,load=80,local=drastic".
func Parse(s string) (Policy, error) {
	p, _, err := kinds.Parse(s)
	return p, err
}

// Faster returns the specification of the same policy for a world whose time runs so many times as fast: its lengths of
// time are so many times shorter. The error names one that becomes too short.
func Faster(s string, by float64) (string, error) { return kinds.Faster(s, by) }

// Names returns the names of all policies, sorted.
func Names() []string { return kinds.Names() }

// Describe says what each policy does and which parameters it has, a line each.
func Describe() string { return kinds.Describe() }
