import { CLIENTS } from './oauth-clients.mjs';
import { FRAMEWORKS } from './oauth-frameworks.mjs';

const settings = JSON.parse(process.env.SETTINGS);

/**
 * Plays the browser: follows redirects within the service, with cookies, and returns the first redirect to
 * another site.
 */
async function authorize(url) {
  const cookies = new Map();
  let next = url;
  for (let hops = 0; hops < 10; hops++) {
    const { origin, pathname } = new URL(next);
    if (origin !== settings.issuer) return next;
    const cookie = [...cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie, accept: 'text/html' } });
    for (const header of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(header);
      cookies.set(name, { value, path: /path=([^;]+)/i.exec(header)?.[1] ?? '/' });
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${response.status} at ${next}: ${await response.text()}`);
    next = new URL(location, next).href;
  }
  throw new Error('too many redirects');
}

const results = {};
for (const [name, signIn] of Object.entries({ ...CLIENTS, ...FRAMEWORKS })) {
  try {
    results[name] = { token: await signIn({ ...settings, authorize }) };
  } catch (error) {
    results[name] = { error: `${error.stack}\n${error.cause?.stack ?? JSON.stringify(error.cause)}` };
  }
}
console.log(JSON.stringify(results));
process.exit(0);
