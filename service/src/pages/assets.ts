import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

/** The path contains a hash of the content, so browsers may cache assets forever. */
export const THEME = loadAsset('theme', 'css');
export const STYLESHEET = loadAsset('causeway', 'css');
export const DOCS_STYLESHEET = loadAsset('docs', 'css');
export const PASSKEY_SCRIPT = loadAsset('passkeys', 'js');
export const REFERENCE_SCRIPT = loadAsset('reference', 'js');

const ASSETS = [THEME, STYLESHEET, DOCS_STYLESHEET, PASSKEY_SCRIPT, REFERENCE_SCRIPT];

type Asset = { path: string; type: string; body: Buffer };

function loadAsset(name: string, kind: keyof typeof TYPES): Asset {
  const body = readFileSync(new URL(`./${name}.${kind}`, import.meta.url));
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  return { path: `/assets/${name}.${hash}.${kind}`, type: TYPES[kind], body };
}

export function serveAssets(app: FastifyInstance): void {
  for (const { path, type, body } of ASSETS) {
    app.get(path, { config: { access: { who: 'public' } } }, (request, reply) =>
      reply
        .headers({
          'x-content-type-options': 'nosniff',
          'x-request-id': request.id,
          'cache-control': 'public, max-age=31536000, immutable',
        })
        .type(type)
        .send(body),
    );
  }
}
