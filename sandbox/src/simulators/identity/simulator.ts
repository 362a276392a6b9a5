import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createFault } from '../fault.ts';
import { openJsonFile } from '../json-file.ts';
import { createOneShotFaults } from '../one-shot-faults.ts';
import { closeServer } from '../ports.ts';
import type { StartSimulator } from '../simulator.ts';
import { createWebhookSender } from '../webhook-sender.ts';
import type { IdentityState } from './applicant.ts';
import { createApplicants } from './applicants.ts';
import { addIdentityControls } from './controls.ts';
import { createIdentityServer } from './server.ts';

export type { IdentityControls } from './controls.ts';

/** The values that the service needs to call the provider and verify its webhooks. */
export type ReadyIdentity = { url: string; app_token: string; secret: string; webhook_secret: string };

/** The provider's retry delays in seconds: 5 minutes, 1 hour, 5 hours and 18 hours. */
const RETRY_DELAYS = [300, 3_600, 18_000, 64_800];
const WEBHOOK_TIMEOUT_MS = 10_000;

/** Starts an identity provider that speaks Sumsub's protocol. */
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
    retryDelays: RETRY_DELAYS,
    accepts: (status) => status >= 200 && status < 300,
    timeoutMs: WEBHOOK_TIMEOUT_MS,
  });
  const parts = {
    applicants: createApplicants(state, sender, clock.now, app_token),
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
