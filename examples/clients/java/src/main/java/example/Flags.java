package example;

import java.util.HashMap;
import java.util.Map;

/** The command's flags, {@code --name=value} each; the defaults are the emulator's own. */
final class Flags {
  private Flags() {}

  static Map<String, String> parse(String[] args) {
    Map<String, String> flags =
        new HashMap<>(
            Map.of(
                "grpc", "127.0.0.1:9060", // the emulator's gRPC address
                "rest", "http://127.0.0.1:9050", // the emulator's REST address
                "project", "demo",
                "dataset", "shop")); // its table orders is made anew
    for (String arg : args) {
      String[] flag = arg.replaceFirst("^--", "").split("=", 2);
      if (flag.length != 2 || flags.replace(flag[0], flag[1]) == null) {
        throw new IllegalArgumentException("flags are --grpc= --rest= --project= --dataset=, not " + arg);
      }
    }
    return flags;
  }
}
