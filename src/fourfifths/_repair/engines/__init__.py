"""Repairs of tables that are not in memory: files in chunks, and tables of Spark."""
