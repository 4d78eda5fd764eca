package charset

import (
	"strings"
	"sync"
)

// A reading is a way to read bytes: an encoding and a language. A text without a
// language, such as a table of names, is read as its most likely one.
type reading struct {
	codec    *codec // nil: UTF-8
	language string
	prior    bits // how much rarer it is than the usual ones
	weigher
}

// A weigher adds the evidence of a line for a reading; false: it cannot be read.
type weigher interface {
	weigh(line []byte, s *sum) bool
}

// A sum is evidence added up.
type sum struct {
	total bits
	drop  bits // how far the total is below its highest
	worst bits // the largest drop
}

func (s *sum) add(e bits) {
	s.total += e
	s.drop = max(0, s.drop-e)
	s.worst = max(s.worst, s.drop)
}

// wideReadings and narrowReadings are all readings: the encodings with what each
// is rarer, and the languages they may hold, with what each is rarer.
var wideReadings = []struct {
	encoding, language string
	prior              bits
}{
	{"GBK", "zh-Hans", 0},
	{"Shift_JIS", "ja", 0},
	{"Big5", "zh-Hant", 2},
	{"EUC-KR", "ko", 2},
	{"EUC-JP", "ja", 4},
	{"GB18030", "zh-Hans", 4},
	{"GBK", "zh-Hant", 6},
}

var narrowReadings = []struct {
	encoding  string
	prior     bits
	languages string
}{
	{"windows-1252", 0, western},
	{"windows-1251", 0, cyrillic},
	{"windows-1250", 2, central},
	{"windows-1254", 4, "tr"},
	{"windows-1253", 4, "el"},
	{"windows-1257", 5, "lt lv et"},
	{"windows-1255", 5, "he"},
	{"windows-1256", 5, "ar fa"},
	{"windows-874", 5, "th"},
	{"windows-1258", 8, "vi"},
	{"ISO-8859-15", 8, western},
	{"ISO-8859-2", 4, central},
	{"ISO-8859-7", 8, "el"},
	{"ISO-8859-5", 14, cyrillic},
	{"ISO-8859-6", 12, "ar"},
	{"ISO-8859-13", 10, "lt lv et"},
	{"ISO-8859-4", 14, "lt lv et"},

	{"KOI8-R", 5, "ru bg"},
	{"KOI8-U", 8, "uk"},
	{"IBM866", 6, "ru bg"},
	{"IBM855", 16, "ru bg sr"},
	{"IBM850", 10, western},
	{"IBM437", 12, western},
	{"IBM860", 12, "pt"},
	{"IBM852", 12, central},
	{"IBM862", 16, "he"},
	{"macintosh", 14, western},
	{"x-mac-cyrillic", 16, cyrillic},
}

const (
	western  = "de fr es it pt nl sv da nb fi is ca west"
	central  = "pl cs sk hu sl hr ro central"
	cyrillic = "ru uk bg be sr mk"
)

var readings = sync.OnceValue(func() []*reading {
	var all []*reading
	for _, w := range wideReadings {
		c := byName[fold(w.encoding)]
		all = append(all, &reading{c, w.language, w.prior, &wideReading{c.decoder(), charactersOf(w.language)}})
	}
	for _, n := range narrowReadings {
		c := byName[fold(n.encoding)]
		for language := range strings.FieldsSeq(n.languages) {
			all = append(all, &reading{c, language, n.prior, newNarrow(c, language)})
		}
	}
	u := &utf8Reading{}
	for _, language := range []string{"zh-Hans", "zh-Hant", "ja", "ko"} {
		u.models = append(u.models, charactersOf(language))
	}
	return append(all, &reading{nil, "", 0, u})
})
