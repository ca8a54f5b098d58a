package landscape

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/inferencebench/inferencebench/tuner/space"
)

// probes is how many configurations identify a table: a change of the simulator that
// changes any of them makes the table anew.
const probes = 12

// cached returns the table from the folder where it lies, else makes it and puts it there.
func (s *Spec) cached(ctx context.Context, sp *space.Space, workers int, folder string) (map[string]Truth, error) {
	if folder == "" {
		return s.table(ctx, sp, workers)
	}
	all := sp.All()
	h := sha256.New()
	for i := range min(probes, len(all)) {
		a := sp.At(all[i*len(all)/probes])
		t, err := s.play(ctx, a)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%s %+v\n", s.Same(a), t)
	}
	for _, p := range all {
		fmt.Fprintln(h, s.Same(sp.At(p)))
	}
	path := filepath.Join(folder, fmt.Sprintf("%s-%x.json", s.Name, h.Sum(nil)[:8]))
	table := map[string]Truth{}
	if raw, err := os.ReadFile(path); err == nil && json.Unmarshal(raw, &table) == nil && len(table) > 0 {
		return table, nil
	}
	table, err := s.table(ctx, sp, workers)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(table)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(path+".new", raw, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, fmt.Errorf("landscape %s: keep the table: %w", s.Name, err)
	}
	return table, nil
}
