package steptime;

/** What cannot be done, in one line: it becomes a record with the status `unsupported`. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    Refusal(String message) {
        super(message);
    }
}
