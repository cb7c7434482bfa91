// Workflow is the program of four stages: it simulates epidemics, drops days on which nothing happens, sums
// up those of a town, and draws all towns. Which of these it does is its first argument.
package main

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	switch args := os.Args[1:]; args[0] {
	case "simulate":
		simulate(number(args[1]), number(args[2]))
	case "clean":
		clean()
	case "fit":
		fit(args[1])
	case "report":
		report()
	}
}

// simulate writes how many are ill on each day. The random numbers follow from the parameters.
func simulate(people, seed int) {
	const meet, catch, heal = 8, 0.04, 0.1 // a day: people met, chance to catch it of one, chance to be well again
	rng := rand.New(rand.NewPCG(uint64(people), uint64(seed)))
	well, ill := people-5, 5
	var b strings.Builder
	for day := 0; day < 200; day++ {
		fmt.Fprintf(&b, "%d,%d\n", day, ill)
		caught, healed := 0, 0
		for range ill {
			for range meet {
				if rng.Float64() < catch*float64(well-caught)/float64(people) {
					caught++
				}
			}
			if rng.Float64() < heal {
				healed++
			}
		}
		well, ill = well-caught, ill+caught-healed
	}
	write("days.csv", b.String())
}

// clean drops days on which nobody is ill.
func clean() {
	var b strings.Builder
	for _, row := range rows("simulate/days.csv") {
		if row[1] != "0" {
			fmt.Fprintln(&b, strings.Join(row, ","))
		}
	}
	write("days.csv", b.String())
}

// fit writes the mean of the worst days of a town's epidemics.
func fit(town string) {
	files, sum := names("clean/*/days.csv"), 0
	for _, f := range files {
		worst := 0
		for _, row := range rows(f) {
			worst = max(worst, number(row[1]))
		}
		sum += worst
	}
	write("fit.csv", fmt.Sprintf("%s,%d,%.2f\n", town, len(files), float64(sum)/float64(len(files))))
}

// report writes a page with a bar for each town.
func report() {
	var bars strings.Builder
	for i, f := range names("fit/*/fit.csv") {
		row := rows(f)[0]
		mean, err := strconv.ParseFloat(row[2], 64)
		must(err)
		const perPixel, height = 8, 24
		fmt.Fprintf(&bars, `<rect x="90" y="%d" width="%.1f" height="16"/><text x="0" y="%d">%s</text>`+
			`<text x="%.1f" y="%d">%s of %s runs</text>`+"\n", i*height, mean/perPixel, i*height+13, row[0],
			96+mean/perPixel, i*height+13, row[2], row[1])
	}
	write("report.html", "<!doctype html><title>Ill at the worst</title>\n"+
		"<h1>People ill on the worst day, by town</h1>\n<svg width=\"700\" height=\"140\">\n"+bars.String()+"</svg>\n")
}

func rows(name string) [][]string {
	f, err := os.Open(name)
	must(err)
	out, err := csv.NewReader(f).ReadAll()
	must(err)
	return out
}

func names(pattern string) []string {
	out, err := filepath.Glob(pattern)
	must(err)
	return out
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

func write(name, text string) { must(os.WriteFile(name, []byte(text), 0o666)) }

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
