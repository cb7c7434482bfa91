package mapping

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"godwit/api"
	"godwit/task"
)

// Submit stores the module, the inputs and their files at the node, and hands in the job to an overlay, by its
// name or ID, "" for the node's usual.
func (p *Plan) Submit(ctx context.Context, client *api.Client, overlay string) (task.JobID, error) {
	req := api.SubmitRequest{FileName: p.module, File: p.text, Overlay: overlay}
	m, err := client.PutFile(ctx, bytes.NewReader(p.code))
	if err != nil {
		return "", err
	}
	req.Module = m.CID
	if req.Key, err = client.NewKey(ctx, overlay); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(p.inputs)) {
		ref, err := put(ctx, client, p.inputs[name], req.Key)
		if err != nil {
			return "", err
		}
		req.Inputs = append(req.Inputs, task.FileRef{Name: name, CID: ref.CID, Size: ref.Size})
	}
	if _, err := p.rows.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("reading the inputs: %w", err)
	}
	ref, err := client.PutSealed(ctx, req.Key, io.NopCloser(p.rows)) // which is read again
	if err != nil {
		return "", err
	}
	t := p.table
	t.CID, t.Size = ref.CID, ref.Size
	req.Tables = map[string]task.Table{axis: t}
	return client.Submit(ctx, req)
}

func put(ctx context.Context, client *api.Client, path string, key []byte) (api.FileReply, error) {
	f, err := os.Open(path)
	if err != nil {
		return api.FileReply{}, fmt.Errorf("reading an input's file: %w", err)
	}
	defer f.Close()
	return client.PutSealed(ctx, key, f)
}
