export type PagePolicy = {
  scripts?: boolean;
  /** URIs that the answer to a form on the page may redirect to: browsers hold redirects to `form-action` too. */
  leadsTo?: readonly string[];
  images?: readonly (string | null)[];
};

/** A page runs no script but ours, loads nothing but ours and its partners' logos, and is never framed. */
export function pageHeaders({
  scripts = false,
  leadsTo = [],
  images = [],
}: PagePolicy = {}): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${["'self'", 'data:', ...sources(images)].join(' ')}`,
    ...(scripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    `form-action ${["'self'", ...sources(leadsTo)].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': policy.join('; '),
    'x-frame-options': 'DENY',
    // Without an origin of its own, a form's `Origin` would be `null`.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

/** Origins as a policy names them; a scheme without a host by itself. */
function sources(uris: readonly (string | null)[]): string[] {
  const found = new Set<string>();
  for (const uri of uris) {
    if (uri === null || !URL.canParse(uri)) continue;
    const { origin, protocol } = new URL(uri);
    if (protocol === 'data:' || protocol === 'javascript:') continue;
    found.add(origin === 'null' ? protocol : origin);
  }
  return [...found];
}
