package capture;

import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.DebeziumEngine.RecordCommitter;
import io.debezium.engine.Header;
import io.debezium.engine.format.CloudEvents;
import io.debezium.engine.format.Json;
import io.debezium.engine.format.KeyValueHeaderChangeEventFormat;
import java.io.BufferedOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;

/**
 * Runs a Debezium connector and writes to standard output what Debezium Server's Pub/Sub sink
 * would publish: a line for each message, in the form that cmd/local reads.
 *
 * <pre>{"ordering_key": "…", "attributes": {"…": "…"}, "data": …}</pre>
 *
 * The data is the value's text, byte for byte; a tombstone's is empty. The ordering key is the
 * key's whole text. An empty line ends a batch. The batch's offsets are stored once a byte has come
 * on standard input, which says that all its messages were published: what was not is captured
 * again by the next run. It ends when standard input does.
 *
 * <p>Usage: Capture FILE, where FILE holds the engine's properties. capture.format=cloudevents
 * makes values CloudEvents; they are JSON by default.
 */
public final class Capture {
  /** What the sink orders messages without a key by. */
  private static final String NO_KEY = "default";

  private static final OutputStream OUT = new BufferedOutputStream(System.out, 1 << 20);

  private Capture() {}

  public static void main(String[] args) throws IOException {
    Properties properties = new Properties();
    try (InputStream file = new FileInputStream(args[0])) {
      properties.load(file);
    }
    DebeziumEngine.Builder<ChangeEvent<String, String>> builder =
        "cloudevents".equals(properties.getProperty("capture.format"))
            ? DebeziumEngine.create(
                KeyValueHeaderChangeEventFormat.of(Json.class, CloudEvents.class, Json.class))
            : DebeziumEngine.create(
                KeyValueHeaderChangeEventFormat.of(Json.class, Json.class, Json.class));
    builder
        .using(properties)
        .using(Capture::ended)
        .notifying(Capture::publish)
        .build()
        .run(); // until it fails, or until publish ends the process
  }

  /** A connector that ends by itself has failed; the caller sees the status. */
  private static void ended(boolean success, String message, Throwable error) {
    System.err.println("capture: the connector ended: " + message);
    if (error != null) {
      error.printStackTrace();
    }
    Runtime.getRuntime().halt(1);
  }

  private static void publish(
      List<ChangeEvent<String, String>> batch, RecordCommitter<ChangeEvent<String, String>> committer)
      throws InterruptedException {
    try {
      for (ChangeEvent<String, String> event : batch) {
        OUT.write(line(event).getBytes(StandardCharsets.UTF_8));
      }
      OUT.write('\n');
      OUT.flush();
      if (System.in.read() < 0) {
        Runtime.getRuntime().halt(0); // nobody publishes any more
      }
    } catch (IOException e) {
      Runtime.getRuntime().halt(0);
    }
    for (ChangeEvent<String, String> event : batch) {
      committer.markProcessed(event);
    }
    committer.markBatchFinished();
  }

  private static String line(ChangeEvent<String, String> event) {
    StringBuilder line = new StringBuilder("{\"ordering_key\": ");
    quote(line, event.key() == null ? NO_KEY : event.key());
    List<Header<String>> headers = event.headers();
    if (headers != null && !headers.isEmpty()) {
      line.append(", \"attributes\": {");
      for (int i = 0; i < headers.size(); i++) {
        if (i > 0) {
          line.append(", ");
        }
        quote(line, headers.get(i).getKey());
        line.append(": ");
        quote(line, headers.get(i).getValue());
      }
      line.append('}');
    }
    if (event.value() == null) {
      return line.append(", \"data_base64\": \"\"}\n").toString();
    }
    return line.append(", \"data\": ").append(event.value()).append("}\n").toString();
  }

  /** Appends a JSON string. */
  private static void quote(StringBuilder line, String text) {
    line.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        line.append('\\').append(c);
      } else if (c < ' ') {
        line.append(String.format("\\u%04x", (int) c));
      } else {
        line.append(c);
      }
    }
    line.append('"');
  }
}
