/** A minimal browser: stores cookies by host and path, and submits forms on the service's pages. */
export type Browser = {
  /** Sends a request. Does not follow redirects. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Signs in on the service's pages, allows or denies access, and returns the URL that the browser is redirected to. */
  authorize(
    authorizeUrl: string,
    user: { email: string; password: string },
    decision: 'allow' | 'deny',
  ): Promise<URL>;
  cookies(host: string): Map<string, string>;
};

type Cookie = { name: string; value: string; host: string; path: string };

export function newBrowser(): Browser {
  let jar: Cookie[] = [];
  const storeCookies = (url: URL, reply: Response) => {
    for (const line of reply.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const separator = pair.indexOf('=');
      const attribute = (name: string) =>
        attributes.find((text) => text.toLowerCase().startsWith(`${name}=`))?.split('=')[1];
      const cookie = {
        ...{ name: pair.slice(0, separator), value: pair.slice(separator + 1), host: url.hostname },
        path: attribute('path') ?? '/',
      };
      jar = jar.filter(
        ({ name, host, path }) => name !== cookie.name || host !== cookie.host || path !== cookie.path,
      );
      const expires = Date.parse(attribute('expires') ?? '9999-01-01');
      if (attribute('max-age') !== '0' && expires >= Date.now()) jar.push(cookie);
    }
  };
  const request = async (address: string, init: RequestInit = {}) => {
    const url = new URL(address);
    const sent = jar.filter(({ host, path }) => host === url.hostname && url.pathname.startsWith(path));
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    headers.set('cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '));
    const reply = await fetch(url, { ...init, headers, redirect: 'manual' });
    storeCookies(url, reply);
    return reply;
  };
  /** Follows redirects until one leads to another host. */
  const open = async (address: string, init?: RequestInit): Promise<{ url: URL; page: string }> => {
    const url = new URL(address);
    const reply = await request(address, init);
    const location = reply.headers.get('location');
    if (location === null) return { url, page: await reply.text() };
    const next = new URL(location, url);
    return next.host === url.host ? open(next.href) : { url: next, page: '' };
  };
  const submit = (base: URL, path: string, fields: Record<string, string>) =>
    open(new URL(path, base).href, { method: 'POST', body: new URLSearchParams(fields) });
  return {
    fetch: request,
    authorize: async (authorizeUrl, { email, password }, decision) => {
      let current = await open(authorizeUrl);
      const field = (name: string) =>
        new RegExp(`name="${name}" value="([^"]+)"`).exec(current.page)?.[1] ?? '';
      if (field('next') !== '' && current.page.includes('type="password"'))
        current = await submit(current.url, '/sign-in', {
          email,
          password,
          csrf: field('csrf'),
          next: field('next'),
        });
      const action = /action="(\/interaction\/[^"]+)"/.exec(current.page)?.[1];
      if (action !== undefined)
        current = await submit(current.url, action, { csrf: field('csrf'), decision });
      return current.url;
    },
    cookies: (wanted) =>
      new Map(jar.filter(({ host }) => host === wanted).map(({ name, value }) => [name, value])),
  };
}
