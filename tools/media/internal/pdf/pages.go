package pdf

import (
	"maps"
	"slices"
)

const (
	maxPages     = 200_000
	maxTreeDepth = 60
)

// page is a page dictionary, with the resources that it may have inherited.
type page struct {
	object    any // a ref, or a dict within the tree
	resources any
}

// readPages walks the page tree. The counts in it are not believed.
func (f *File) readPages() {
	f.pages = nil
	root := f.dict(f.trailer["Root"])
	f.walkPages(root["Pages"], nil, 0, map[ref]bool{})
	if len(f.pages) == 0 && f.repaired {
		f.findPages()
	}
}

func (f *File) walkPages(node, resources any, depth int, seen map[ref]bool) {
	f.work.step(1)
	if r, ok := node.(ref); ok {
		if seen[r] {
			return
		}
		seen[r] = true
	}
	d, ok := f.resolve(node).(dict)
	if !ok || depth > maxTreeDepth {
		return
	}
	if d["Resources"] != nil {
		resources = d["Resources"]
	}
	if f.name(d["Type"]) != "Page" && d["Kids"] != nil {
		for _, kid := range f.array(d["Kids"]) {
			f.walkPages(kid, resources, depth+1, seen)
		}
		return
	}
	if len(f.pages) >= maxPages {
		panic(stop{ErrTooMuch})
	}
	f.pages = append(f.pages, page{node, resources})
}

// findPages takes all page objects in the order of their numbers, when the
// tree to them is lost.
func (f *File) findPages() {
	for _, num := range slices.Sorted(maps.Keys(f.xref)) {
		f.work.step(1)
		d, ok := f.resolve(ref(num)).(dict)
		if ok && f.name(d["Type"]) == "Page" && len(f.pages) < maxPages {
			f.pages = append(f.pages, page{ref(num), d["Resources"]})
		}
	}
}

// Pages is how many pages the file has, at least 1.
func (f *File) Pages() int { return len(f.pages) }
