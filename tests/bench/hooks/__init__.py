"""What is loaded into the processes that are looked at: this folder is put first on their import path."""
