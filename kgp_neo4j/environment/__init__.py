"""Environment: files and variables in; settings, folders, extras and progress bars out."""
