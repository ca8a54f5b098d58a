package gpu

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Reading is what was read of one GPU, or one MIG instance of it.
type Reading struct {
	Index    int    // as the tool or exporter numbers it; -1 when it does not
	UUID     string // "" when it is not told
	PCI      string // bus address; "" when it is not told
	Name     string
	Instance string // MIG instance id; "" for a whole GPU
	Profile  string // MIG profile, such as "1g.10gb"
	Values   map[string]float64
}

// Target names the GPU in a sample: its UUID where that is known, and its MIG instance.
func (r *Reading) Target() string {
	t := r.UUID
	if t == "" {
		t = "gpu-" + strconv.Itoa(r.Index)
	}
	if r.Instance != "" {
		t += "/gi-" + r.Instance
	}
	return t
}

// Sum adds a value up over GPUs. It is unknown, and ok false, when any of them does not
// tell it: the sum over some is not the sum. Known and of say how many did.
func Sum(rs []Reading, name string) (sum float64, known, of int, ok bool) {
	for _, r := range rs {
		if v, has := r.Values[name]; has {
			sum += v
			known++
		}
	}
	of = len(rs)
	if known != of || of == 0 {
		return 0, known, of, false
	}
	return sum, known, of, true
}

// Mean is the mean of a value over the GPUs that tell it, and how many those are. It is
// unknown, and ok false, when none does.
func Mean(rs []Reading, name string) (mean float64, known int, ok bool) {
	sum := 0.0
	for _, r := range rs {
		if v, has := r.Values[name]; has {
			sum += v
			known++
		}
	}
	if known == 0 {
		return 0, 0, false
	}
	return sum / float64(known), known, true
}

// Used picks the GPUs that a process sees, by the value of its CUDA_VISIBLE_DEVICES (or
// HIP_VISIBLE_DEVICES): indices, UUIDs that start with GPU- or MIG- and may be cut short,
// or "" for all. Indices count in the order of the bus address where all are known, which
// is how CUDA numbers equal GPUs; the list ends, as for CUDA, at the first entry that fits
// no GPU. The readings are returned in the order of rs.
func Used(rs []Reading, visible string) []Reading {
	visible = strings.TrimSpace(visible)
	if visible == "" || strings.EqualFold(visible, "all") {
		return slices.Clone(rs)
	}
	var whole []int // positions of whole GPUs in CUDA's order
	for i, r := range rs {
		if r.Instance == "" {
			whole = append(whole, i)
		}
	}
	if !slices.ContainsFunc(whole, func(i int) bool { return rs[i].PCI == "" }) {
		slices.SortStableFunc(whole, func(a, b int) int { return cmp.Compare(busOrder(rs[a].PCI), busOrder(rs[b].PCI)) })
	} else {
		slices.SortStableFunc(whole, func(a, b int) int { return cmp.Compare(rs[a].Index, rs[b].Index) })
	}
	chosen := map[int]bool{}
	for _, entry := range strings.Split(visible, ",") {
		at := -1
		entry = strings.TrimSpace(entry)
		if n, err := strconv.Atoi(entry); err == nil {
			if n >= 0 && n < len(whole) {
				at = whole[n]
			}
		} else if entry != "" {
			at = slices.IndexFunc(rs, func(r Reading) bool { return strings.HasPrefix(r.UUID, entry) })
		}
		if at < 0 {
			break
		}
		chosen[at] = true
	}
	var out []Reading
	for i, r := range rs {
		if chosen[i] {
			out = append(out, r)
		}
	}
	return out
}

// busOrder makes bus addresses comparable: domains are written with four or eight digits.
func busOrder(pci string) string {
	pci = strings.ToLower(pci)
	if domain, rest, ok := strings.Cut(pci, ":"); ok && strings.Contains(rest, ":") {
		return strings.Repeat("0", max(0, 8-len(domain))) + domain + ":" + rest
	}
	return "00000000:" + pci
}
