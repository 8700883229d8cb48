output "topic" {
  description = "Publish changes here."
  value       = google_pubsub_topic.changes.id
}

output "job" {
  value = google_dataflow_flex_template_job.pipeline.job_id
}
