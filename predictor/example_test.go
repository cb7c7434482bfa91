package predictor_test

import (
	"fmt"
	"time"

	"godwit/predictor"
	"godwit/trace"
)

// A host comes to work at nine and leaves at five. Any peer that has its record says
// at noon how long it will stay.
func Example() {
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	host := predictor.NewRecorder(&predictor.Pool{})
	for day := range 5 {
		morning := monday.AddDate(0, 0, day).Add(9 * time.Hour)
		host.Observe(morning, trace.Available)
		host.Observe(morning.Add(8*time.Hour), trace.UserPresent)
	}
	host.Observe(monday.AddDate(0, 0, 5).Add(9*time.Hour), trace.Available)
	noon := monday.AddDate(0, 0, 5).Add(12 * time.Hour)
	host.Tick(noon)

	record := host.Record()
	gossiped, err := record.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(gossiped) == predictor.RecordSize)

	var heard predictor.Record
	if err := heard.UnmarshalBinary(gossiped); err != nil {
		fmt.Println(err)
		return
	}
	peer := predictor.NewReader(&heard, &predictor.Pool{})
	four, _ := peer.Stay(noon, 4*time.Hour)
	six, _ := peer.Stay(noon, 6*time.Hour)
	fmt.Println("until four o'clock, rather yes:", four > 0.7)
	fmt.Println("until six o'clock, rather no:", six < 0.3)
	// Output:
	// true
	// until four o'clock, rather yes: true
	// until six o'clock, rather no: true
}

// A predictor is named as in a scenario, and asked about one host.
func ExampleParse() {
	model, err := predictor.Parse("tde:n=2,reading=prefix")
	if err != nil {
		fmt.Println(err)
		return
	}
	p := model.New(&predictor.Pool{})
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for day := range 3 { // there for the first two hours of each day
		p.Observe(midnight.AddDate(0, 0, day), trace.Available)
		p.Observe(midnight.AddDate(0, 0, day).Add(2*time.Hour), trace.Unavailable)
	}
	stay, known := p.Stay(midnight.AddDate(0, 0, 2), 4*time.Hour)
	fmt.Println(stay, known)
	// Output: 0.5 true
}
