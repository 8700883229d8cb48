package letters

const usage = `Usage: cdc dead-letters list|show|replay [FLAGS] [LETTER|MESSAGE …]

Looks at what the pipeline could not process, and publishes it again. Which letters:
all, or those that are named by their ID or their message's, as list -each prints them,
and that all of these flags take:

  -stage, -reason, -table WORDS   one of the words, separated by commas; a table also
                                  by its last parts: orders is public.orders, too
  -since, -until TIME             when the message was published: 2026-03-09T08:00:00Z,
                                  2026-03-09, or 36h ago; until that time, not at it
  -message_id IDS                 separated by commas

Where they are:

  -config FILE                    the pipeline's configuration names the place; each of its
                                  scalars is a flag, too, as launch has them:
  -dead_letter_directory DIR      a directory on this machine, or
  -dead_letter_table TABLE        [PROJECT.]DATASET.TABLE, or
  -dead_letter_topic TOPIC        a topic, which is seen through a subscription:
  -dead_letter_subscription NAME  projects/PROJECT/subscriptions/NAME, made before the
                                  letters came. list and show pull without acking and give
                                  all back in the end, at once; others don't get the letters
                                  meanwhile, and a delivery is counted: a subscription with
                                  a dead-letter policy of its own would give them up.
                                  Messages wait in a temporary file of this machine
  -dead_letter_key KEY            what encrypted letters are opened by, if the configuration
                                  has no dead_letters.key, or the writers' public keys:
                                  projects/PROJECT/secrets/NAME, env:VARIABLE or a file
  -wait TIME                      for how long a subscription has nothing to give before it
                                  is taken to be empty. Defaults to 5s
  -bigquery_rest_endpoint, -bigquery_grpc_endpoint, -pubsub_endpoint, -pubsub_plaintext
                                  of emulators; PUBSUB_EMULATOR_HOST counts, too
  -output table|json              for people, or JSON lines

list counts letters by stage, reason and table.
  -each                           a line for each letter

  Broken letters are named

show prints letters whole, with their messages' attributes and data: nothing else of
this command prints values of rows but a dry run of a repair.

replay publishes the messages of the letters again: data, attributes and ordering key,
once for each message, however many letters it made; all of those are done then. A
letter is marked when Pub/Sub has confirmed its message: its file is moved to the folder
"replayed" of its directory, its row is deleted, or its message acked. A crash in
between, and a letter that is left_unmarked, leads to a second publish, which changes
nothing. A replay keeps its place: its change has its source's position, and the
attribute beamcdc_replay brings the time and ID of the first publishing to those who
order by them, so that no newer row is lost. What fails again is another letter, whose
ID ends in how often it was replayed.
  -to TOPIC                       defaults to that of the configuration's subscription
  -dry_run                        tells what it would do, and the new data of a repair
  -repair_jq EXPRESSION           makes the new data of the old: . is the message's JSON,
                                  null if it is none, $text its text, beside $attributes,
                                  $ordering_key, $message_id, $publish_time. It gives an
                                  object or a list, or a text that is the data
  -repair_cel EXPRESSION          the same in CEL, with data, text, attributes, ordering_key,
                                  message_id, publish_time; data.with("after.total", "1.50")
                                  and data.without("after.note") are the data with a change
  -forgotten_deletes              replays what was committed or published two days ago or
                                  longer, too. BigQuery has forgotten the deletes of that
                                  time: a row that was deleted since then comes back
  -as_new                         leaves beamcdc_replay out: the replay is the newest change
                                  to those who go by the time of publishing

Exit status: 0 done; 1 it could not run, letters were refused or failed, those that
replay or show were to find are not there, or show could not show a letter's message
(encrypted by another key, redacted, or broken); 2 bad usage.
`
