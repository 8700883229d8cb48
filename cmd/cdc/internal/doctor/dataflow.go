package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/storage"
)

// Dataflow are the options that a job would be launched with.
type Dataflow struct {
	Wanted  bool
	Project string
	Region  string
	Staging string // gs://…, as --staging_location
	Temp    string // gs://…, as --temp_location; "" for Staging
}

// dataflow looks at the options of a Dataflow job.
func (x *examination) dataflow(ctx context.Context) {
	job := x.request.Dataflow
	const about = "the Dataflow job"
	x.add(judgeJob(job)...)
	places := map[string]string{"staging_location": job.Staging}
	if job.Temp != "" && bucketOf(job.Temp) != bucketOf(job.Staging) {
		places["temp_location"] = job.Temp
	}
	for flag, place := range places {
		bucket := bucketOf(place)
		if bucket == "" {
			continue // judgeJob has said so
		}
		location, err := bucketLocation(ctx, bucket)
		switch {
		case errors.Is(err, storage.ErrBucketNotExist):
			x.add(Finding{Fatal, about, fmt.Sprintf("--%s names the bucket %s, which does not exist", flag, bucket), "gcloud storage buckets create gs://" + bucket + " --location=" + job.Region})
		case err != nil:
			x.add(Finding{Unknown, about, fmt.Sprintf("whether the bucket %s can be written to: %v", bucket, err), granting(err, "storage.buckets.get on it", "look for yourself")})
		case job.Region != "" && !near(location, job.Region):
			x.add(Finding{Warning, about, fmt.Sprintf("--%s is in %s, and the job in %s", flag, location, job.Region), "use a bucket in the job's region"})
		default:
			x.checked("bucket %s", bucket)
		}
	}
}

// judgeJob returns what the options alone show to be wrong.
func judgeJob(job Dataflow) []Finding {
	const about = "the Dataflow job"
	var found []Finding
	if job.Project == "" {
		found = append(found, Finding{Fatal, about, "no project", "give --project"})
	}
	if job.Region == "" {
		found = append(found, Finding{Fatal, about, "no region", "give --region, such as europe-west1, of the datasets' location"})
	}
	if bucketOf(job.Staging) == "" {
		found = append(found, Finding{Fatal, about, "no place for the job's files", "give --staging_location gs://BUCKET/FOLDER"})
	}
	if job.Temp != "" && bucketOf(job.Temp) == "" {
		found = append(found, Finding{Fatal, about, "--temp_location is no place in Cloud Storage", "give --temp_location gs://BUCKET/FOLDER"})
	}
	return found
}

// bucketOf returns the bucket of gs://BUCKET/…, "" for what is none.
func bucketOf(place string) string {
	rest, ok := strings.CutPrefix(place, "gs://")
	if !ok {
		return ""
	}
	bucket, _, _ := strings.Cut(rest, "/")
	return bucket
}

func bucketLocation(ctx context.Context, bucket string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	client, err := storage.NewClient(ctx) // STORAGE_EMULATOR_HOST is honoured
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }()
	attributes, err := client.Bucket(bucket).Attrs(ctx)
	if err != nil {
		return "", err
	}
	return attributes.Location, nil
}
