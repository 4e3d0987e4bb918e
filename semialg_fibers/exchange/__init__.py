"""Networks in; sets, answers and proofs out."""
