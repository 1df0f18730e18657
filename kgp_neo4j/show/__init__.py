"""Show: answers and mind maps in; terminal lines, HTML, Mermaid and pictures out."""
