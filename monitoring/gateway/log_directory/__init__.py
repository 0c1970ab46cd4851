"""Reads log directories of brokers that this machine can read: the files of Kafka's brokers.

The parsing is pure (index_file.py, batch_scan.py, offset_checkpoint.py) and gets its bytes from a
`ReadAt`; partition_directory.py opens the files; log_directories.py answers as brokerd's admin port
does (monitoring/gateway/brokerd_admin.py).
"""
