"""What all commands share: their options, exit statuses, tables, progress and questions."""
