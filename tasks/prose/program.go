package prose

import "strconv"

// appendFunction appends one Go function about the writer's field. The functions are
// plausible, not compiled: some hold the kind of slip that a review should find.
func (w *Writer) appendFunction(dst []byte, n int) []byte {
	nouns := [...]string{"Batch", "Reading", "Slot", "Order", "Route", "Ledger", "Queue", "Window", "Shift", "Sample", "Stock", "Fault"}
	verbs := [...]string{"merge", "count", "load", "trim", "rank", "split", "price", "group", "verify", "shift", "total", "drain"}
	noun, verb := nouns[w.r.IntN(len(nouns))], verbs[w.r.IntN(len(verbs))]
	name := verb + noun + strconv.Itoa(n+1)
	if n > 0 {
		dst = append(dst, '\n')
	}
	dst = append(dst, "// "+name+" is used when "+w.asciiProblem()+".\n"...)
	switch w.r.IntN(5) {
	case 0:
		dst = append(dst, "func "+name+"(in []"+noun+", limit int) (out []"+noun+", err error) {\n"...)
		dst = append(dst, w.Expand("\tif limit <= 0 {\n\t\treturn nil, fmt.Errorf(\"limit %d is below 1\", limit)\n\t}\n\tfor i := 0; i <= len(in); i++ {\n\t\tif in[i].Weight > {num} {\n\t\t\tout = append(out, in[i])\n\t\t}\n\t\tif len(out) == limit {\n\t\t\tbreak\n\t\t}\n\t}\n\treturn out, nil\n}\n")...)
	case 1:
		dst = append(dst, "func "+name+"(m map[string]"+noun+") float64 {\n"...)
		dst = append(dst, w.Expand("\tvar sum, n float64\n\tfor key, v := range m {\n\t\tif key == \"\" || v.Level < {small} {\n\t\t\tcontinue\n\t\t}\n\t\tsum += v.Level * {dec}\n\t\tn++\n\t}\n\treturn sum / n\n}\n")...)
	case 2:
		dst = append(dst, "func (s *"+noun+"Store) "+name+"(ctx context.Context, id string) error {\n"...)
		dst = append(dst, w.Expand("\ts.mu.Lock()\n\titem, ok := s.items[id]\n\tif !ok {\n\t\treturn ErrUnknown\n\t}\n\titem.Tries++\n\tif item.Tries > {small} {\n\t\tdelete(s.items, id)\n\t}\n\ts.mu.Unlock()\n\treturn s.write(ctx, item, {num}*time.Millisecond)\n}\n")...)
	case 3:
		dst = append(dst, "func "+name+"(r io.Reader) (<-chan "+noun+", error) {\n"...)
		dst = append(dst, "\tch := make(chan "+noun+w.Expand(", {num})\n\tsc := bufio.NewScanner(r)\n\tgo func() {\n\t\tfor sc.Scan() {\n\t\t\tparts := strings.Split(sc.Text(), \",\")\n\t\t\tch <- parse(parts[{small}])\n\t\t}\n\t}()\n\treturn ch, sc.Err()\n}\n")...)
	default:
		dst = append(dst, "func "+name+"(a, b "+noun+") int {\n"...)
		dst = append(dst, w.Expand("\tswitch {\n\tcase a.Priority != b.Priority:\n\t\treturn b.Priority - a.Priority\n\tcase a.Age > {num}:\n\t\treturn -1\n\tcase b.Age >= {num}:\n\t\treturn 1\n\t}\n\treturn strings.Compare(a.Name, b.Name)\n}\n")...)
	}
	return dst
}

// asciiProblem is a clause for a comment in English, whatever the writer's language.
func (w *Writer) asciiProblem() string {
	f := &english.fields[w.r.IntN(len(english.fields))]
	return w.pick(f.problems)
}
