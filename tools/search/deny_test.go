package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsDeniedIsNeverSeen(t *testing.T) {
	deny := func(path string) bool { return path == "secret" || path == "d/key" }
	files := map[string]string{"a": "x\n", "secret/b": "x\n", "d/key": "x\n", "d/open": "x\n"}
	for name, row := range map[string]struct {
		base, pattern string
		paths         []string
		denied        int
	}{
		"in a walk":                    {".", "**", []string{"a", "d/open"}, 2},
		"spelled out by the pattern":   {".", "secret/b", nil, 1},
		"as the folder to start in":    {"secret", "**", nil, 1},
		"as the file to start at":      {"d/key", "**", nil, 1},
		"below the folder to start in": {"d", "*", []string{"d/open"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			scope := Scope{Root: open(t, tree(t, files)), Base: row.base, Deny: deny, Hidden: true, IncludeIgnored: true}
			list, err := List(context.Background(), scope, ListQuery{Pattern: row.pattern})
			require.NoError(t, err)
			var paths []string
			for _, f := range list.Files {
				paths = append(paths, f.Path)
			}
			require.Equal(t, row.paths, paths)
			require.Equal(t, row.denied, list.Denied)
		})
	}
}
