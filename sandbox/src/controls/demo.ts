import type { Context } from '@causeway/service/platform/context/context.ts';
import { partnerCredentials } from '../seed/partners.ts';
import type { Demo } from '../start-demo.ts';
import type { ControlGroup } from './control-group.ts';

/** Passes the seeded partner's credentials to the demo app, which then starts to serve requests. */
export function demoControls(ctx: Context, demo: Demo | null): ControlGroup {
  if (demo === null) return { overview: () => ({ demo_url: null }) };
  const { client_id, client_secret } = partnerCredentials(ctx);
  demo.configure({
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
