import { parseArgs } from 'node:util';
import { listPartners } from '../../domain/partners/store.ts';
import {
  listAttempts,
  listDeliveries,
  recoverDeliveries,
  resendDelivery,
} from '../../domain/webhooks/delivery-log.ts';
import {
  createEndpoint,
  disableEndpoint,
  type EndpointContext,
  enableEndpoint,
  listEndpoints,
  readEndpoint,
  removeEndpoint,
  rotateEndpointSecret,
  testEndpoint,
} from '../../domain/webhooks/endpoint.ts';
import { openWebhookSender } from '../../domain/webhooks/sender.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { commitOn } from '../../platform/http/for-request.ts';
import { type CommandHelp, chooseAction, confirmByName } from './command.ts';
import { runCommand } from './run-command.ts';

export const help: CommandHelp = {
  usage: [
    'webhook list CLIENT_ID',
    'webhook create CLIENT_ID --url URL --type TYPE … [--description TEXT]',
    'webhook show CLIENT_ID ENDPOINT_ID',
    'webhook delete CLIENT_ID ENDPOINT_ID [--yes]',
    'webhook rotate-secret CLIENT_ID ENDPOINT_ID [--grace-hours HOURS]',
    'webhook disable CLIENT_ID ENDPOINT_ID',
    'webhook enable CLIENT_ID ENDPOINT_ID [--from stopped|now]',
    'webhook test CLIENT_ID ENDPOINT_ID',
    'webhook deliveries CLIENT_ID ENDPOINT_ID',
    'webhook recover CLIENT_ID ENDPOINT_ID --since TIME [--until TIME]',
    'webhook attempts CLIENT_ID DELIVERY_ID',
    'webhook resend CLIENT_ID DELIVERY_ID',
  ],
  description:
    "Manages a partner's webhook endpoints, as the partner can with /v1/webhook-endpoints. Results are printed as JSON.",
  commands: {
    list: 'Prints the endpoints of a partner.',
    create: 'Creates an endpoint. Prints its secret, which is not shown again.',
    show: 'Prints an endpoint.',
    delete: 'Deletes an endpoint with its secret. Asks for its URL first.',
    'rotate-secret': 'Creates a new secret and prints it once.',
    disable: 'Stops deliveries to an endpoint.',
    enable: 'Resumes deliveries to a disabled endpoint.',
    test: 'Sends a test event.',
    deliveries: 'Prints the deliveries to an endpoint.',
    recover: 'Resends the events of a period if their delivery failed, was skipped or never started.',
    attempts: 'Prints the attempts of a delivery.',
    resend: 'Sends a delivery again.',
  },
  options: {
    '--url URL': 'Where events are sent: an https URL with a public address.',
    '--type TYPE': 'An event type, a group such as "participation.*", "redacted" or "*". Repeatable.',
    '--description TEXT': 'A note for the partner.',
    '--yes': 'Delete without asking for confirmation.',
    '--grace-hours HOURS':
      'How long deliveries also carry a signature with the previous secret, 0 to 168. Default: 24.',
    '--from stopped|now':
      '"stopped" sends all events since the endpoint was disabled, "now" only new events. Default: "stopped".',
    '--since TIME': 'The time of the first event to resend, such as 2026-01-02T03:04:05Z.',
    '--until TIME': 'The time of the last event to resend. Default: now.',
  },
  examples: {
    'webhook create acme-invest-0a1b2c3d4e5f --url https://acme.example/hooks --type "participation.*"':
      'Send all events about participations',
    'webhook enable acme-invest-0a1b2c3d4e5f 01890000-0000-7000-8000-000000000000 --from stopped':
      'Resume from the point where the endpoint was disabled',
  },
};

