"""Write the site: the ledger, every exhibit, artifact and chapter as static pages that link to one another."""

from boundpaper.paper.site.build import write_site
from boundpaper.paper.site.project import SiteProject

__all__ = ["SiteProject", "write_site"]
