"""What is filed: a report of several results, with cover, glossary, method and provenance."""
