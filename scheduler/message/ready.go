package message

import "godwit/task"

// What a worker has ready for whoever ends next: a slot's next task then waits for no turn of the driver's loop. A
// driver carries these effects out before all others that it has gathered: nothing has to be durable for them.

// Ready says that an attempt may begin, in the place of an attempt of the same worker that completes: at once, in the
// driver's own time. It begins so at most once, and then, before anything else that is told of it, the Ended of the one
// before says so; an Ended of its own follows, as after a Start. Until then Begin or Unready may change it.
type Ready struct{ Start }

// Begin begins an attempt that was Ready, now that there is a slot for it. Of one that has begun already it does
// nothing: what says so is on its way.
type Begin struct {
	Task    task.TaskID
	Attempt Attempt
}

// Unready takes a Ready back. NotBegun answers it, before the driver gives the worker any other event; or
// nothing, if it has begun: what says so is on its way.
type Unready struct {
	Task    task.TaskID
	Attempt Attempt
}

func (Ready) effect()   {}
func (Begin) effect()   {}
func (Unready) effect() {}

// AtOnce reports whether an effect is to be carried out before those that were gathered earlier.
func AtOnce(e Effect) bool {
	switch e.(type) {
	case Ready, Begin, Unready:
		return true
	}
	return false
}

// NotBegun says that an attempt that was Ready has not begun and will not, unless it is asked for anew: it answers an
// Unready, or the driver has nothing begin any more.
type NotBegun struct {
	Task    task.TaskID
	Attempt Attempt
}

func (NotBegun) event() {}
