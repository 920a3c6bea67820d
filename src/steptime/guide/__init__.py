"""The Performance Guide: every result, explored. `docs/guide-query.md` says what each figure means, exactly."""
