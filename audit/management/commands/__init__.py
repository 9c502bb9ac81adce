"""verify_audit and anchor_audit: thin shells over `audit.verification` and `audit.anchors`."""
