package bags

import (
	"fmt"
	"os"
	"testing"
)

func TestScratch2(t *testing.T) {
	if os.Getenv("SCRATCH") == "" { t.Skip() }
	o := &Options{Sets: scratchSets(t), Placement: "expected", Migration: "cost", Seed: 1, Runs: 6,
		Only: func(c *Contender) bool { return os.Getenv("ABL") != "" && c.Part == Ablation }}
	if os.Getenv("SIZES") == "50" { o.Sizes = []int{50} }
	r, err := Run(o)
	if err != nil { t.Fatal(err) }
	for _, x := range r.Rows {
		if x.Part == Ours || x.Part == Ablation || (x.Set == "" && x.Part != "") {
			fmt.Printf("%-8s %-38s /fcfs %.3f worst %.3f %-18s p95 %.3f ideal %.3f sent %.3f up %7.0f lost %5.1f moves %5.1f copies %.1f\n", x.Set, x.Name, x.TimesFCFS, x.Worst, x.WorstAt, x.LateFCFS, x.TimesIdeal, x.SentFCFS, x.UploadMiB, x.Lost, x.Moves, x.Copies)
		}
	}
}
