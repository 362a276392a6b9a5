import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

/** Each asset's path contains a hash of its content, so browsers may cache the asset forever. */
export const THEME = loadAsset('theme', 'css', ['tokens.css', 'theme.css']);
export const STYLESHEET = loadAsset('causeway', 'css');
export const DOCS_STYLESHEET = loadAsset('docs', 'css');
export const PASSKEY_SCRIPT = loadAsset('passkeys', 'js');
export const SUBMIT_SCRIPT = loadAsset('submit', 'js');
export const REFERENCE_SCRIPT = loadAsset('reference', 'js');

const ASSETS = [THEME, STYLESHEET, DOCS_STYLESHEET, PASSKEY_SCRIPT, SUBMIT_SCRIPT, REFERENCE_SCRIPT];

/** The background colors of the light and the dark theme, for `theme-color`: browsers color their toolbar with it. */
export const PAGE_COLOURS = readPageColours(THEME.body.toString());

type Asset = { path: string; type: string; body: Buffer };

function loadAsset(name: string, kind: keyof typeof TYPES, files = [`${name}.${kind}`]): Asset {
  const body = Buffer.concat(files.map((file) => readFileSync(new URL(`./${file}`, import.meta.url))));
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  return { path: `/assets/${name}.${hash}.${kind}`, type: TYPES[kind], body };
}

function readPageColours(css: string): { light: string; dark: string } {
  const [light, dark] = [...css.matchAll(/--cw-page: (#[0-9a-f]{6});/g)].map(([, colour]) => colour);
  if (light === undefined || dark === undefined)
    throw new Error('tokens.css must define --cw-page for the light and the dark theme');
  return { light, dark };
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
