"""The two files of floe: what a manifest.yaml and a floe.yaml may say."""
