package message_test

import (
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
)

// BenchmarkDecodeFrame reads a frame of a message of each kind.
func BenchmarkDecodeFrame(b *testing.B) {
	frame, err := message.EncodeFrame(schedtest.EveryMessage(b))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		if _, err := message.DecodeFrame(frame); err != nil {
			b.Fatal(err)
		}
	}
}
