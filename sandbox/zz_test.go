package sandbox
import ("testing";"time";"strings";"fmt")
func TestZZ(t *testing.T){
	for name, unit := range map[string]string{
		"braces": "{a,b}", "for": "for i in 1 2 3 4 5 6 7 8 9 0; do ", "eval": "eval ", "pipes": "echo a | bash | ", "and": "true && ", "substitution": "$(echo ",
		"parens": "(", "backticks": "`", "quotes": "'", "here": "<<a ", "vars": "x=$x$x; ", "functions": "f() { ", "defaults": "${x:-", "arith": "$((", "case": "case a in a) ",
		"index": "a[", "old arith": "$[", "double": `"$(`,
	} {
		for _, tail := range []string{"", " done", "x"} {
			line := strings.Repeat(unit, maxAnalysed/len(unit)-1) + tail
			began := time.Now()
			done:=make(chan string,1)
			go func(){ r,_:=Denied(line); done<-r }()
			select{ case r:=<-done: fmt.Printf("%s %q %v %s\n",name,tail,time.Since(began),r)
			case <-time.After(5*time.Second): panic("slow "+name+tail) }
		}}
}
