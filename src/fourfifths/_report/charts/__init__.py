"""Results as charts, and charts as SVG."""
