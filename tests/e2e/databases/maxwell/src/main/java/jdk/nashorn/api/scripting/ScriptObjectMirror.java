package jdk.nashorn.api.scripting;

import java.util.HashMap;

/**
 * Stands for a class that Java has no more. Maxwell asks of each value whether it is one, which it can only be
 * where a filter is written in JavaScript.
 */
public class ScriptObjectMirror extends HashMap<String, Object> {
  public boolean isArray() {
    return false;
  }
}
