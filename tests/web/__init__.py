"""Pages and the browser code, without a browser."""
