import type { Context } from '@causeway/service/context.ts';
import { partnerCredentials } from './partners.ts';
import type { Share } from './start.ts';
import type { Demo } from './start-demo.ts';

/** The demo app with the credentials of its partner, from the moment they are seeded. */
export function demoShare(ctx: Context, demo: Demo | null): Share {
  if (demo === null) return { overview: () => ({ demo_url: null }) };
  const { client_id, client_secret } = partnerCredentials(ctx);
  demo.open({
    baseUrl: ctx.baseUrl,
    clientId: client_id,
    clientSecret: client_secret,
    sessionSecrets: [ctx.sealing.tag('demo sessions', demo.url).toString('base64url')],
    isSandbox: true,
  });
  return {
    overview: () => ({ demo_url: demo.url }),
    readyLines: [`  Demo app   ${demo.url}`],
  };
}
