package tools

import "context"

// Progress tells a waiting client how far a call has come.
type Progress struct {
	Progress float64 // grows from report to report
	Total    float64 // 0: not known
	Message  string
}

type progressKey struct{}

// WithProgress returns a context in which a call's progress goes to report.
// report must not block and may be called from several goroutines.
func WithProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ProgressOf returns where progress of a call goes; nil when nobody asked for it.
func ProgressOf(ctx context.Context) func(Progress) {
	report, _ := ctx.Value(progressKey{}).(func(Progress))
	return report
}
