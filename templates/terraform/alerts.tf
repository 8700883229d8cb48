# The dashboard and the alert policies are those of templates/operations, where gcloud
# takes them from too.
locals {
  operations = "${path.module}/../operations"

  watched = {
    NAME              = var.name
    SUBSCRIPTION      = google_pubsub_subscription.changes.name
    DEAD_LETTER_TOPIC = google_pubsub_topic.dead_letters.name
    JOB               = google_dataflow_flex_template_job.pipeline.name
  }

  alerts = {
    for file in fileset("${local.operations}/alerts", "*.yaml") :
    trimsuffix(file, ".yaml") => yamldecode(templatefile("${local.operations}/alerts/${file}", local.watched))
  }
}

resource "google_monitoring_dashboard" "pipeline" {
  project        = var.project
  dashboard_json = templatefile("${local.operations}/dashboard.json", local.watched)
}

resource "google_monitoring_alert_policy" "pipeline" {
  for_each              = local.alerts
  project               = var.project
  display_name          = each.value.displayName
  combiner              = each.value.combiner
  notification_channels = var.notification_channels

  dynamic "conditions" {
    for_each = each.value.conditions
    content {
      display_name = conditions.value.displayName

      dynamic "condition_threshold" {
        for_each = try([conditions.value.conditionThreshold], [])
        content {
          filter          = condition_threshold.value.filter
          comparison      = condition_threshold.value.comparison
          threshold_value = condition_threshold.value.thresholdValue
          duration        = condition_threshold.value.duration
          dynamic "aggregations" {
            for_each = condition_threshold.value.aggregations
            content {
              alignment_period     = aggregations.value.alignmentPeriod
              per_series_aligner   = aggregations.value.perSeriesAligner
              cross_series_reducer = try(aggregations.value.crossSeriesReducer, null)
            }
          }
        }
      }

      dynamic "condition_absent" {
        for_each = try([conditions.value.conditionAbsent], [])
        content {
          filter   = condition_absent.value.filter
          duration = condition_absent.value.duration
          dynamic "aggregations" {
            for_each = condition_absent.value.aggregations
            content {
              alignment_period     = aggregations.value.alignmentPeriod
              per_series_aligner   = aggregations.value.perSeriesAligner
              cross_series_reducer = try(aggregations.value.crossSeriesReducer, null)
            }
          }
        }
      }

      dynamic "condition_prometheus_query_language" {
        for_each = try([conditions.value.conditionPrometheusQueryLanguage], [])
        content {
          query               = condition_prometheus_query_language.value.query
          duration            = condition_prometheus_query_language.value.duration
          evaluation_interval = condition_prometheus_query_language.value.evaluationInterval
        }
      }
    }
  }

  documentation {
    content = each.value.documentation.content
  }
}
