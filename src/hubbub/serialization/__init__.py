"""Values as bytes that have one form: canonical and exact JSON, Arrow, safe CSV, manifests of parts."""
