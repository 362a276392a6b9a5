export function redirectReply(location: string, headers = new Headers()): Response {
  headers.set('location', location);
  headers.set('cache-control', 'no-store');
  // The requested URL may contain an authorization code, which the `Referer` header must not leak to the next page.
  headers.set('referrer-policy', 'no-referrer');
  return new Response(null, { status: 303, headers });
}

export function jsonReply(status: number, body: object, headers = new Headers()): Response {
  headers.set('content-type', 'application/json; charset=utf-8');
  headers.set('cache-control', 'no-store');
  headers.set('x-content-type-options', 'nosniff');
  headers.set('cross-origin-resource-policy', 'same-origin');
  return new Response(JSON.stringify(body), { status, headers });
}

/** Returns an error in the API's format, so that clients can parse it like an error from the API. */
export function errorReply(status: number, code: string, message: string, headers?: Headers): Response {
  return jsonReply(status, { message, type: 'api_error', code, errors: {} }, headers);
}

export function crossSiteReply(): Response {
  return errorReply(403, 'cross_site_request', 'Only pages of this app may call this endpoint.');
}
