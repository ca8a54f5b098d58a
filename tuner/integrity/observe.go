package integrity

import (
	"context"
	"encoding/json"

	"github.com/inferencebench/inferencebench/tuner/live"
	"github.com/inferencebench/inferencebench/tuner/space"
)

// Observe implements live.Observer: what Watch sees, as JSON.
func (o *Observer) Observe(ctx context.Context, s live.Server, _ space.Assignment) (json.RawMessage, error) {
	client, base, header, err := s.Target.Side(s.URL, s.Getenv)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	w, err := o.Watch(ctx, Subject{HTTP: client, Base: base, Model: s.Target.Model, Header: header})
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}
