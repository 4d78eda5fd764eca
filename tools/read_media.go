package tools

import (
	"errors"
	"fmt"
	"io"

	"mcp-tools/tools/media"
)

// What read_file shows that is no text.

// mediaHead is how much of a file says what kind it is.
const mediaHead = 1 << 10

// showMedia shows a picture or a PDF; ok is false where the file is neither.
func (s *Session) showMedia(in readFileInput, r *fileReader) (out Output, ok bool, err error) {
	head := make([]byte, mediaHead)
	n, err := r.f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Output{}, false, nil // the text's reader will say it
	}
	head = head[:n]
	if _, is := media.PictureType(head); is {
		out, err = r.picture(in)
		return out, true, err
	}
	if media.IsPDF(head) {
		out, err = r.pdf(in)
		return out, true, err
	}
	return Output{}, false, nil
}

// picture is the file as an image, made to fit a model.
func (r *fileReader) picture(in readFileInput) (Output, error) {
	shown := shorten(in.FilePath, maxPathShown)
	if r.info.Size() > media.MaxPictureBytes {
		return Output{}, fmt.Errorf("%s is a picture of %s; at most %s are shown", shown, byteSize(r.info.Size()), byteSize(media.MaxPictureBytes))
	}
	content, err := io.ReadAll(io.LimitReader(r.start(), media.MaxPictureBytes+1))
	if err != nil {
		return Output{}, err
	}
	p, err := media.ReadPicture(r.ctx, content)
	if err != nil {
		return Output{}, fmt.Errorf("%s: %w", shown, err)
	}
	text := fmt.Sprintf("%s: %s, %d × %d px", shown, p.MIMEType, p.Width, p.Height)
	return Output{Text: text, Notes: p.Notes, Images: []Image{{MIMEType: p.MIMEType, Data: p.Data}}}, nil
}

// pdf is the text of some pages.
func (r *fileReader) pdf(in readFileInput) (Output, error) {
	var o media.PDFOptions
	if in.Pages != "" {
		var err error
		if o.From, o.To, err = media.ParsePages(in.Pages); err != nil {
			return Output{}, err
		}
	}
	doc, err := media.ReadPDF(r.ctx, r.f, r.info.Size(), o)
	if err != nil {
		return Output{}, fmt.Errorf("%s: %w", shorten(in.FilePath, maxPathShown), err)
	}
	out := Output{Text: doc.String()}
	if in.Offset != nil || in.Limit != nil {
		out.Notes = append(out.Notes, "ignored offset and limit: a PDF is shown by pages")
	}
	return out, nil
}
