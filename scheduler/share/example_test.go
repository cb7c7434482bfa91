package share_test

import (
	"fmt"
	"time"

	"godwit/scheduler/share"
)

// Three jobs want all they can get of two sites with 9 and 6 idle slots. Equal parts of
// each site (SEP) give everybody the same mix; equal parts of all sites together (GEP)
// give one job a site to itself (docs/spec/koala.md section 3.7.1).
func Example() {
	jobs := []share.Claimant{
		{ID: "x", Demand: share.Unbounded}, {ID: "y", Demand: share.Unbounded}, {ID: "z", Demand: share.Unbounded},
	}
	sites := []share.Site{{Name: "A", Total: 100, Idle: 9}, {Name: "B", Total: 100, Idle: 6}}
	for _, name := range []string{"sep", "gep"} {
		policy, err := share.Parse(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, g := range policy.Grow(time.Time{}, jobs, sites) {
			fmt.Printf("%s: %s gets %d of %s\n", name, jobs[g.Claimant].ID, g.Slots, sites[g.Site].Name)
		}
	}
	// Output:
	// sep: x gets 3 of A
	// sep: y gets 3 of A
	// sep: z gets 3 of A
	// sep: x gets 2 of B
	// sep: y gets 2 of B
	// sep: z gets 2 of B
	// gep: x gets 5 of A
	// gep: y gets 4 of A
	// gep: y gets 1 of B
	// gep: z gets 5 of B
}
