package steptime;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What Linux says of the machine and of this process. */
final class Machine {
    private Machine() {}

    static Map<String, Object> describe() {
        String cpu = entry("/proc/cpuinfo", "model name", System.getProperty("os.arch"));
        int logical = Runtime.getRuntime().availableProcessors();
        Set<String> packages = new HashSet<>();
        Set<String> cores = new HashSet<>();
        for (int i = 0; i < logical; i++) {
            Path topology = Path.of("/sys/devices/system/cpu/cpu" + i + "/topology");
            packages.add(read(topology.resolve("physical_package_id")).strip());
            cores.add(read(topology.resolve("physical_package_id")).strip() + "/" + read(topology.resolve("core_id")).strip());
        }
        long memory = kilobytes(entry("/proc/meminfo", "MemTotal", "0 kB"));
        Map<String, Object> found = new LinkedHashMap<>();
        String host = read(Path.of("/proc/sys/kernel/hostname")).strip();
        found.put("id", digest(String.join("|", host, cpu, "" + packages.size(), "" + cores.size(), "" + logical)));
        found.put("host", host);
        found.put("cpu", cpu);
        found.put("sockets", packages.size());
        found.put("cores", cores.size());
        found.put("logical_cpus", logical);
        found.put("usable_cpus", (double) logical);
        found.put("memory_bytes", memory);
        found.put("usable_memory_bytes", memory);
        found.put("os", System.getProperty("os.name"));
        found.put("kernel", System.getProperty("os.version"));
        found.put("architecture", System.getProperty("os.arch").replace("amd64", "x86_64"));
        return found;
    }

    /** An entry of /proc/self/status, such as VmRSS (now) or VmHWM (the most so far). */
    static long statusBytes(String key) {
        return kilobytes(entry("/proc/self/status", key, "0 kB"));
    }

    static long involuntarySwitches() {
        return Long.parseLong(entry("/proc/self/status", "nonvoluntary_ctxt_switches", "0"));
    }

    static double cpuSeconds() {
        return ProcessHandle.current().info().totalCpuDuration().map(d -> d.toNanos() * 1e-9).orElse(0.0);
    }

    private static long kilobytes(String text) {
        return 1024 * Long.parseLong(text.split(" ")[0]);
    }

    private static String entry(String file, String key, String otherwise) {
        List<String> lines = read(Path.of(file)).lines().toList();
        for (String line : lines) {
            int colon = line.indexOf(':');
            if (colon > 0 && line.substring(0, colon).strip().equals(key)) {
                return line.substring(colon + 1).strip();
            }
        }
        return otherwise;
    }

    private static String read(Path path) {
        try {
            return new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
        } catch (IOException absent) {
            return "";
        }
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash).substring(0, 12);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
