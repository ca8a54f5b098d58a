package accuracy

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Run reads the table of measured servers at a path, simulates its rows and prints the
// errors by model, engine and regime, then the rows that were not compared and why. It is
// what `make sim-accuracy` and `inferencebench sim accuracy` do.
func Run(ctx context.Context, path string, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("silicon table: %w: give the path of a CSV file with measured times to first token and times a token", err)
	}
	defer f.Close()
	rows, skipped, err := Read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	points, err := Compare(ctx, rows)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d rows, %d left out (disaggregated, or without a stated concurrency)\n\n", len(rows), skipped)
	return Print(w, points)
}
