import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createFault } from '../fault.ts';
import { openJsonFile } from '../json-file.ts';
import { createOneShotFaults } from '../one-shot-faults.ts';
import { closeServer } from '../ports.ts';
import type { StartSimulator } from '../simulator.ts';
import { createWebhookSender } from '../webhook-sender.ts';
import { addSigningControls } from './controls.ts';
import { createOffice } from './office.ts';
import { createSigningServer } from './server.ts';
import type { SigningState } from './submission.ts';

export type { DocumentControls } from './controls.ts';

/** What the service must know to reach the provider and to believe its webhooks. `page_url` is for people. */
export type ReadyDocuments = {
  url: string;
  page_url: string;
  api_key: string;
  webhook_secret: string;
  templates: { w8_ben: number; w8_ben_e: number };
};

/** 1, 2, 4 … 1024 minutes. */
const LADDER = Array.from({ length: 11 }, (_, step) => 60 * 2 ** step);

/** A provider of signatures that speaks DocuSeal's protocol. */
export const startDocuments: StartSimulator<ReadyDocuments> = async ({ folder, control, clock, listen }) => {
  const keys = await openJsonFile(join(folder, 'keys.json'), {
    api_key: randomBytes(24).toString('base64url'),
    webhook_secret: `whsec_${randomBytes(24).toString('base64')}`,
  });
  await keys.save();
  const { api_key, webhook_secret } = keys.data;
  const state = await openJsonFile<SigningState>(join(folder, 'state.json'), {
    submissions: [],
    mails: [],
    next_id: 1001,
  });
  const sender = createWebhookSender({
    // The time of the signature is the real one, like the clock that it is compared with.
    headers: (body) => {
      const seconds = Math.floor(Date.now() / 1000);
      const digest = createHmac('sha256', webhook_secret).update(`${seconds}.${body}`).digest('hex');
      return { 'x-docuseal-signature': `${seconds}.${digest}`, 'user-agent': 'DocuSeal.com Webhook' };
    },
    ladder: LADDER,
    accepts: (status) => status < 400,
    timeout: 15_000,
  });
  let url = '';
  const parts = {
    office: createOffice(state, sender, clock.now, () => url),
    sender,
    fault: createFault(),
    oneShotFaults: createOneShotFaults(),
    apiKey: api_key,
  };
  addSigningControls(control, parts);
  const server = createSigningServer(parts);
  url = await listen('signing', server);
  const templates = { w8_ben: 1, w8_ben_e: 2 };
  return {
    ready: { url: `${url}/api`, page_url: url, api_key, webhook_secret, templates },
    stop: async () => {
      sender.stop();
      await closeServer(server);
      await state.save();
    },
  };
};
