"""Every foreign type is known here and nowhere else."""
