package report

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/inferencebench/inferencebench/archive"
)

// changes are the settings that differ, and how many are the same.
func changes(runs []Compared) (out []changed, same int) {
	flat := make([]map[string]string, len(runs))
	var names []string
	for i, r := range runs {
		flat[i] = settingsOf(r.Run.Manifest)
		for k := range flat[i] {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		values := make([]string, len(runs))
		equal := true
		for i := range runs {
			v, ok := flat[i][n]
			if !ok {
				v = "–"
			}
			values[i] = v
			equal = equal && v == values[0]
		}
		if equal {
			same++
		} else {
			out = append(out, changed{n, values})
		}
	}
	return out, same
}

// settingsOf flattens what a manifest says about server, client and campaign.
func settingsOf(m archive.Manifest) map[string]string {
	out := map[string]string{
		"server.url": m.Server.URL, "server.engine": m.Server.Engine, "server.version": m.Server.Version, "server.model": m.Server.Model,
		"server.max_model_len": optInt(m.Server.MaxModelLen), "tool.version": m.Tool.Version, "tool.commit": m.Tool.Commit,
		"host.cpu": m.Host.CPU, "host.cores": itoa(m.Host.Cores), "host.kernel": m.Host.Kernel, "seed": fmt.Sprint(m.Seed),
	}
	for k, v := range m.Server.Settings {
		out["engine."+k] = v
	}
	for i, g := range m.GPUs {
		out[fmt.Sprintf("gpu.%d", i)] = g.Name + ", driver " + g.Driver
	}
	var cfg any
	if json.Unmarshal(m.Config, &cfg) == nil {
		flatten("config", cfg, out, 0)
	}
	return out
}

// flatten names every leaf of a JSON value by its path.
func flatten(path string, v any, out map[string]string, depth int) {
	if len(out) > 2000 || depth > 12 {
		return
	}
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			flatten(path+"."+k, e, out, depth+1)
		}
	case []any:
		for i, e := range x {
			flatten(fmt.Sprintf("%s[%d]", path, i), e, out, depth+1)
		}
	default:
		out[path] = fmt.Sprint(x)
	}
}
