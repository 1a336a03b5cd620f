"""What several formats share: records of a file, conversion of chat messages, fields that many carry."""
