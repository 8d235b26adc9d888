"""Recognizers, synthesizers, spoken form, voice activity and turn models."""
