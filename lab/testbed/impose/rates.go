package impose

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"godwit/internal/failure"
	"godwit/scheduler"
	"godwit/task"
)

const (
	// arrivalsName stands in place of a peer where a line tells how fast a class comes.
	arrivalsName = "arrivals"
	// maxRate bounds a rate, in tasks a second, and maxRates the lines of a file.
	maxRate  = 1e9
	maxRates = 1 << 20
)

// ReadRates reads a file of rates that are known beforehand: CSV with lines
// CLASS,PEER,RATE in tasks a second, of which the first may be that heading, and
// CLASS,arrivals,RATE.
func ReadRates(path string) (k scheduler.KnownRates, err error) {
	f, err := os.Open(path)
	if err != nil {
		return k, failure.Usage("", "--rates: %w", err)
	}
	defer f.Close()
	if k, err = parseRates(f); err != nil {
		return k, failure.Usage("a line is CLASS,PEER,RATE, in tasks a second", "--rates: %s: %w", path, err)
	}
	return k, nil
}

func parseRates(r io.Reader) (scheduler.KnownRates, error) {
	k := scheduler.KnownRates{Of: map[string]map[task.PeerID]float64{}, Arrivals: map[string]float64{}}
	lines := csv.NewReader(r)
	lines.FieldsPerRecord, lines.TrimLeadingSpace, lines.Comment = 3, true, '#'
	for n := 0; ; n++ {
		fields, err := lines.Read()
		switch {
		case errors.Is(err, io.EOF):
			return k, nil
		case err != nil:
			return k, err
		case n > maxRates:
			return k, fmt.Errorf("it has more than %d lines", maxRates)
		case n == 0 && strings.EqualFold(strings.Join(fields, ","), "class,peer,rate"):
			continue
		}
		if err := addRate(&k, fields); err != nil {
			line, _ := lines.FieldPos(0)
			return k, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func addRate(k *scheduler.KnownRates, fields []string) error {
	class, who := fields[0], strings.TrimSpace(fields[1])
	if len(class) > task.MaxClass {
		return fmt.Errorf("a class has at most %d bytes", task.MaxClass)
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(fields[2]), 64)
	if err != nil || math.IsNaN(rate) || rate < 0 || rate > maxRate {
		return fmt.Errorf("the rate is %q: write tasks a second, 0 to %g", fields[2], float64(maxRate))
	}
	if who == arrivalsName {
		if _, twice := k.Arrivals[class]; twice {
			return fmt.Errorf("the arrivals of class %q are given twice", class)
		}
		k.Arrivals[class] = rate
		return nil
	}
	peer := task.PeerID(who)
	if _, err := peer.PublicKey(); err != nil {
		return err
	}
	if k.Of[class] == nil {
		k.Of[class] = map[task.PeerID]float64{}
	}
	if _, twice := k.Of[class][peer]; twice {
		return fmt.Errorf("class %q has two rates at %s", class, peer)
	}
	k.Of[class][peer] = rate
	return nil
}
