package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const smallNotebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "aa11",
   "metadata": {"x":   1},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "bb22",
   "metadata": {},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "hello\\n"
     ]
    }
   ],
   "source": [
    "print('hello')"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestReadFileShowsANotebookByCells(t *testing.T) {
	p := newPlace(t, map[string]string{"n.ipynb": smallNotebook, "broken.ipynb": "{\"cells\": 1}\n"})
	got := p.ok("read_file", map[string]any{"file_path": "n.ipynb"})
	for _, part := range []string{"aa11", "# Title", "bb22", "print('hello')", "hello"} {
		require.Contains(t, got, part)
	}
	require.NotContains(t, got, "nbformat")
	page := p.ok("read_file", map[string]any{"file_path": "n.ipynb", "limit": 1})
	require.Contains(t, page, "# Title")
	require.NotContains(t, page, "print")
	require.Contains(t, page, "offset=1")
	broken := p.ok("read_file", map[string]any{"file_path": "broken.ipynb"})
	require.Contains(t, broken, "   1 | {\"cells\": 1}")
	require.Contains(t, broken, "[not shown as a notebook: ")
}

func TestNotebookEditChangesOneCellAndNothingElse(t *testing.T) {
	p := newPlace(t, map[string]string{"n.ipynb": smallNotebook})
	p.ok("read_file", map[string]any{"file_path": "n.ipynb"})
	args := map[string]any{"file_path": "n.ipynb", "cell_id": "bb22", "new_source": "x = 1\ny = 2"}
	require.Equal(t, "Replaced cell bb22 (code) of n.ipynb\nIts old output was cleared: it belonged to the old source.", p.ok("notebook_edit", args))
	before, after, _ := strings.Cut(p.file("n.ipynb"), `   "cell_type": "code"`)
	require.True(t, strings.HasPrefix(smallNotebook, before), "what stands before is as it was")
	require.Contains(t, after, `"metadata": {},
 "nbformat": 4,`)
	require.NotContains(t, after, "hello")
	require.True(t, json.Valid([]byte(p.file("n.ipynb"))))

	require.Contains(t, p.ok("notebook_edit", map[string]any{"file_path": "n.ipynb", "edit_mode": "insert", "cell_id": "aa11", "cell_type": "code", "new_source": "z"}), "Inserted cell ")
	p.ok("notebook_edit", map[string]any{"file_path": "n.ipynb", "edit_mode": "delete", "cell_id": "cell-1", "new_source": ""})
	p.ok("undo", nil)
	p.ok("undo", nil)
	p.ok("undo", nil)
	require.Equal(t, smallNotebook, p.file("n.ipynb"), "all of it is taken back")
}

func TestNotebookEditRefuses(t *testing.T) {
	p := newPlace(t, map[string]string{"n.ipynb": smallNotebook, "b.ipynb": "{}", "a.py": "x\n"})
	edit := func(args map[string]any) string { return p.fails("notebook_edit", args) }
	one := map[string]any{"file_path": "n.ipynb", "cell_id": "bb22", "new_source": "x"}
	require.Contains(t, edit(one), "You must read this file before editing")
	p.ok("read_file", map[string]any{"file_path": "n.ipynb"})
	p.ok("read_file", map[string]any{"file_path": "b.ipynb"})
	for want, args := range map[string]map[string]any{
		"there is no cell \"zz\"":                     {"file_path": "n.ipynb", "cell_id": "zz", "new_source": "x"},
		"cell_id is needed":                           {"file_path": "n.ipynb", "new_source": "x"},
		"cell_type is needed to insert":               {"file_path": "n.ipynb", "edit_mode": "insert", "new_source": "x"},
		"edit_mode is delete, but new_source":         {"file_path": "n.ipynb", "edit_mode": "delete", "cell_id": "bb22", "new_source": "x"},
		"a.py is no notebook (.ipynb); use edit_file": {"file_path": "a.py", "cell_id": "cell-0", "new_source": "x"},
		"b.ipynb cannot be edited as a notebook":      {"file_path": "b.ipynb", "cell_id": "cell-0", "new_source": "x"},
	} {
		require.Contains(t, edit(args), want)
	}
	p.write("n.ipynb", smallNotebook+"\n")
	require.Contains(t, edit(one), "modified externally")
	require.Contains(t, p.fails("edit_file", map[string]any{"file_path": "n.ipynb", "old_string": "# Title", "new_string": "x"}), "Use notebook_edit")
}
