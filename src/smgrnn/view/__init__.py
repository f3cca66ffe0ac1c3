"""The growth viewer: a run as a page on which its network grows, live too, or as a short film."""

from smgrnn.errors import needs

with needs("Viewing"):
    from smgrnn.view.live import FolderView, LiveView
    from smgrnn.view.page import write_page
    from smgrnn.view.recording import film
    from smgrnn.view.timeline import Timeline
