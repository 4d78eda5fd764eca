package charset

import "fmt"

func Explain(b []byte) string {
	out := ""
	cs := weighAll(window(b))
	for i, c := range cs {
		name := "UTF-8"
		if c.codec != nil { name = c.codec.name }
		if i < 6 { out += fmt.Sprintf("      %s/%s %d total %d worst %d\n", name, c.language, c.score(), c.total, c.worst) }
	}
	if len(cs) > 0 && cs[0].codec != nil && cs[0].worst > Slump {
		rest := window(b)
		for len(rest) > 0 {
			line := rest[:lineLength(rest)]
			rest = rest[len(line):]
			var s sum
			cs[0].weigh(line, &s)
			if s.total < -15 { t, _ := Encoding{cs[0].codec}.Decode(line); out += fmt.Sprintf("          %d %q\n", s.total, t) }
		}
	}
	return out
}
