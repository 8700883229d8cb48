# The account of launcher and workers. Dataflow wants the first role on the project; the
# others have what the pipeline calls, and no more, each on the one thing that it is for:
# docs/security.md has the list, and what settings need besides.
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

resource "google_project_iam_custom_role" "source" {
  project     = var.project
  role_id     = "${replace(var.name, "-", "_")}_beamcdc_source"
  title       = "beamcdc: reads ${var.name}'s changes"
  permissions = ["pubsub.subscriptions.consume", "pubsub.subscriptions.get"]
}

resource "google_project_iam_custom_role" "dead_letters" {
  project     = var.project
  role_id     = "${replace(var.name, "-", "_")}_beamcdc_dead_letters"
  title       = "beamcdc: publishes ${var.name}'s dead letters"
  permissions = ["pubsub.topics.get", "pubsub.topics.publish"]
}

resource "google_project_iam_custom_role" "tables" {
  project     = var.project
  role_id     = "${replace(var.name, "-", "_")}_beamcdc_tables"
  title       = "beamcdc: writes ${var.name}'s tables"
  permissions = ["bigquery.tables.get", "bigquery.tables.updateData"]
}

resource "google_pubsub_subscription_iam_member" "pipeline" {
  project      = var.project
  subscription = google_pubsub_subscription.changes.name
  role         = google_project_iam_custom_role.source.name
  member       = google_service_account.pipeline.member
}

resource "google_pubsub_topic_iam_member" "pipeline" {
  project = var.project
  topic   = google_pubsub_topic.dead_letters.name
  role    = google_project_iam_custom_role.dead_letters.name
  member  = google_service_account.pipeline.member
}

resource "google_bigquery_dataset_iam_member" "pipeline" {
  project    = var.project
  dataset_id = google_bigquery_dataset.shop.dataset_id
  role       = google_project_iam_custom_role.tables.name
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
