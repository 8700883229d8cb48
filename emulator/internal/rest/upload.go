package rest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"beamcdc/emulator/internal/engine"
)

// Uploads of a load job's file, by Google's two protocols.
//
// Behavior:
//   - uploadType=multipart: one request of two parts, the job and the file.
//   - uploadType=resumable: a first request with the job, which answers with the address
//     that takes the file, in one request or several, each with a Content-Range. One that
//     isn't the last is answered with 308 and the range that has come, or, for clients
//     that send X-GUploader-No-308, with 200 and that status in a header. "bytes */…"
//     asks what has come.
//   - A file has at most maxUpload bytes; the latest maxUploads that aren't whole are
//     remembered.

const (
	maxUpload  = 256 << 20
	maxUploads = 20
)

// uploads are the files of load jobs that are on their way.
type uploads struct {
	mu   sync.Mutex
	byID map[string]*file
	list []string // oldest first
}

// file is what has come of a file, and the job that it is for.
type file struct {
	mu       sync.Mutex
	project  string
	job      []byte // its resource; its ID once the file is whole
	content  []byte
	finished bool
}

func (s *Service) upload(w http.ResponseWriter, r *http.Request) {
	answer := func(result any, err error) {
		s.answer(w, r, func(*http.Request) (any, error) { return result, err })
	}
	q := r.URL.Query()
	if id := q.Get("upload_id"); id != "" {
		s.continueUpload(w, r, id, answer)
		return
	}
	switch kind := q.Get("uploadType"); kind {
	case "multipart":
		job, content, err := readMultipart(r)
		if err != nil {
			answer(nil, err)
			return
		}
		answer(s.beginJob(r.Context(), r.PathValue("project"), job, content))
	case "resumable":
		job, err := readBody(r)
		if err != nil {
			answer(nil, err)
			return
		}
		id := s.uploads.begin(r.PathValue("project"), job)
		w.Header().Set("Location", s.options.BaseURL+r.URL.Path+"?uploadType=resumable&upload_id="+id)
		w.Header().Set("X-GUploader-UploadID", id)
	default:
		answer(nil, engine.Invalid("Invalid value for uploadType: %s", engine.Clip(kind)))
	}
}

// readMultipart reads the two parts of a multipart/related request.
func readMultipart(r *http.Request) (job, content []byte, err error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") || parameters["boundary"] == "" {
		return nil, nil, engine.Invalid("The request is no multipart/related with a boundary")
	}
	parts := multipart.NewReader(r.Body, parameters["boundary"])
	for _, into := range []*[]byte{&job, &content} {
		part, err := parts.NextRawPart()
		if err != nil {
			return nil, nil, engine.Invalid("The request has not two parts, a job and a file: %v", err)
		}
		if *into, err = io.ReadAll(part); err != nil {
			return nil, nil, uploadError(err)
		}
	}
	if len(content) > maxUpload {
		return nil, nil, errUploadSize
	}
	return job, notNil(content), nil
}

func uploadError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errUploadSize
	}
	return engine.Invalid("Reading the upload: %v", err)
}

var errUploadSize = &engine.Error{
	Code: http.StatusRequestEntityTooLarge, Reason: "uploadTooLarge", Status: "INVALID_ARGUMENT",
	Message: fmt.Sprintf("The file has more than %d bytes, which this emulator's uploads may have.", maxUpload),
}

func notNil(content []byte) []byte { return append([]byte{}, content...) }

func (u *uploads) begin(project string, job []byte) (id string) {
	id = rand.Text()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byID == nil {
		u.byID = map[string]*file{}
	}
	if len(u.list) >= maxUploads {
		delete(u.byID, u.list[0])
		u.list = u.list[1:]
	}
	u.byID[id] = &file{project: project, job: job}
	u.list = append(u.list, id)
	return id
}

func (u *uploads) find(id string) *file {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.byID[id]
}

// continueUpload takes a part of a file, and begins its job once it is whole.
func (s *Service) continueUpload(w http.ResponseWriter, r *http.Request, id string, answer func(any, error)) {
	f := s.uploads.find(id)
	if f == nil || f.project != r.PathValue("project") {
		answer(nil, engine.NotFound("Not found: upload %s", engine.Clip(id)))
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.finished { // a client that lost the answer asks again
		answer(s.shownJob(f.project, string(f.job)))
		return
	}
	first, total, asks, err := parseContentRange(r.Header.Get("Content-Range"))
	if err != nil {
		answer(nil, err)
		return
	}
	if !asks {
		part, err := io.ReadAll(r.Body)
		switch {
		case err != nil:
			answer(nil, uploadError(err))
			return
		case first > int64(len(f.content)):
			answer(nil, engine.Invalid("Invalid Content-Range: bytes before %d are missing", first))
			return
		}
		// What came before comes again after a connection that was cut.
		part = part[min(int64(len(part)), int64(len(f.content))-first):]
		if len(f.content)+len(part) > maxUpload {
			answer(nil, errUploadSize)
			return
		}
		f.content = append(f.content, part...)
	}
	if total < 0 || int64(len(f.content)) < total {
		if len(f.content) > 0 {
			w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(f.content)-1))
		}
		if r.Header.Get("X-GUploader-No-308") == "yes" {
			w.Header().Set("X-Http-Status-Code-Override", "308")
			return
		}
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	result, err := s.beginJob(r.Context(), f.project, f.job, notNil(f.content))
	if job, ok := result.(*jobResource); ok && err == nil {
		f.finished, f.job, f.content = true, []byte(job.JobReference.JobId), nil
	}
	answer(result, err)
}

// parseContentRange reads "bytes 0-9/10", "bytes 0-9/*", "bytes */10", or nothing for
// all of a file in one request. total is -1 where it isn't known; asks says that there
// is no content.
func parseContentRange(text string) (first, total int64, asks bool, err error) {
	if text == "" {
		return 0, 0, false, nil
	}
	bad := engine.Invalid("Invalid Content-Range: %s", engine.Clip(text))
	span, size, ok := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	if !ok {
		return 0, 0, false, bad
	}
	total = -1
	if size != "*" {
		if total, err = strconv.ParseInt(size, 10, 62); err != nil || total < 0 {
			return 0, 0, false, bad
		}
	}
	if span == "*" {
		return 0, total, true, nil
	}
	from, to, ok := strings.Cut(span, "-")
	if !ok {
		return 0, 0, false, bad
	}
	first, err = strconv.ParseInt(from, 10, 62)
	if err != nil || first < 0 {
		return 0, 0, false, bad
	}
	if last, err := strconv.ParseInt(to, 10, 62); err != nil || last < first-1 {
		return 0, 0, false, bad
	}
	return first, total, false, nil
}
