package node

// advertiseSoon has the adverts for all overlays issued again.
func (d *driver) advertiseSoon() {
	d.at(func() {
		for _, m := range d.peer.Members() {
			m.AdvertiseSoon()
		}
	})
}

// addrsChanged is called by the network when others are to reach this node in
// other ways than before.
func (d *driver) addrsChanged() { d.post(post{call: d.advertiseSoon}) }
