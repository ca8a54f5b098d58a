package accuracy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func table(t *testing.T) []Row {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.Open(filepath.Join(dir, "../shared/data/silicon/h100_sxm.csv"))
	if err != nil {
		t.Skipf("the table of measured servers is not here: %v", err)
	}
	defer f.Close()
	rows, skipped, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows, %d skipped", len(rows), skipped)
	return rows
}

func TestAgainstMeasuredServers(t *testing.T) {
	rows, step := table(t), every
	if testing.Short() {
		step = 9
	}
	var some []Row
	for i := 0; i < len(rows); i += step {
		some = append(some, rows[i])
	}
	points, err := Compare(context.Background(), some)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Print(&b, points); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", b.String())
	for i, limit := range []struct {
		rows int
		mape float64
	}{{80, 0.04}, {170, 0.06}, {500, 0.09}} {
		most := limit.mape
		if step > 1 { // some rows of the table stand for all
			most *= 1.3
		}
		if g := Groups(points)[i]; g.N < limit.rows/step-2 || g.MAPE > most {
			t.Errorf("%s: time a token is off by %.1f %% over %d rows; want at most %.1f %% over at least %d", g.Name, 100*g.MAPE, g.N, 100*most, limit.rows/step-2)
		}
	}
}

func TestReadRefusesWhatIsNoTable(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"nothing", "", "no header line"},
		{"other columns", "a,b\n1,2\n", "missing"},
		{"a broken quote", "id,silicon_data_source,backend,model_path,system,isl,osl,tp_size,silicon_ttft_ms,silicon_tpot_ms\n\"x", "line 2"},
	} {
		if _, _, err := Read(strings.NewReader(row.in)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: error %v; want one about %q", row.name, err, row.want)
		}
	}
	rows, skipped, err := Read(strings.NewReader("id,silicon_data_source,backend,mode,model_path,system,isl,osl,tp_size,silicon_ttft_ms,silicon_tpot_ms\n" +
		"a,silicon_concurrency=8,vllm,agg,m,g,10,20,1,5,2\nb,silicon_concurrency=8,vllm,disagg,m,g,10,20,1,5,2\nc,nothing,vllm,agg,m,g,10,20,1,5,2\nd,silicon_concurrency=8,vllm,agg,m,g,10,20,1,NaN?,2\n"))
	if err != nil || len(rows) != 1 || skipped != 3 || rows[0].Concurrency != 8 {
		t.Errorf("rows %+v, skipped %d, error %v; want the first row only", rows, skipped, err)
	}
}

func TestRowsThatCannotBeAreRefused(t *testing.T) {
	good := Row{ID: "good", Backend: "vllm", Model: "meta-llama/Llama-3.1-8B-Instruct", GPU: "h100_sxm", Precision: "bf16", Input: 1024, Output: 64, Concurrency: 8, TP: 1, EP: 1, DP: 1, TTFT: 80, TPOT: 8}
	with := func(f func(*Row)) Row { r := good; f(&r); return r }
	for _, row := range []struct {
		name, want string
		row        Row
	}{
		{"tokens faster than the weights can be read", "of peak bandwidth", with(func(r *Row) { r.TPOT = 2 })},
		{"prompts faster than they can be computed", "of peak arithmetic", with(func(r *Row) { r.Concurrency, r.Input, r.Output, r.TTFT, r.TPOT = 64, 8000, 2, 300, 30 })},
		{"a model without a shape here", "unknown model", with(func(r *Row) { r.Model = "acme/giant" })},
		{"a device without constants here", "unknown GPU", with(func(r *Row) { r.GPU = "tpu" })},
		{"8-bit floats on a device without them", "no 8-bit floating point", with(func(r *Row) { r.GPU, r.Precision = "a100_sxm", "fp8" })},
		{"a model that does not fit", "out of memory", with(func(r *Row) { r.Model = "meta-llama/Llama-3.1-70B" })},
		{"attention data parallelism", "not modelled", with(func(r *Row) { r.DP = 4 })},
	} {
		points, err := Compare(context.Background(), []Row{row.row, good})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(points[0].Refused, row.want) || points[1].Refused != "" || points[1].SimTPOT < 6 || points[1].SimTPOT > 12 {
			t.Errorf("%s: refused with %q, the good row %+v; want %q", row.name, points[0].Refused, points[1], row.want)
		}
	}
}
