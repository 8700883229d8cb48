# The account of launcher and workers. Each role is on the one thing that it is for,
# but for the first, which Dataflow wants on the project.
resource "google_service_account" "pipeline" {
  project      = var.project
  account_id   = "${var.name}-beamcdc"
  display_name = "beamcdc: ${var.name}'s changes to BigQuery"
}

resource "google_project_iam_member" "worker" {
  project = var.project
  role    = "roles/dataflow.worker"
  member  = google_service_account.pipeline.member
}

resource "google_pubsub_subscription_iam_member" "pipeline" {
  for_each     = toset(["roles/pubsub.subscriber", "roles/pubsub.viewer"]) # to read, and to look at it first
  project      = var.project
  subscription = google_pubsub_subscription.changes.name
  role         = each.value
  member       = google_service_account.pipeline.member
}

resource "google_pubsub_topic_iam_member" "pipeline" {
  for_each = toset(["roles/pubsub.publisher", "roles/pubsub.viewer"])
  project  = var.project
  topic    = google_pubsub_topic.dead_letters.name
  role     = each.value
  member   = google_service_account.pipeline.member
}

resource "google_bigquery_dataset_iam_member" "pipeline" {
  project    = var.project
  dataset_id = google_bigquery_dataset.shop.dataset_id
  role       = "roles/bigquery.dataEditor"
  member     = google_service_account.pipeline.member
}

resource "google_storage_bucket" "pipeline" {
  project                     = var.project
  name                        = "${var.project}-${var.name}-beamcdc"
  location                    = var.region
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"

  soft_delete_policy {
    retention_duration_seconds = 0 # temporary files come and go
  }
}

resource "google_storage_bucket_iam_member" "pipeline" {
  bucket = google_storage_bucket.pipeline.name
  role   = "roles/storage.objectAdmin"
  member = google_service_account.pipeline.member
}
