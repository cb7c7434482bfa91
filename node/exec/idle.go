package exec

import "os"

// mostIdle bounds what lies staged though no task reads it now, in bytes: tasks of a sweep that
// share files find them there, and a machine that lends little space does not fill with them.
const mostIdle = 1 << 30

// rest gives up a file that was taken, which stays here for whoever takes it next: until
// there are mostIdle bytes of such, or something else needs the space. Then the one goes that was
// used longest ago.
func (s *staging) rest(n stagedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.leave(n)
	if f == nil {
		return
	}
	if f.err != nil {
		s.remove(n, f)
		return
	}
	f.idle = s.idle.PushBack(n)
	s.idleBytes += f.bytes
	s.shrink(mostIdle)
}

// forget removes a file that no task reads now.
func (s *staging) forget(n stagedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[n]; f != nil && f.idle != nil {
		s.remove(n, f)
	}
}

// clear removes all files that no task reads now, for something that needs the space, and reports
// whether there were any.
func (s *staging) clear() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.idle.Len() > 0
	s.shrink(0)
	return had
}

// shrink removes idle files, the one used longest ago first, until there are at most so many bytes;
// with 0 all of them. s.mu is held.
func (s *staging) shrink(most int64) {
	for e := s.idle.Front(); e != nil && (most == 0 || s.idleBytes > most); e = s.idle.Front() {
		n := e.Value.(stagedName)
		s.remove(n, s.files[n])
	}
}

// wake has a file be no longer idle; s.mu is held.
func (s *staging) wake(f *staged) {
	if f.idle != nil {
		s.idle.Remove(f.idle)
		f.idle = nil
		s.idleBytes -= f.bytes
	}
}

// remove removes a file that nobody uses; s.mu is held.
func (s *staging) remove(n stagedName, f *staged) {
	s.wake(f)
	delete(s.files, n)
	if f.bytes > 0 || f.err == nil {
		os.Remove(s.path(n))
	}
	s.Space.Release(f.bytes)
}
