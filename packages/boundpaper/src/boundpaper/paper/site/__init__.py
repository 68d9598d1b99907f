"""Write the site: the ledger, every exhibit, artifact and chapter as static pages that link to one another."""

from boundpaper.paper.site.build import write_site
from boundpaper.paper.site.project import EXHIBITS, SiteProject

__all__ = ["EXHIBITS", "SiteProject", "write_site"]
