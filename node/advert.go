package node

// advertiseSoon has the adverts for all overlays issued again.
func (n *Node) advertiseSoon() {
	n.at(func() {
		for _, m := range n.peer.Members() {
			m.AdvertiseSoon()
		}
	})
}

// addrsChanged is called by the network when others are to reach this node in
// other ways than before.
func (n *Node) addrsChanged() { n.post(post{call: n.advertiseSoon}) }
