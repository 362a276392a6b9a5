import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createFault } from '../fault.ts';
import { openJsonFile } from '../json-file.ts';
import { createOneShotFaults } from '../one-shot-faults.ts';
import { closeServer } from '../ports.ts';
import type { StartSimulator } from '../simulator.ts';
import { createWebhookSender } from '../webhook-sender.ts';
import { addDocumentControls } from './controls.ts';
import { createDocumentsServer } from './server.ts';
import type { DocumentsState } from './submission.ts';
import { createSubmissions } from './submissions.ts';

export type { DocumentControls } from './controls.ts';

/**
 * The values that the service needs to call the provider and verify its webhooks. `page_url` is for people: it shows
 * the emails that the provider has sent.
 */
export type ReadyDocuments = {
  url: string;
  page_url: string;
  api_key: string;
  webhook_secret: string;
  templates: { w8_ben: number; w8_ben_e: number };
};

/** The provider's delays before it retries a webhook (1, 2, 4 … 1024 minutes), converted to seconds. */
const RETRY_DELAYS = Array.from({ length: 11 }, (_, attempt) => 60 * 2 ** attempt);
const WEBHOOK_TIMEOUT_MS = 15_000;

/** Starts a documents provider that speaks DocuSeal's protocol. */
export const startDocuments: StartSimulator<ReadyDocuments> = async ({ folder, control, clock, listen }) => {
  const keys = await openJsonFile(join(folder, 'keys.json'), {
    api_key: randomBytes(24).toString('base64url'),
    webhook_secret: `whsec_${randomBytes(24).toString('base64')}`,
  });
  await keys.save();
  const { api_key, webhook_secret } = keys.data;
  const state = await openJsonFile<DocumentsState>(join(folder, 'state.json'), {
    submissions: [],
    mails: [],
    next_id: 1001,
  });
  const sender = createWebhookSender({
    // The signature contains the real time, because receivers compare that time with the real clock.
    headers: (body) => {
      const seconds = Math.floor(Date.now() / 1000);
      const digest = createHmac('sha256', webhook_secret).update(`${seconds}.${body}`).digest('hex');
      return { 'x-docuseal-signature': `${seconds}.${digest}`, 'user-agent': 'DocuSeal.com Webhook' };
    },
    retryDelays: RETRY_DELAYS,
    accepts: (status) => status < 400,
    timeoutMs: WEBHOOK_TIMEOUT_MS,
  });
  let url = '';
  const parts = {
    submissions: createSubmissions(state, sender, clock.now, () => url),
    sender,
    fault: createFault(),
    oneShotFaults: createOneShotFaults(),
    apiKey: api_key,
  };
  addDocumentControls(control, parts);
  const server = createDocumentsServer(parts);
  // Do not change the name `signing`. The port is stored under this name, and links in mail that was already sent
  // contain the port.
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
