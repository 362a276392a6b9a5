import { readdir, readFile } from 'node:fs/promises';
import type { Context } from '@causeway/service/platform/context/context.ts';
import type { Plugin } from '@causeway/service/platform/http/server.ts';
import { describeOffers, OFFER_FOLDER } from '../seed/offers.ts';
import { partnerIds } from '../seed/partners.ts';
import type { ControlGroup } from './control-group.ts';

const ASSET_FOLDER = new URL('assets/', OFFER_FOLDER);
const MEDIA_TYPES: Record<string, string> = { svg: 'image/svg+xml', txt: 'text/plain; charset=utf-8' };

/** Lists the seeded offers, and serves the logos, banners and documents that the offers link to. */
export async function offerControls(ctx: Context): Promise<ControlGroup> {
  return {
    overview: async () => ({
      offers: await describeOffers(ctx, partnerIds.partner),
      other_offers: await describeOffers(ctx, partnerIds.other_partner),
    }),
    plugins: [await assetPlugin()],
  };
}

async function assetPlugin(): Promise<Plugin> {
  const names = await readdir(ASSET_FOLDER);
  const bodies = await Promise.all(names.map((name) => readFile(new URL(name, ASSET_FOLDER))));
  return (app) => {
    names.forEach((name, index) => {
      const mediaType = MEDIA_TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
      app.get(`/sandbox/assets/${name}`, { config: { access: { who: 'public' } } }, (request, reply) =>
        reply
          .headers({
            'x-content-type-options': 'nosniff',
            'x-request-id': request.id,
            'cache-control': 'public, max-age=3600',
          })
          .type(mediaType)
          .send(bodies[index]),
      );
    });
  };
}
