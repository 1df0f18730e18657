"""Language models: a prompt in; a reply with its tokens out."""
