"""Tell, from raw evidence alone, why a command-line call failed and what to do next."""
