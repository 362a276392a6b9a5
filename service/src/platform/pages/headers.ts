export type PageSources = {
  /** URIs that a form's response may redirect to. Browsers apply `form-action` to redirects too. */
  formTargets?: readonly string[];
  images?: readonly (string | null)[];
};

/** Allow only our own scripts, our own assets and the logos in `images`, and forbid framing. */
export function pageHeaders({
  scripts = false,
  formTargets = [],
  images = [],
}: PageSources & { scripts?: boolean } = {}): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${["'self'", 'data:', ...sources(images)].join(' ')}`,
    ...(scripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    `form-action ${["'self'", ...sources(formTargets)].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': policy.join('; '),
    'x-frame-options': 'DENY',
    // The referrer policy is not `no-referrer`, because browsers would then send forms with `Origin: null`.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

function sources(uris: readonly (string | null)[]): string[] {
  const result = new Set<string>();
  for (const uri of uris) {
    if (uri === null || !URL.canParse(uri)) continue;
    const { origin, protocol } = new URL(uri);
    if (protocol === 'data:' || protocol === 'javascript:') continue;
    result.add(origin === 'null' ? protocol : origin);
  }
  return [...result];
}
