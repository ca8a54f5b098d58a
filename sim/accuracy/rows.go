// Package accuracy compares the simulated engine with measured servers, row by row of a
// public table of times to first token and times a token.
//
// No row is fitted. The kernel constants come from timings of single kernels. One constant
// an engine, how long a step without captured graphs takes to launch, was chosen from the
// range of its kind with this table in view; docs/simulator.md says so beside the figures.
package accuracy

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Row is one measured point.
type Row struct {
	ID, Backend, Version, Model, GPU string
	Precision                        string // of the weights: "bf16", "fp8" or "fp4"
	Input, Output, Concurrency       int    // tokens, tokens, requests in flight
	TP, EP, DP                       int    // tensor, expert and attention-data parallel degree
	TTFT, TPOT                       float64
}

// GPUs is the number of devices that serve the row together.
func (r Row) GPUs() int { return r.TP * r.DP }

var concurrency = regexp.MustCompile(`silicon_concurrency=(\d+)`)

// Read parses the table: CSV with a header line, columns by name. Disaggregated rows are
// left out, since their two halves are different servers; so are rows without a stated
// concurrency. skipped counts both.
func Read(r io.Reader) (rows []Row, skipped int, err error) {
	cr := csv.NewReader(r)
	cr.FieldsPerRecord = -1
	head, err := cr.Read()
	if err != nil {
		return nil, 0, fmt.Errorf("silicon table: no header line: %w", err)
	}
	col := make(map[string]int, len(head))
	for i, h := range head {
		col[strings.TrimSpace(h)] = i
	}
	for _, need := range []string{"id", "silicon_data_source", "backend", "model_path", "system", "isl", "osl", "tp_size", "silicon_ttft_ms", "silicon_tpot_ms"} {
		if _, ok := col[need]; !ok {
			return nil, 0, fmt.Errorf("silicon table: the column %q is missing", need)
		}
	}
	for line := 2; ; line++ {
		rec, err := cr.Read()
		if err == io.EOF {
			return rows, skipped, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("silicon table: line %d: %w", line, err)
		}
		get := func(name string) string {
			if i, ok := col[name]; ok && i < len(rec) {
				return strings.TrimSpace(rec[i])
			}
			return ""
		}
		num := func(name string, d int) int {
			if n, err := strconv.ParseFloat(get(name), 64); err == nil && n > 0 && n < 1e7 {
				return int(n)
			}
			return d
		}
		m := concurrency.FindStringSubmatch(get("silicon_data_source"))
		if get("mode") != "agg" || m == nil {
			skipped++
			continue
		}
		row := Row{
			ID: get("id"), Backend: get("backend"), Version: get("backend_version"), Model: get("model_path"), GPU: get("system"),
			Precision: get("gemm_quant_mode"), Input: num("isl", 0), Output: num("osl", 0), TP: num("tp_size", 1), EP: num("moe_ep_size", 1), DP: num("attention_dp_size", 1),
		}
		switch {
		case row.Precision == "":
			row.Precision = "bf16"
		case strings.HasPrefix(row.Precision, "fp8"):
			row.Precision = "fp8"
		case strings.Contains(row.Precision, "fp4"):
			row.Precision = "fp4"
		}
		row.Concurrency, _ = strconv.Atoi(m[1])
		var err1, err2 error
		row.TTFT, err1 = strconv.ParseFloat(get("silicon_ttft_ms"), 64)
		row.TPOT, err2 = strconv.ParseFloat(get("silicon_tpot_ms"), 64)
		if err1 != nil || err2 != nil || row.TPOT <= 0 || row.TTFT <= 0 || row.Input < 1 || row.Output < 2 || row.Concurrency < 1 {
			skipped++
			continue
		}
		rows = append(rows, row)
	}
}
