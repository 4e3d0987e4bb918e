"""What a ReLU network is, and which function it computes."""
