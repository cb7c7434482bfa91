package message

import "godwit/task"

// Wrong tells a worker of a result of its own that the submitter found wrong. It asks for nothing:
// the owner of a machine that errs is to know.
type Wrong struct {
	Result task.Result `cbor:"1,keyasint"` // as the worker signed it
	Why    string      `cbor:"2,keyasint"` // in words
}
