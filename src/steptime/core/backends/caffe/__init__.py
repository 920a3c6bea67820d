"""Caffe 1.0."""
