package stream

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// beat is how often a line says that the stream is still there: proxies end one that is silent for a minute.
	beat = 15 * time.Second
	// longest is how long one stream lasts. A browser dials again by itself, and is asked who it is.
	longest = time.Hour
	// retry is after how many milliseconds it does.
	retry = 2000
)

// Serve answers a request with what is new, until its context ends, the reader is too slow, or an hour is over.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request) error {
	after, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64) // what is none is no frame's
	l, err := h.Listen(after)
	if err != nil {
		return err
	}
	defer l.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	to := http.NewResponseController(w)
	end := time.Now().Add(longest)
	if err := write(w, to, fmt.Appendf(nil, "retry: %d\n\n", retry)); err != nil {
		return nil
	}
	for r.Context().Err() == nil && time.Now().Before(end) {
		text := []byte(":\n\n")
		if frames := l.Next(r.Context(), beat); len(frames) > 0 {
			text = encode(frames)
		}
		if write(w, to, text) != nil {
			return nil
		}
	}
	return nil
}

// write sends text at once. The writer bounds the time that the reader takes: one that does not read is dropped.
func write(w http.ResponseWriter, to *http.ResponseController, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return err
	}
	return to.Flush()
}

// encode writes frames as a browser reads them. Data has no line ends: it is JSON.
func encode(frames []Frame) []byte {
	var out []byte
	for _, f := range frames {
		out = fmt.Appendf(out, "id: %d\nevent: %s\ndata: %s\n\n", f.Number, f.Topic, f.Data)
	}
	return out
}
