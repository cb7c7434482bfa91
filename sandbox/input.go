package sandbox

import (
	"fmt"
	"io"
	"os"
)

// lendFrom is how large an input file is lent instead of sent: from a page of a guest on
// the memory saved is worth the system calls.
const lendFrom = 64 << 10

// putInput gives the child an input file of this host. It is lent where the system knows
// how, else sent piece by piece: this process never has it in memory.
func (c *child) putInput(key, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return &inputError{err}
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return &inputError{fmt.Errorf("reading %s: %w", path, err)}
	}
	size := st.Size()
	if size > MaxInputs {
		return &inputError{fmt.Errorf("%s is over the limit of %d bytes", path, MaxInputs)}
	}
	if c.lender != nil && size >= lendFrom {
		if err := c.lender.lend(f); err != nil {
			return err
		}
		err = writeFrame(c.in, request{Put: &put{Key: key, Lent: size}})
	} else {
		err = sendFrame(c.in, request{Put: &put{Key: key}}, f, size)
	}
	if err != nil {
		return fmt.Errorf("sending %s: %w", path, err)
	}
	c.held[key] = size
	return nil
}

// sendFrame sends one frame whose body is read as it is sent. After an error the frame is
// not whole, and nobody can go on from there.
func sendFrame(w io.Writer, header any, body io.Reader, size int64) error {
	head, err := frameHead(header, size)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = io.CopyN(w, body, size)
	return err
}

// put keeps content under its key.
func (s *server) put(p *put, body []byte) error {
	if p.Lent == 0 {
		s.contents[p.Key] = body
		return nil
	}
	b, err := borrow(p.Lent)
	if err != nil {
		return err
	}
	s.contents[p.Key] = b
	s.borrowed[p.Key] = true
	return nil
}

// drop forgets content. No task runs: nothing refers to it.
func (s *server) drop(key string) {
	if s.borrowed[key] {
		giveBack(s.contents[key])
		delete(s.borrowed, key)
	}
	delete(s.contents, key)
}
