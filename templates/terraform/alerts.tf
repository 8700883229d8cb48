locals {
  alerts = {
    backlog = {
      name      = "changes wait for more than 10 minutes"
      filter    = "metric.type = \"pubsub.googleapis.com/subscription/oldest_unacked_message_age\" AND resource.type = \"pubsub_subscription\" AND resource.labels.subscription_id = \"${google_pubsub_subscription.changes.name}\""
      aligner   = "ALIGN_MAX"
      threshold = 600
      duration  = "300s"
      help      = "The pipeline does not run, has too few workers, or BigQuery refuses. The job's logs tell."
    }
    dead_letters = {
      name      = "changes became dead letters"
      filter    = "metric.type = \"pubsub.googleapis.com/topic/send_request_count\" AND resource.type = \"pubsub_topic\" AND resource.labels.topic_id = \"${google_pubsub_topic.dead_letters.name}\""
      aligner   = "ALIGN_DELTA"
      threshold = 0
      duration  = "0s"
      help      = "Each letter's attributes beamcdc_stage, beamcdc_reason and beamcdc_error tell why; mend the cause and replay them."
    }
    undeliverable = {
      name      = "messages made the workers fail again and again"
      filter    = "metric.type = \"pubsub.googleapis.com/subscription/dead_letter_message_count\" AND resource.type = \"pubsub_subscription\" AND resource.labels.subscription_id = \"${google_pubsub_subscription.changes.name}\""
      aligner   = "ALIGN_DELTA"
      threshold = 0
      duration  = "0s"
      help      = "They are on the topic for what can't be delivered. The job's logs tell what the workers failed with."
    }
    lag = {
      name      = "the job is more than 10 minutes behind"
      filter    = "metric.type = \"dataflow.googleapis.com/job/system_lag\" AND resource.type = \"dataflow_job\" AND resource.labels.job_name = \"${google_dataflow_flex_template_job.pipeline.name}\""
      aligner   = "ALIGN_MAX"
      threshold = 600
      duration  = "300s"
      help      = "A bundle is tried again and again, or the workers are too few."
    }
  }
}

resource "google_monitoring_alert_policy" "pipeline" {
  for_each              = local.alerts
  project               = var.project
  display_name          = "${var.name}: ${each.value.name}"
  combiner              = "OR"
  notification_channels = var.notification_channels

  conditions {
    display_name = each.value.name
    condition_threshold {
      filter          = each.value.filter
      comparison      = "COMPARISON_GT"
      threshold_value = each.value.threshold
      duration        = each.value.duration
      aggregations {
        alignment_period   = "60s"
        per_series_aligner = each.value.aligner
      }
    }
  }

  documentation {
    content = each.value.help
  }
}
