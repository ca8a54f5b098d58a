package baseline

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// maxEntries bounds what one query returns.
const maxEntries = 10_000

// Store is an open database. It is safe for concurrent use, also by several programs.
type Store struct {
	db       *sql.DB
	postgres bool
}

// Open opens the database at a path, or at a postgres:// URL, and brings its tables up to
// date. A missing file is created. A password is better in PGPASSWORD than in the URL; it
// is in no error either way.
func Open(ctx context.Context, where string) (*Store, error) {
	s := &Store{}
	if strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://") {
		cfg, err := pgx.ParseConfig(where)
		if err != nil {
			return nil, fmt.Errorf("baseline database: the PostgreSQL URL %s cannot be used: write postgres://USER@HOST:PORT/DATABASE", shown(where))
		}
		if cfg.ConnectTimeout == 0 {
			cfg.ConnectTimeout = 10 * time.Second
		}
		s.db, s.postgres = stdlib.OpenDB(*cfg), true
	} else {
		if strings.Contains(where, "://") {
			return nil, fmt.Errorf("baseline database %s: give a path, or a postgres:// URL", shown(where))
		}
		abs, err := filepath.Abs(where)
		if err != nil {
			return nil, fmt.Errorf("baseline database %s: %w", where, err)
		}
		dsn := url.URL{Scheme: "file", Path: abs, RawQuery: "_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)"}
		if s.db, err = sql.Open("sqlite", dsn.String()); err != nil {
			return nil, fmt.Errorf("baseline database %s: %w", where, err)
		}
		s.db.SetMaxOpenConns(1) // SQLite has one writer
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("baseline database %s: %w", shown(where), err), s.db.Close())
	}
	return s, nil
}

// shown is a place without its password.
func shown(where string) string {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" {
		if strings.Contains(where, "://") {
			return "(unreadable URL)"
		}
		return where
	}
	u.RawQuery = ""
	return u.Redacted()
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// migrations returns the steps from an empty database to the present tables. A step that
// was released is never changed.
func migrations() []string {
	return []string{
		`CREATE TABLE runs (
			id TEXT PRIMARY KEY, dir TEXT NOT NULL, recorded BIGINT NOT NULL,
			machine TEXT NOT NULL, config TEXT NOT NULL, engine TEXT NOT NULL, model TEXT NOT NULL,
			version TEXT NOT NULL, simulated INTEGER NOT NULL, verdict TEXT NOT NULL, headline TEXT NOT NULL, requests BIGINT NOT NULL)`,
		`CREATE TABLE figures (
			run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, name TEXT NOT NULL, value DOUBLE PRECISION NOT NULL, PRIMARY KEY (run, name))`,
		`CREATE INDEX runs_of_series ON runs (machine, config, engine, model, recorded)`,
	}
}

// lockKey is the advisory lock that keeps two programs from migrating at once.
const lockKey = 0x1b_ba5e

func (s *Store) migrate(ctx context.Context) error {
	return s.within(ctx, func(tx *sql.Tx) error {
		if s.postgres {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", lockKey); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS inferencebench_schema (version INTEGER NOT NULL)"); err != nil {
			return err
		}
		var at sql.NullInt64
		if err := tx.QueryRowContext(ctx, "SELECT MAX(version) FROM inferencebench_schema").Scan(&at); err != nil {
			return err
		}
		steps := migrations()
		if int(at.Int64) > len(steps) {
			return fmt.Errorf("written by a newer version (tables %d; this program knows %d)", at.Int64, len(steps))
		}
		for i := int(at.Int64); i < len(steps); i++ {
			if _, err := tx.ExecContext(ctx, steps[i]); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
			if _, err := tx.ExecContext(ctx, s.bind("INSERT INTO inferencebench_schema (version) VALUES (?)"), i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// within runs f in one transaction.
func (s *Store) within(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// bind writes the placeholders of a statement as the database wants them.
func (s *Store) bind(query string) string {
	if !s.postgres {
		return query
	}
	var b strings.Builder
	n := 0
	for _, c := range query {
		if c == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}