const options = {
  url: { type: 'string' },
  type: { type: 'string', multiple: true },
  description: { type: 'string' },
  'grace-hours': { type: 'string' },
  from: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  yes: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Input = { caller: { partnerId: string }; id: string; values: Values };
type Action = {
  allowed: readonly (keyof typeof options)[];
  run(ctx: EndpointContext, input: Input): Promise<unknown>;
};

const PAGE = { limit: 100 };
const TYPE = /^(\*|[a-z_]+\.(\*|[a-z_]+)|redacted)$/;

const ACTIONS: Record<string, Action> = {
  list: { allowed: [], run: (ctx, { caller }) => listEndpoints(ctx, caller, PAGE) },
  create: { allowed: ['url', 'type', 'description'], run: create },
  show: { allowed: [], run: (ctx, { caller, id }) => readEndpoint(ctx, caller, id) },
  delete: { allowed: ['yes'], run: remove },
  'rotate-secret': {
    allowed: ['grace-hours'],
    run: (ctx, { caller, id, values }) =>
      rotateEndpointSecret(ctx, caller, id, readHours(values['grace-hours'])),
  },
  disable: { allowed: [], run: (ctx, { caller, id }) => disableEndpoint(ctx, caller, id) },
  enable: {
    allowed: ['from'],
    run: (ctx, { caller, id, values }) => enableEndpoint(ctx, caller, id, readFrom(values)),
  },
  test: { allowed: [], run: (ctx, { caller, id }) => testEndpoint(ctx, caller, id) },
  deliveries: { allowed: [], run: (ctx, { caller, id }) => listDeliveries(ctx, caller, id, PAGE, {}) },
  recover: { allowed: ['since', 'until'], run: recover },
  attempts: { allowed: [], run: (ctx, { caller, id }) => listAttempts(ctx, caller, id, PAGE) },
  resend: { allowed: [], run: (ctx, { caller, id }) => resendDelivery(ctx, caller, id) },
};

export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', clientId = '', id = '', ...rest] = positionals;
  const action = chooseAction('webhook', ACTIONS, name, values);
  const takesId = name !== 'list' && name !== 'create';
  if (clientId === '')
    throw new UsageError(`webhook ${name} requires a client id; see "causeway partner list"`);
  if ((id !== '') !== takesId || rest.length > 0)
    throw new UsageError(
      `webhook ${name} takes ${takesId ? 'a client id and the id of an endpoint or delivery' : 'only a client id'}`,
    );
  const sender = openWebhookSender({
    allowCidrs: config.webhookAllowCidrs ?? (config.profile === 'sandbox' ? ['127.0.0.0/8', '::1/128'] : []),
    baseUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
  });
  try {
    const result = await runCommand(config, async (command) => {
      const partner = (await listPartners(command.db)).find(({ client_id }) => client_id === clientId);
      if (partner === undefined)
        throw new UsageError(`${clientId} is not registered; "causeway partner list" shows all client ids`);
      const caller = { partnerId: partner.partner_id };
      return action.run(
        { ...command, commitReply: commitOn(command.db), webhooks: sender },
        { caller, id, values },
      );
    });
    console.log(JSON.stringify(result, null, 2));
  } finally {
    await sender.close();
  }
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

async function create(ctx: EndpointContext, { caller, values }: Input) {
  const { url, type: types = [], description } = values;
  if (url === undefined || types.length === 0)
    throw new UsageError('webhook create requires --url and at least one --type');
  const wrong = types.find((type) => !TYPE.test(type));
  if (wrong !== undefined)
    throw new UsageError(
      `--type ${wrong} must be an event type, a group such as "participation.*", "redacted" or "*"`,
    );
  const created = await createEndpoint(ctx, caller, {
    ...{ url, types: [...new Set(types)] },
    ...(description !== undefined && { description }),
  });
  console.error('Store the secret now: it will not be shown again.');
  return created;
}

async function remove(ctx: EndpointContext, { caller, id, values }: Input) {
  const { url, types, state } = await readEndpoint(ctx, caller, id);
  const preview = [
    `This deletes the webhook endpoint ${id} with its secret:`,
    `  ${url} (${types.join(', ')}), ${state}`,
    'Events that it has not received yet are not sent to it.',
  ];
  await confirmByName(preview, url, values.yes);
  return removeEndpoint(ctx, caller, id);
}

async function recover(ctx: EndpointContext, { caller, id, values: { since, until } }: Input) {
  if (since === undefined) throw new UsageError('webhook recover requires --since');
  for (const time of [since, until])
    if (time !== undefined && Number.isNaN(Date.parse(time)))
      throw new UsageError('--since and --until must be ISO 8601 times, such as 2026-01-02T03:04:05Z');
  return recoverDeliveries(ctx, caller, id, { since, ...(until !== undefined && { until }) });
}

function readHours(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const hours = Number(text);
  if (!Number.isInteger(hours) || hours < 0 || hours > 168)
    throw new UsageError('--grace-hours must be an integer from 0 to 168');
  return hours;
}

function readFrom({ from }: Values): { from?: 'stopped' | 'now' } {
  if (from === undefined) return {};
  if (from !== 'stopped' && from !== 'now') throw new UsageError('--from must be "stopped" or "now"');
  return { from };
}
