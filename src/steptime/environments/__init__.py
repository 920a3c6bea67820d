"""One isolated interpreter per framework, made with tested pins; or one that the user has."""
