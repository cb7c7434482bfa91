package member

// lend obeys the owner.
func (p *Peer) lend(l Lent) {
	before := p.lent
	p.lent, p.shared = l, false
	p.departs()
	p.shareOut()
	if l.State == before.State {
		return
	}
	for _, m := range p.members {
		regroupNow(m)
		m.AdvertiseSoon()
	}
}

// DiskFull has the peer promise nothing, for a reason that others are told, and leave
// leading to others, until RoomAgain.
func (p *Peer) DiskFull(reason string) {
	p.full, p.shared = reason, false
	for _, m := range p.members {
		m.obey(m.lease.Yield(p.now))
	}
	p.shareOut()
}

// RoomAgain takes back DiskFull.
func (p *Peer) RoomAgain() {
	p.full, p.shared = "", false
	for _, m := range p.members {
		regroupNow(m)
	}
}
