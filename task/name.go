package task

import (
	"crypto/sha256"
	"fmt"
)

// A Name is what a task is called by all that decides what it comes to. Of two tasks of one name the result of one is
// that of the other: they may be of two jobs, and of two stages.
type Name [sha256.Size]byte

// A FilesName is the same of files that a task reads of others.
type FilesName [sha256.Size]byte

// nameForm is part of every name. It changes when anything else does that decides what a task comes to, such as
// what a program finds in its sandbox: then nothing of before is taken for the same.
const nameForm = 1

// Plain returns the CID and the size that a stored file has before it is sealed, without a name. Names are computed of
// these, because each job has its own key. Of a result's output it gets the inline content, too. A nil Plain is that of
// files that are not sealed.
type Plain func(stored Output) (FileRef, error)

// Of returns what p returns for a file, with the file's name.
func (p Plain) Of(stored Output) (FileRef, error) {
	plain := FileRef{CID: stored.CID, Size: stored.Size}
	if p != nil {
		var err error
		if plain, err = p(stored); err != nil {
			return FileRef{}, fmt.Errorf("naming file %s: %w", stored.Name, err)
		}
	}
	plain.Name = stored.Name
	return plain, nil
}

// input is Of for an input.
func (p Plain) input(f FileRef) (FileRef, error) {
	return p.Of(Output{Name: f.Name, CID: f.CID, Size: f.Size})
}

// named is what the name of a task is of. The point is part of it, though a program may not read it: the random
// bytes that a program draws follow from its task, so that two trials of one point come to two results.
type named struct {
	_         struct{} `cbor:",toarray"`
	Form      int
	Module    CID
	Memory    int64
	Params    []EnvVar
	Args      []string
	Env       []EnvVar
	Files     []FileRef
	Stdin     *FileRef
	StdinFrom string
	Outputs   []string
	Reads     []FilesName
}

// NameOf returns the name of a task: by its module, its point, its arguments and its environment, by what its inputs
// hold, and by what it reads of other tasks, which reads names, need by need: see FilesOf and NameFiles. Whether files
// are sealed, and under which key, is no part of it: plain is that of the job's inputs. rows is as for ExpandBy, whose
// errors it returns, and plain's.
func (j *Job) NameOf(index uint64, rows Rows, plain Plain, reads []FilesName) (Name, error) {
	inv, err := j.ExpandBy(index, rows)
	if err != nil {
		return Name{}, err
	}
	of, _ := j.At(index)
	n := named{Form: nameForm, Module: of.Module, Memory: of.Memory, Params: inv.Params, Args: inv.Args, Env: inv.Env,
		Files: make([]FileRef, len(inv.Files)), Outputs: of.Outputs, Reads: reads}
	for i, f := range inv.Files {
		if n.Files[i], err = plain.input(f); err != nil {
			return Name{}, err
		}
	}
	if inv.Stdin != nil {
		stdin, err := plain.input(*inv.Stdin)
		if err != nil {
			return Name{}, err
		}
		n.Stdin = &stdin
	}
	if len(j.Stages) > 0 {
		stage, _ := j.StageOf(index)
		n.StdinFrom = j.Stages[stage].StdinFrom
	}
	b, err := Encode(&n)
	if err != nil {
		return Name{}, fmt.Errorf("naming task %d: %w", index, err)
	}
	return sha256.Sum256(b), nil
}

// NameFiles names files by what they are called and what they hold, in their order.
func NameFiles(files []Output) (FilesName, error) {
	type file struct {
		_    struct{} `cbor:",toarray"`
		Name string
		CID  CID
	}
	all := make([]file, len(files))
	for i := range files {
		all[i] = file{Name: files[i].Name, CID: files[i].CID}
	}
	b, err := Encode(all)
	if err != nil {
		return FilesName{}, fmt.Errorf("naming files: %w", err)
	}
	return sha256.Sum256(b), nil
}
