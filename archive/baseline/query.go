package baseline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Add stores a run, in place of what is known of it. added is false where it was there.
func (s *Store) Add(ctx context.Context, e Entry) (added bool, err error) {
	if e.Run == "" {
		return false, errors.New("baseline database: a run without an id cannot be stored: its manifest.json is missing")
	}
	err = s.within(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, s.bind("DELETE FROM runs WHERE id = ?"), e.Run)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		added = n == 0
		simulated := 0
		if e.Simulated {
			simulated = 1
		}
		if _, err := tx.ExecContext(ctx, s.bind("INSERT INTO runs (id, dir, recorded, machine, config, engine, model, version, simulated, verdict, headline, requests) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"),
			e.Run, e.Dir, e.Recorded.UnixNano(), text(e.Series.Machine), e.Series.Config, text(e.Series.Engine), text(e.Series.Model), text(e.Version), simulated, e.Verdict, text(e.Headline), e.Requests); err != nil {
			return err
		}
		for name, v := range e.Metrics {
			if _, err := tx.ExecContext(ctx, s.bind("INSERT INTO figures (run, name, value) VALUES (?,?,?)"), e.Run, name, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("baseline database: store %s: %w", e.Run, err)
	}
	return added, nil
}

// maxText bounds a text of outside.
const maxText = 2000

// text makes outside text fit for the database: valid, without NUL, and bounded.
func text(v string) string {
	if len(v) > maxText {
		v = v[:maxText]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\x00", "")
}

// Remove deletes a run. found is false where it is not there.
func (s *Store) Remove(ctx context.Context, run string) (found bool, err error) {
	res, err := s.db.ExecContext(ctx, s.bind("DELETE FROM runs WHERE id = ?"), run)
	if err != nil {
		return false, fmt.Errorf("baseline database: remove %s: %w", run, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// List returns the runs in the order in which they were recorded: those of one series, or
// with a nil series all; of very many the latest.
func (s *Store) List(ctx context.Context, series *Series) ([]Entry, error) {
	where, args := "", []any{}
	if series != nil {
		where = "WHERE machine = ? AND config = ? AND engine = ? AND model = ?"
		args = []any{text(series.Machine), series.Config, text(series.Engine), text(series.Model)}
	}
	out, at := []Entry{}, map[string]int{}
	err := s.rows(ctx, fmt.Sprintf(`SELECT * FROM (SELECT id, dir, recorded, machine, config, engine, model, version, simulated, verdict, headline, requests
		FROM runs %s ORDER BY recorded DESC, id DESC LIMIT %d) AS latest ORDER BY recorded, id`, where, maxEntries), args, func(r *sql.Rows) error {
		var e Entry
		var ns int64
		var simulated int
		if err := r.Scan(&e.Run, &e.Dir, &ns, &e.Series.Machine, &e.Series.Config, &e.Series.Engine, &e.Series.Model, &e.Version, &simulated, &e.Verdict, &e.Headline, &e.Requests); err != nil {
			return err
		}
		e.Recorded, e.Simulated, e.Metrics = time.Unix(0, ns).UTC(), simulated != 0, map[string]float64{}
		at[e.Run] = len(out)
		out = append(out, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = s.rows(ctx, "SELECT run, name, value FROM figures JOIN runs ON runs.id = figures.run "+where, args, func(r *sql.Rows) error {
		var run, name string
		var v float64
		if err := r.Scan(&run, &name, &v); err != nil {
			return err
		}
		if i, ok := at[run]; ok {
			out[i].Metrics[name] = v
		}
		return nil
	})
	return out, err
}

func (s *Store) rows(ctx context.Context, query string, args []any, each func(*sql.Rows) error) error {
	rows, err := s.db.QueryContext(ctx, s.bind(query), args...)
	if err != nil {
		return fmt.Errorf("baseline database: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return fmt.Errorf("baseline database: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("baseline database: %w", err)
	}
	return nil
}
