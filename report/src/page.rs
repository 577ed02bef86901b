//! A report as one page of HTML: no script, no network, light and dark, printable. Put together from
//! parts that others made; every text of others is escaped here or by the layout that made the part.
//! Called by `agon report -o`.

mod sessions;

use agon_figures::page_style;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::layout::Layout;

pub use sessions::{SessionList, anchor};

/// The style of the page, before that of its figures.
const STYLE: &str = include_str!("page/page.css");

/// A page that is being put together.
pub struct Page {
    title: String,
    sections: Vec<Section>,
}

struct Section {
    title: String,
    html: String,
}

impl Page {
    /// A page without sections.
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            sections: Vec::new(),
        }
    }

    /// Adds a section of HTML that [`Layout::Html`] made.
    pub fn section(&mut self, title: &str, html: String) {
        let title = title.to_owned();
        self.sections.push(Section { title, html });
    }

    /// The page.
    pub fn html(&self) -> String {
        let links = self.sections.iter().enumerate().map(|(place, section)| {
            let title = Layout::Html.escaped(&section.title);
            format!("<li><a href=\"#s{place}\">{title}</a></li>\n")
        });
        let sections = self.sections.iter().enumerate().map(|(place, section)| {
            let (title, html) = (Layout::Html.escaped(&section.title), &section.html);
            format!("<section id=\"s{place}\">\n<h2>{title}</h2>\n{html}\n</section>\n")
        });
        let title = Layout::Html.escaped(&self.title);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data:\">\n\
             <title>{title}</title>\n<style>\n{STYLE}\n{}\n</style>\n</head>\n<body>\n\
             <header><h1>{title}</h1></header>\n<nav aria-label=\"Sections\"><ol>\n{}</ol></nav>\n\
             <main>\n{}</main>\n</body>\n</html>\n",
            page_style(),
            links.collect::<String>(),
            sections.collect::<String>()
        )
    }
}

/// Text that opens on demand.
pub fn details(summary: &str, text: &str) -> String {
    let (summary, text) = (Layout::Html.escaped(summary), Layout::Html.escaped(text));
    format!("<details><summary>{summary}</summary><pre>{text}</pre></details>")
}

/// Parts that [`Layout::Html`] made, which open on demand; an address within the page may lead there.
pub fn folded(summary: &str, anchor: &str, html: &str) -> String {
    let (summary, anchor) = (Layout::Html.escaped(summary), Layout::Html.escaped(anchor));
    // Browsers open what holds the target, not a target that is folded itself.
    format!("<details><summary>{summary}</summary>\n<div id=\"{anchor}\">{html}</div>\n</details>")
}

/// What a part of a section is about.
pub fn heading(text: &str) -> String {
    format!("<h3>{}</h3>", Layout::Html.escaped(text))
}

/// A picture that another program drew. As an image it runs nothing and reaches nothing.
pub fn picture(about: &str, svg: &str) -> String {
    let (about, data) = (Layout::Html.escaped(about), STANDARD.encode(svg));
    format!("<figure><img alt=\"{about}\" src=\"data:image/svg+xml;base64,{data}\"></figure>")
}

/// A paragraph.
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", Layout::Html.escaped(text))
}

/// A paragraph that nobody may overlook.
pub fn warning(text: &str) -> String {
    format!("<p class=\"warning\">{}</p>", Layout::Html.escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_asks_nothing_of_the_network_and_runs_nothing() {
        let mut page = Page::new("runs <b>");
        page.section("What & how", paragraph("<script>alert(1)</script>"));
        page.section(
            "Data",
            details("x < y", "</pre><img src=x>\u{202e}\u{1b}[2J"),
        );
        let html = page.html();
        assert!(html.contains("default-src 'none'"), "{html}");
        assert!(
            !html.contains('\u{202e}') && !html.contains('\u{1b}'),
            "{html}"
        );
        assert!(
            !html.contains("<script") && !html.contains("<img"),
            "{html}"
        );
        assert!(html.contains("<h2>What &amp; how</h2>"), "{html}");
        assert!(html.contains("<title>runs &lt;b&gt;</title>"), "{html}");
    }
}
