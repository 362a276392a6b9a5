/** A browser without a screen: cookies by host and path, one page at a time. */
export type Person = {
  /** Without following redirects. */
  ask(url: string, init?: RequestInit): Promise<Response>;
  /** Signs in on the service's pages, decides, and gives the address that the browser is then sent to. */
  decide(
    authorizeUrl: string,
    user: { email: string; password: string },
    decision: 'allow' | 'deny',
  ): Promise<URL>;
  cookies(host: string): Map<string, string>;
};

type Cookie = { name: string; value: string; host: string; path: string };

export function newPerson(): Person {
  let jar: Cookie[] = [];
  const keep = (url: URL, reply: Response) => {
    for (const line of reply.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const at = pair.indexOf('=');
      const has = (name: string) =>
        attributes.find((one) => one.toLowerCase().startsWith(name))?.split('=')[1];
      const cookie = {
        ...{ name: pair.slice(0, at), value: pair.slice(at + 1), host: url.hostname },
        path: has('path=') ?? '/',
      };
      jar = jar.filter(
        ({ name, host, path }) => name !== cookie.name || host !== cookie.host || path !== cookie.path,
      );
      const isGone = has('max-age=') === '0' || Date.parse(has('expires=') ?? '9999-01-01') < Date.now();
      if (!isGone) jar.push(cookie);
    }
  };
  const ask = async (address: string, init: RequestInit = {}) => {
    const url = new URL(address);
    const sent = jar.filter(({ host, path }) => host === url.hostname && url.pathname.startsWith(path));
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'text/html');
    headers.set('cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '));
    const reply = await fetch(url, { ...init, headers, redirect: 'manual' });
    keep(url, reply);
    return reply;
  };
  /** Follows redirects within a host and stops where one leads out. */
  const open = async (address: string, init?: RequestInit): Promise<{ url: URL; page: string }> => {
    const url = new URL(address);
    const reply = await ask(address, init);
    const location = reply.headers.get('location');
    if (location === null) return { url, page: await reply.text() };
    const next = new URL(location, url);
    return next.host === url.host ? open(next.href) : { url: next, page: '' };
  };
  const submit = (base: URL, path: string, fields: Record<string, string>) =>
    open(new URL(path, base).href, { method: 'POST', body: new URLSearchParams(fields) });
  return {
    ask,
    decide: async (authorizeUrl, { email, password }, decision) => {
      let now = await open(authorizeUrl);
      const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(now.page)?.[1] ?? '';
      if (field('next') !== '' && now.page.includes('type="password"'))
        now = await submit(now.url, '/sign-in', {
          email,
          password,
          csrf: field('csrf'),
          next: field('next'),
        });
      const action = /action="(\/interaction\/[^"]+)"/.exec(now.page)?.[1];
      if (action !== undefined) now = await submit(now.url, action, { csrf: field('csrf'), decision });
      return now.url;
    },
    cookies: (wanted) =>
      new Map(jar.filter(({ host }) => host === wanted).map(({ name, value }) => [name, value])),
  };
}
