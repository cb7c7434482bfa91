package node

import (
	"bytes"
	"encoding/json"
	"testing"

	"godwit/internal/roundtrip"
	"godwit/overlay"
)

// FuzzAddressee checks that no bytes make addressee panic, and that a frame that is taken is
// of the overlay that it was sent to.
func FuzzAddressee(f *testing.F) {
	f.Add(address("commons", []byte{0x80}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	type addressed struct {
		id    overlay.ID
		frame []byte
	}
	read := func(b []byte) (a addressed, err error) {
		a.id, a.frame, err = addressee(b)
		return a, err
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := read(b)
		if err != nil {
			return
		}
		again := roundtrip.Check(t, a, func(a addressed) ([]byte, error) { return address(a.id, a.frame), nil }, read)
		if again.id != a.id || !bytes.Equal(again.frame, a.frame) {
			t.Fatalf("%+v came back as %+v", a, again)
		}
	})
}

// queryBodies read the bodies of questions and answers that are JSON, as a node does.
var queryBodies = []func([]byte) (any, error){
	readAs[leaseMessage], readAs[probeQuery], readAs[probeAnswer], readAs[manifestQuery], readAs[manifestAnswer],
	readAs[jobsQuery], readAs[jobQuery], readAs[whyQuery], readAs[historyQuery], readAs[keyQuery],
	readAs[statesQuery],
	readAs[proofsQuery], readAs[proofsAnswer],
	readAs[talliesQuery], readAs[talliesAnswer], readAs[shownQuery], readAs[shownAnswer], readAs[cellsQuery],
	readAs[creditQuery], readAs[creditAnswer],
	readAs[gridQuery],
}

func readAs[V any](b []byte) (any, error) {
	var v V
	err := json.Unmarshal(b, &v)
	return v, err
}

// FuzzQueries checks that what is read of a question or an answer in JSON is read of its own
// writing, too.
func FuzzQueries(f *testing.F) {
	for i, text := range []string{
		`{"overlay":"commons","kind":"renewal","epoch":7,"group":["a","b"],"leader":"a"}`, `{"peer":"a","wait_ms":5000}`,
		`{"there":true}`, `{"overlay":"commons"}`, `{"first":"AQI=","newest":"AQI="}`, `{"overlay":"commons"}`,
		`{"overlay":"commons","job":"j","from":1,"limit":2}`, `{"overlay":"commons","job":"j","index":3}`,
		`{"peer":"a","since":"2026-01-02T03:04:05Z"}`, `{"overlay":"commons","job":"j"}`,
		`{"overlay":"commons","job":"j","index":3,"root":"AQI=","done":true}`,
		`{"overlay":"commons"}`, `{"statements":["AQI=",""]}`,
		`{"overlay":"commons","have":["AQI="]}`, `{"tallies":["AQI="]}`, `{"overlay":"commons","result":"AQI="}`,
		`{"statement":"AQI="}`, `{"overlay":"commons","mine":true,"direct":true}`,
		`{"overlay":"commons","since":20000,"from":64}`, `{"name":"a","thanks":["AQI="],"more":true}`,
		`{"overlay":"commons","job":"j","bins":7}`,
	} {
		f.Add(uint8(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		read := queryBodies[int(kind)%len(queryBodies)]
		if v, err := read(b); err == nil {
			roundtrip.Check(t, v, json.Marshal, read)
		}
	})
}
