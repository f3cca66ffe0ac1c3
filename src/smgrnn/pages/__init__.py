"""Pages: paragraphs, tables and pictures as data, written as HTML or Markdown."""
