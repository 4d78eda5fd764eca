package search

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// legacyText is what a source gives of a file.
func legacyText(t *testing.T, content string) string {
	t.Helper()
	var s source
	require.NoError(t, s.open(t.Context(), strings.NewReader(content), false))
	var out bytes.Buffer
	for {
		text, err := s.window()
		require.NoError(t, err)
		if text == nil {
			return out.String()
		}
		out.Write(text)
	}
}

func TestOlderEncodingsAreReadAsText(t *testing.T) {
	gbk := "# \xca\xfd\xbe\xdd\xbf\xe2\xc1\xac\xbd\xd3\n" // 数据库连接
	require.Equal(t, "# 数据库连接\n", legacyText(t, gbk))
	require.Equal(t, "n = 1\r\n# 数据库连接\n", strings.ReplaceAll(legacyText(t, "n = 1\r\n"+gbk), "n = 1\n", "n = 1\r\n"))
	long := strings.Repeat("x = 1\n", windowSize/12) + gbk + strings.Repeat("y = 2\n", windowSize/3) + gbk
	require.True(t, strings.ReplaceAll(long, gbk, "# 数据库连接\n") == legacyText(t, long), "over several windows")
	for why, same := range map[string]string{
		"UTF-8":             "# 数据库连接\n",
		"UTF-8 that is cut": "# 数据库连\xe6\x8e\n# caf\xc3\xa9\n",
		"nothing sure":      "a\xff\xfeb\n",
		"ASCII":             "plain\n",
	} {
		require.Equal(t, same, legacyText(t, same), why)
	}
}
