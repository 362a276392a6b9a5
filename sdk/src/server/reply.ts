export function redirect(location: string, headers = new Headers()): Response {
  headers.set('location', location);
  headers.set('cache-control', 'no-store');
  // The address of this reply may hold a code.
  headers.set('referrer-policy', 'no-referrer');
  return new Response(null, { status: 303, headers });
}

export function json(status: number, body: object, headers = new Headers()): Response {
  headers.set('content-type', 'application/json; charset=utf-8');
  headers.set('cache-control', 'no-store');
  headers.set('x-content-type-options', 'nosniff');
  headers.set('cross-origin-resource-policy', 'same-origin');
  return new Response(JSON.stringify(body), { status, headers });
}

/** In the shape of the API's errors, so that one kind of code reads both. */
export function refuse(status: number, code: string, message: string, headers?: Headers): Response {
  return json(status, { message, type: 'api_error', code, errors: {} }, headers);
}

export function refuseOthers(): Response {
  return refuse(403, 'cross_site_request', 'Only pages of this app may ask for this.');
}
