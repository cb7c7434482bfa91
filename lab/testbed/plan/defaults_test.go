package plan

import (
	"slices"
	"testing"

	"godwit/migrate"
	"godwit/scheduler/place"
	"godwit/sim"
)

// TestDefaultScenariosHaveEveryPolicy: a new policy has to be compared with FCFS, too. See `godwit reproduce live`.
func TestDefaultScenariosHaveEveryPolicy(t *testing.T) {
	policies := func(file string, of func(*sim.Scenario) string) (names []string) {
		e, err := Scenario("../../../examples/scenarios/" + file)
		if err != nil {
			t.Fatal(err)
		}
		grid, err := e.Grid()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range grid {
			names = append(names, of(s))
		}
		return slices.Sorted(slices.Values(names))
	}
	got := policies("defaults-placement.yaml", func(s *sim.Scenario) string { return s.Placement })
	if want := slices.Sorted(slices.Values(place.Names())); !slices.Equal(got, want) {
		t.Errorf("placement policies %q, want %q", got, want)
	}
	got = policies("defaults-migration.yaml", func(s *sim.Scenario) string { return s.Migration })
	if want := slices.Sorted(slices.Values(append(migrate.Names(), NoMigration))); !slices.Equal(slices.Compact(got), slices.Compact(want)) {
		t.Errorf("migration policies %q, want %q", got, want)
	}
}
