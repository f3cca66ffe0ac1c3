"""Pages of tables and pictures, in one HTML file each."""
