resource "google_storage_bucket_object" "configuration" {
  bucket = google_storage_bucket.pipeline.name
  # Its hash is in the name, so that a change of the file is a change of the job.
  name    = "configurations/${var.name}-${substr(filemd5("${path.module}/pipeline.yaml"), 0, 8)}.yaml"
  content = file("${path.module}/pipeline.yaml")
}

resource "google_dataflow_flex_template_job" "pipeline" {
  provider                = google-beta
  project                 = var.project
  region                  = var.region
  name                    = "${var.name}-beamcdc"
  container_spec_gcs_path = var.template
  on_delete               = "drain"
  service_account_email   = google_service_account.pipeline.email
  staging_location        = "gs://${google_storage_bucket.pipeline.name}/staging"
  temp_location           = "gs://${google_storage_bucket.pipeline.name}/temp"
  enable_streaming_engine = true
  num_workers             = 1
  max_workers             = 5
  machine_type            = "n2-standard-2"

  parameters = {
    config            = "gs://${google_storage_bucket.pipeline.name}/${google_storage_bucket_object.configuration.name}"
    subscription      = google_pubsub_subscription.changes.id
    dead_letter_topic = google_pubsub_topic.dead_letters.id
    bigquery_project  = var.project
    trace_id          = var.name
  }

  labels = {
    application = "beamcdc"
  }

  depends_on = [
    google_project_iam_member.worker,
    google_pubsub_subscription_iam_member.pipeline,
    google_pubsub_topic_iam_member.pipeline,
    google_bigquery_dataset_iam_member.pipeline,
    google_storage_bucket_iam_member.pipeline,
    google_bigquery_table.orders,
    google_bigquery_table.customers,
  ]
}
