/** Returns a page. Everything in `content` must be escaped. */
export function page(title, content) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/page.css"></head><body><main>
<h1>${title}</h1>${content}</main></body></html>`;
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text) {
  return String(text).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

export function offersList(email, offers) {
  const items = offers.map(
    ({ slug }) => `<li><a href="/offers/${escapeHtml(slug)}">${escapeHtml(slug)}</a></li>`,
  );
  return `<p>Signed in as ${escapeHtml(email)}</p><ul>${items.join('')}</ul>`;
}

export function checkout(baseUrl, slug) {
  return `<div id="checkout" data-base-url="${escapeHtml(baseUrl)}" data-slug="${escapeHtml(slug)}"></div>
<script type="module" src="/assets/page.js"></script>`;
}
