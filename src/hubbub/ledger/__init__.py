"""What has been promised about whom, kept so that no promise is broken by the next one."""
