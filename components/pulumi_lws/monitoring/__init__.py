"""Monitoring: what Prometheus reads, what it records, and when it calls somebody."""
