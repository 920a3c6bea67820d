"""Starting workers and surviving whatever becomes of them."""
