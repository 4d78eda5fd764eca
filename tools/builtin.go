package tools

// Builtin lists the tools of this program. To add one write its file and its
// line here.
func Builtin() []Tool {
	list := []Tool{
		readFile(),
		writeFile(),
		editFile(),
		multiEdit(),
		notebookEdit(),
		undo(),
		callTool(),
		listFiles(),
		grepSearch(),
		runShell(),
		webFetch(),
		skill(),
		enterPlanMode(),
		exitPlanMode(),
	}
	return append(list, toolSearch(list))
}
