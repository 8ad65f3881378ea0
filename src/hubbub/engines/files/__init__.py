"""Files and frames as tables: CSV, Parquet, Excel, and what is open already."""
