package steptime;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON with nothing but the JDK. Objects are LinkedHashMap, lists ArrayList; whole numbers are Long, so that what came as
 * 1 does not leave as 1.0, and all others Double.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.blank();
        if (reader.at != text.length()) {
            throw reader.wrong("nothing");
        }
        return value;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    private Object value() {
        blank();
        char next = peek();
        switch (next) {
            case '{':
                return members();
            case '[':
                return items();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> members() {
        Map<String, Object> found = new LinkedHashMap<>();
        at++;
        blank();
        while (peek() != '}') {
            String key = string();
            blank();
            take(':');
            found.put(key, value());
            separator('}');
        }
        at++;
        return found;
    }

    private List<Object> items() {
        List<Object> found = new ArrayList<>();
        at++;
        blank();
        while (peek() != ']') {
            found.add(value());
            separator(']');
        }
        at++;
        return found;
    }

    private void separator(char end) {
        blank();
        if (peek() != end) {
            take(',');
            blank();
        }
    }

    private String string() {
        take('"');
        StringBuilder found = new StringBuilder();
        while (peek() != '"') {
            char next = text.charAt(at++);
            found.append(next == '\\' ? escaped() : next);
        }
        at++;
        return found.toString();
    }

    private char escaped() {
        char kind = peek();
        at++;
        if (kind == 'u') {
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }
        int place = "nrtbf".indexOf(kind);
        return place < 0 ? kind : "\n\r\t\b\f".charAt(place);
    }

    private Object word(String word, Object meaning) {
        if (!text.startsWith(word, at)) {
            throw wrong(word);
        }
        at += word.length();
        return meaning;
    }

    private Number number() {
        int begin = at;
        while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        if (begin == at) {
            throw wrong("a value");
        }
        String digits = text.substring(begin, at);
        boolean whole = digits.chars().allMatch(c -> c == '-' || Character.isDigit(c));
        return whole ? (Number) Long.valueOf(digits) : (Number) Double.valueOf(digits);
    }

    private void blank() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("more");
        }
        return text.charAt(at);
    }

    private void take(char wanted) {
        if (peek() != wanted) {
            throw wrong("'" + wanted + "'");
        }
        at++;
    }

    private IllegalArgumentException wrong(String wanted) {
        return new IllegalArgumentException("JSON: expected " + wanted + " at character " + at);
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String comma = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(comma);
                quote(entry.getKey().toString(), out);
                out.append(':');
                write(entry.getValue(), out);
                comma = ",";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof Iterable<?> items) {
            out.append('[');
            String comma = "";
            for (Object item : items) {
                out.append(comma);
                write(item, out);
                comma = ",";
            }
            out.append(']');
        } else if (value instanceof String text) {
            quote(text, out);
        } else if (value instanceof Double figure && !Double.isFinite(figure)) {
            throw new IllegalArgumentException("not a figure: " + figure);
        } else {
            out.append(value);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (char next : text.toCharArray()) {
            if (next == '"' || next == '\\') {
                out.append('\\').append(next);
            } else if (next < ' ') {
                out.append(String.format("\\u%04x", (int) next));
            } else {
                out.append(next);
            }
        }
        out.append('"');
    }
}
