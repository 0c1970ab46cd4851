"""The roll-up of the history (monitoring/history/) to minutes, hours and days, with Spark.

tasks.roll_up           the Celery task of a cluster
run_next_job.run_next   takes the cluster's lock (cluster_lock), and calls what follows
tick_counts             how many ticks each level has
due_jobs                decides which jobs are due: roll-ups, merges of small files
backfill                what is to be computed again
stored_runs             stores what became of each job, and when it is tried again
do_job                  does a job; workspace publishes its files in the manifests
level_figures           stores the figures for the page of the pipeline and /metrics
tasks.refresh           deletes what is older than the retention: delete_expired_history
"""
