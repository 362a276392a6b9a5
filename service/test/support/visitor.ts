import type { FastifyInstance, LightMyRequestResponse } from 'fastify';

type Response = LightMyRequestResponse;

/** An HTTP client that keeps cookies and submits forms with the CSRF token of the last page. */
export type Visitor = {
  get(path: string): Promise<Response>;
  /** Loads a page and follows redirects. */
  open(path: string): Promise<Response>;
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  cookie(): string | undefined;
  setCookie(value: string): void;
  csrf(): string;
};

export function newVisitor(app: FastifyInstance): Visitor {
  const cookies = new Map<string, string>();
  let csrf = '';

  const remember = (response: Response): Response => {
    for (const { name, value, maxAge, expires } of response.cookies) {
      if (maxAge === 0 || (expires !== undefined && expires.getTime() < Date.now())) cookies.delete(name);
      else cookies.set(name, value);
    }
    csrf = /name="csrf" value="([^"]+)"/.exec(response.body)?.[1] ?? csrf;
    return response;
  };
  const cookieHeader = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const get = async (path: string) =>
    remember(await app.inject({ url: path, headers: { cookie: cookieHeader(), accept: 'text/html' } }));
  const open = async (path: string): Promise<Response> => {
    const response = await get(path);
    const { location } = response.headers;
    return typeof location === 'string' && response.statusCode === 303
      ? open(new URL(location, 'http://x').pathname + new URL(location, 'http://x').search)
      : response;
  };
  return {
    get,
    open,
    post: async (path, fields = {}, headers = {}) =>
      remember(
        await app.inject({
          method: 'POST',
          url: path,
          headers: {
            cookie: cookieHeader(),
            'content-type': 'application/x-www-form-urlencoded',
            ...headers,
          },
          payload: new URLSearchParams({ csrf, ...fields }).toString(),
        }),
      ),
    cookie: () => cookies.get('causeway'),
    setCookie: (value) => void cookies.set('causeway', value),
    csrf: () => csrf,
  };
}
