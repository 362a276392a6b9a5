import type { FastifyInstance } from 'fastify';
import { newVisitor, type Visitor } from './visitor.ts';

type Request = { url: string; method?: string; headers?: Record<string, string>; payload?: string };

/** Creates a visitor for a service that runs in another process. */
export function visitOver(baseUrl: string): Visitor {
  const inject = async ({ url, payload, ...request }: Request) => {
    const reply = await fetch(baseUrl + url, { ...request, body: payload ?? null, redirect: 'manual' });
    return {
      statusCode: reply.status,
      headers: Object.fromEntries(reply.headers),
      body: await reply.text(),
      cookies: reply.headers.getSetCookie().map(parseCookie),
    };
  };
  return newVisitor({ inject } as unknown as FastifyInstance);
}

function parseCookie(text: string) {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
  const expires = /expires=([^;]+)/i.exec(text)?.[1];
  return { name, value, ...(expires !== undefined && { expires: new Date(expires) }) };
}
