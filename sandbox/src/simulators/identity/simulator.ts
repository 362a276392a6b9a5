import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createFault } from '../fault.ts';
import { openJsonFile } from '../json-file.ts';
import { createOneShotFaults } from '../one-shot-faults.ts';
import { closeServer } from '../ports.ts';
import type { StartSimulator } from '../simulator.ts';
import { createWebhookSender } from '../webhook-sender.ts';
import type { IdentityState } from './applicant.ts';
import { createCases } from './cases.ts';
import { addIdentityControls } from './controls.ts';
import { createIdentityServer } from './server.ts';

export type { IdentityControls } from './controls.ts';

/** What the service must know to reach the provider and to believe its webhooks. */
export type ReadyIdentity = { url: string; app_token: string; secret: string; webhook_secret: string };

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** A provider of identity verification that speaks Sumsub's protocol. */
export const startIdentity: StartSimulator<ReadyIdentity> = async ({ folder, control, clock, listen }) => {
  const keys = await openJsonFile(join(folder, 'keys.json'), {
    app_token: `sbx:${randomBytes(12).toString('hex')}.${randomBytes(16).toString('hex')}`,
    secret: randomBytes(24).toString('base64url'),
    webhook_secret: randomBytes(24).toString('base64url'),
  });
  await keys.save();
  const { app_token, secret, webhook_secret } = keys.data;
  const state = await openJsonFile<IdentityState>(join(folder, 'state.json'), {
    applicants: [],
    tokens: [],
    countries: {},
  });
  const sender = createWebhookSender({
    headers: (body) => ({
      'x-payload-digest-alg': 'HMAC_SHA256_HEX',
      'x-payload-digest': createHmac('sha256', webhook_secret).update(body).digest('hex'),
    }),
    ladder: [5 * MINUTE, HOUR, 5 * HOUR, 18 * HOUR],
    accepts: (status) => status >= 200 && status < 300,
    timeout: 10_000,
  });
  const parts = {
    cases: createCases(state, sender, clock.now),
    sender,
    fault: createFault(),
    oneShotFaults: createOneShotFaults(),
    credentials: { appToken: app_token, secret },
    now: clock.now,
  };
  addIdentityControls(control, parts);
  const server = createIdentityServer(parts);
  const url = await listen('identity', server);
  return {
    ready: { url, app_token, secret, webhook_secret },
    stop: async () => {
      sender.stop();
      await closeServer(server);
      await state.save();
    },
  };
};
