package api

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/sandbox"
	"godwit/task"
)

func (s *Server) putFile(w http.ResponseWriter, r *http.Request) error {
	sealer, err := sealerOf(r.Header.Get(KeyHeader))
	if err != nil {
		return inputError(err)
	}
	whole := bufio.NewReader(http.MaxBytesReader(w, r.Body, MaxFile))
	start, _ := whole.Peek(len(moduleMagic)) // what is wrong with it, reading it all tells
	c, size, err := s.node.ImportSealed(r.Context(), sealer, whole)
	if err == nil && sealer == nil && string(start) == moduleMagic && size <= sandbox.MaxModule {
		if err := s.node.Ready(r.Context(), c); err != nil {
			s.log.Debug("a program was not made ready", "module", c, "err", err)
		}
	}
	return writeJSON(w, FileReply{CID: c, Size: size}, err)
}

// moduleMagic begins each WebAssembly module. Content that begins so is most likely the program of a job that is about
// to be handed in.
const moduleMagic = "\x00asm"

// newKey gives a key for the inputs of a job that is handed to an overlay.
func (s *Server) newKey(w http.ResponseWriter, r *http.Request) error {
	id, err := s.overlayOrUsual(r.Context(), r.URL.Query().Get("overlay"))
	if err != nil {
		return err
	}
	key, err := s.node.SealingKey(r.Context(), id)
	return writeJSON(w, KeyReply{Key: key}, err)
}

// sealerOf returns the sealer of a key in base64; nil for none.
func sealerOf(key string) (*seal.Sealer, error) {
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, fmt.Errorf("reading the key: %w", err)
	}
	return seal.New(raw)
}

func (s *Server) getTree(w http.ResponseWriter, r *http.Request) error {
	c, err := task.ParseCID(r.PathValue("cid"))
	if err != nil {
		return inputError(err)
	}
	links, err := s.node.Blocks().Tree(r.Context(), c)
	if err != nil {
		return err
	}
	out := make(map[string]task.CID, len(links))
	for _, l := range links {
		out[l.Name] = l.CID
	}
	return writeJSON(w, out, nil)
}

// hasFile answers whether all of a file is here, without its bytes. What is asked for may be
// handed in with a job soon: it counts as used.
func (s *Server) hasFile(w http.ResponseWriter, r *http.Request) error {
	c, err := task.ParseCID(r.PathValue("cid"))
	if err != nil {
		return inputError(err)
	}
	here, err := s.node.Blocks().HasAll(r.Context(), c)
	if err == nil && !here {
		err = fmt.Errorf("%w: %s", blocks.ErrNotFound, c)
	}
	if err == nil {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	return err
}

func (s *Server) getFile(w http.ResponseWriter, r *http.Request) error {
	c, err := task.ParseCID(r.PathValue("cid"))
	if err != nil {
		return inputError(err)
	}
	sealer, err := s.sealerOfJob(r.Context(), r.URL.Query().Get("job"))
	if err != nil {
		return err
	}
	f, size, err := s.node.Blocks().Open(r.Context(), c, blocks.AtMost(maxStored))
	if errors.Is(err, blocks.ErrNotFound) {
		return &Error{Message: err.Error(), Kind: KindNotFound, Status: http.StatusNotFound,
			Hint: "what a task wrote is at /v1/jobs/JOB/tasks/TASK/outputs/NAME: a small output lies in its result alone"}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if size, err = sealer.Plain(size); err != nil {
		return inputError(err)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_, err = io.Copy(w, sealer.Opening(f))
	return ignoreGone(err)
}

// sealerOfJob returns the sealer of a job that this node submitted; nil for "", and for a job
// that is not sealed.
func (s *Server) sealerOfJob(ctx context.Context, ref string) (*seal.Sealer, error) {
	if ref == "" {
		return nil, nil
	}
	id, err := s.jobOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	_, sealer, err := s.opened(ctx, id)
	return sealer, err
}
