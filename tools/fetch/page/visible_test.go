package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                       "plain\ttext\n",
		"a\x00b\x07c\x7fd\u0085e":             "abcde",
		"left\u202eright\u202c\u2066x\u2069":  "leftrightx",
		"zero\u200bwidth\ufeff\u2060":         "zerowidth",
		"soft\u00adhyphen":                    "softhyphen",
		"order\U000E0049\U000E0067\U000E006E": "order",
		"flag 🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F": "flag 🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
		"family 👨\u200d👩\u200d👧":                                             "family 👨\u200d👩\u200d👧",
		"skin 👩🏽\u200d🚀":                                                     "skin 👩🏽\u200d🚀",
		"می\u200cخواهم":                                                      "می\u200cخواهم",
		"न\u094d\u200dय":                                                     "न\u094d\u200dय",
		"latin\u200djoined":                                                  "latinjoined",
		"bad \xff byte":                                                      "bad \ufffd byte",
	} {
		assert.Equal(t, want, Visible(in), "%q", in)
	}
}
