package steptime;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** The private line to the controller: a pipe whose number is in STEPTIME_EVENTS_FD. When it breaks, the worker ends. */
final class Events {
    private static final int ORPHANED = 70;
    private static final long BEAT_MILLISECONDS = 1000;
    private final OutputStream pipe;

    private Events(OutputStream pipe) {
        this.pipe = pipe;
    }

    /** A pipe's number is a file name on Linux; without one (a job started by hand) events go nowhere. */
    static Events open() throws IOException {
        String number = System.getenv("STEPTIME_EVENTS_FD");
        Events events = new Events(number == null ? OutputStream.nullOutputStream() : new FileOutputStream("/proc/self/fd/" + number));
        Thread heart = new Thread(events::beat, "heartbeat");
        heart.setDaemon(true);
        heart.start();
        return events;
    }

    synchronized void send(String event, Map<String, Object> content) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", event);
        line.putAll(content);
        try {
            pipe.write((Json.write(line) + "\n").getBytes(StandardCharsets.UTF_8));
            pipe.flush();
        } catch (IOException gone) {
            Runtime.getRuntime().halt(ORPHANED);
        }
    }

    void phase(String name) {
        send("phase", Map.of("name", name));
    }

    private void beat() {
        try {
            while (true) {
                send("alive", Map.of("rss_bytes", Machine.statusBytes("VmRSS")));
                Thread.sleep(BEAT_MILLISECONDS);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
