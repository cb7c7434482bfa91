package scheduler

import (
	"cmp"
	"slices"

	"godwit/scheduler/leasing"
)

// A site is members that grow and shrink together, as a policy of fairness sees them.
type site struct {
	name  string
	hosts int // of it, eligible or not
	sums  amounts
	idle  opening // of this round's offers
}

// amounts are what eligible members have together.
type amounts struct {
	slots, used int
	memory      int64 // bytes
}

// An opening is what may be given out in a round.
type opening struct {
	slots  int
	memory int64
}

// A counted is what of a host is in the sums of its site, and in those of all.
type counted struct {
	site *site // nil before the first
	amounts
}

// maxSites bounds the sites that are told apart: a member names its own, and a round
// by sites takes time for each. Members of further ones count as of none.
const maxSites = 256

// siteOf returns the site of a name.
func (f *fairness) siteOf(name string) *site {
	s := f.sites[name]
	switch {
	case s != nil:
	case name != "" && len(f.sites) >= maxSites:
		return f.siteOf("")
	default:
		s = &site{name: name}
		f.sites[name] = s
		i, _ := slices.BinarySearchFunc(f.order, name, func(s *site, name string) int { return cmp.Compare(s.name, name) })
		f.order = slices.Insert(f.order, i, s)
	}
	return s
}

// count brings the sums of sites up to date with a host.
func (cs *claims) count(h *host) {
	f := &cs.fair
	if was := h.counted.site; was == nil || was.name != h.site && f.siteOf(h.site) != was {
		cs.moveSite(h, f.siteOf(h.site))
	}
	now := amounts{}
	if h.eligible() {
		now = amounts{h.slots, min(h.load, h.slots), h.memory}
	}
	h.counted.site.sums.change(h.counted.amounts, now)
	f.all.change(h.counted.amounts, now)
	h.counted.amounts = now
}

func (a *amounts) change(was, now amounts) {
	a.slots += now.slots - was.slots
	a.used += now.used - was.used
	a.memory += now.memory - was.memory
}

// moveSite has a host count as of another site, with the slots that are held there.
func (cs *claims) moveSite(h *host, to *site) {
	from := h.counted.site
	if from != nil {
		from.sums.change(h.counted.amounts, amounts{})
		for _, l := range h.leases {
			if l.is(leasing.Open) {
				l.job.claim.moveSlot(from, to)
			}
		}
		cs.fair.leaves(from)
	}
	to.sums.change(amounts{}, h.counted.amounts)
	to.hosts++
	h.counted.site = to
}

func (cl *claimant) moveSlot(from, to *site) {
	if cl.at[from]--; cl.at[from] == 0 {
		delete(cl.at, from)
	}
	cl.at[to]++
}

// uncount takes a host out that is forgotten.
func (cs *claims) uncount(h *host) {
	if s := h.counted.site; s != nil {
		s.sums.change(h.counted.amounts, amounts{})
		cs.fair.all.change(h.counted.amounts, amounts{})
		h.counted.amounts = amounts{}
		cs.fair.leaves(s)
	}
}

// leaves forgets a site with its last host.
func (f *fairness) leaves(s *site) {
	if s.hosts--; s.hosts > 0 || s.name == "" {
		return
	}
	delete(f.sites, s.name)
	f.order = slices.DeleteFunc(f.order, func(o *site) bool { return o == s })
}
