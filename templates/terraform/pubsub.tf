# The changes. A replay after an accident reads what the topic has kept.
resource "google_pubsub_topic" "changes" {
  project                    = var.project
  name                       = "${var.name}-changes"
  message_retention_duration = "604800s"
}

resource "google_pubsub_subscription" "changes" {
  project                      = var.project
  name                         = "${var.name}-changes"
  topic                        = google_pubsub_topic.changes.id
  ack_deadline_seconds         = 60 # Dataflow extends it
  message_retention_duration   = "604800s"
  retain_acked_messages        = true  # to seek back by time
  enable_exactly_once_delivery = false # rows are idempotent, and Dataflow advises against it

  expiration_policy {
    ttl = "" # never, however long nothing is read
  }

  # The pipeline has dead letters of its own. This one is for what no pipeline takes: a
  # message that made the workers fail again and again. Dataflow supports it in part, since
  # it counts attempts that were not the message's fault: so there are as many as can be.
  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.undeliverable.id
    max_delivery_attempts = 100
  }
}

# What the pipeline could not process, with the reason; and what was never processed.
resource "google_pubsub_topic" "dead_letters" {
  project                    = var.project
  name                       = "${var.name}-changes-dead"
  message_retention_duration = "2678400s"
}

resource "google_pubsub_topic" "undeliverable" {
  project                    = var.project
  name                       = "${var.name}-changes-undeliverable"
  message_retention_duration = "2678400s"
}

# A topic keeps nothing for those who come later unless a subscription does.
resource "google_pubsub_subscription" "dead_letters" {
  for_each = {
    dead          = google_pubsub_topic.dead_letters.id
    undeliverable = google_pubsub_topic.undeliverable.id
  }
  project                    = var.project
  name                       = "${var.name}-changes-${each.key}"
  topic                      = each.value
  message_retention_duration = "2678400s"

  expiration_policy {
    ttl = ""
  }
}

resource "google_pubsub_topic_iam_member" "publishers" {
  for_each = toset(var.publishers)
  project  = var.project
  topic    = google_pubsub_topic.changes.name
  role     = "roles/pubsub.publisher"
  member   = each.value
}

# Pub/Sub itself moves what can't be delivered.
resource "google_project_service_identity" "pubsub" {
  provider = google-beta
  project  = var.project
  service  = "pubsub.googleapis.com"
}

resource "google_pubsub_topic_iam_member" "undeliverable" {
  project = var.project
  topic   = google_pubsub_topic.undeliverable.name
  role    = "roles/pubsub.publisher"
  member  = google_project_service_identity.pubsub.member
}

resource "google_pubsub_subscription_iam_member" "undeliverable" {
  project      = var.project
  subscription = google_pubsub_subscription.changes.name
  role         = "roles/pubsub.subscriber"
  member       = google_project_service_identity.pubsub.member
}
