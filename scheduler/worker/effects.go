package worker

import "godwit/scheduler/message"

// effects are those of a Step.
type effects []message.Effect

func (e *effects) emit(x message.Effect) { *e = append(*e, x) }
