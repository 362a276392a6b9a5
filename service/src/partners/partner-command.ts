import { parseArgs } from 'node:util';
import { type Config, ConfigError } from '../config.ts';
import { type Operator, runCommand } from '../operations/run-command.ts';
import {
  createPartner,
  disablePartner,
  enablePartner,
  rotateSecret,
  setOrigins,
  setRedirects,
} from './partner.ts';
import { listPartners } from './store.ts';

export const PARTNER_USAGE = `causeway partner create --name NAME --redirect URI … [--origin ORIGIN …] [--scope SCOPE …] [--logo URL]
causeway partner list
causeway partner rotate-secret CLIENT_ID [--grace-hours 168]
causeway partner set-redirects CLIENT_ID URI …
causeway partner set-origins CLIENT_ID ORIGIN …
causeway partner disable CLIENT_ID
causeway partner enable CLIENT_ID`;

const options = {
  name: { type: 'string' },
  redirect: { type: 'string', multiple: true },
  origin: { type: 'string', multiple: true },
  scope: { type: 'string', multiple: true },
  logo: { type: 'string' },
  'grace-hours': { type: 'string' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Action = (ctx: Operator, clientId: string, rest: string[], values: Values) => Promise<unknown>;

/** Which options each takes; all but the first two name a client. */
const ACTIONS: Record<string, { takes: readonly (keyof typeof options)[]; act: Action }> = {
  create: {
    takes: ['name', 'redirect', 'origin', 'scope', 'logo'],
    act: (ctx, _id, _rest, values) => create(ctx, values),
  },
  list: { takes: [], act: ({ db }) => listPartners(db) },
  'rotate-secret': { takes: ['grace-hours'], act: rotate },
  'set-redirects': { takes: [], act: (ctx, id, uris) => setRedirects(ctx, id, uris) },
  'set-origins': { takes: [], act: (ctx, id, origins) => setOrigins(ctx, id, origins) },
  disable: { takes: [], act: (ctx, id) => disablePartner(ctx, id) },
  enable: { takes: [], act: (ctx, id) => enablePartner(ctx, id) },
};

/** What a command gives goes to standard output as JSON; what is said about it, to standard error. */
export async function runPartner(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', ...rest] = positionals;
  const action = ACTIONS[name];
  if (action === undefined)
    throw new ConfigError([`partner ${name}: there is no such command:\n${PARTNER_USAGE}`]);
  const stray = Object.keys(values).find((option) => !action.takes.some((taken) => taken === option));
  if (stray !== undefined)
    throw new ConfigError([`--${stray}: is not for partner ${name}:\n${PARTNER_USAGE}`]);
  const [clientId = '', ...others] = name === 'create' || name === 'list' ? ['', ...rest] : rest;
  const takesList = name.startsWith('set-');
  if ((others.length > 0 && !takesList) || (clientId === '' && name !== 'create' && name !== 'list'))
    throw new ConfigError([`partner ${name}: the arguments are wrong:\n${PARTNER_USAGE}`]);
  const result = await runCommand(config, (ctx) => action.act(ctx, clientId, others, values));
  if (result === undefined) console.error('Done; running nodes know within a second.');
  else console.log(JSON.stringify(result, null, 2));
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

async function create(ctx: Operator, values: Values) {
  if (values.name === undefined || values.redirect === undefined)
    throw new ConfigError(['partner create: needs --name and at least one --redirect']);
  const created = await createPartner(ctx, {
    name: values.name,
    redirectUris: values.redirect,
    ...(values.scope && { scopes: values.scope }),
    ...(values.origin && { origins: values.origin }),
    ...(values.logo && { logoUrl: values.logo }),
  });
  console.error('The secret is shown this once; only its hash is kept.');
  return created;
}

async function rotate(ctx: Operator, clientId: string, _rest: string[], values: Values) {
  const hours = Number(values['grace-hours'] ?? 168);
  if (!Number.isInteger(hours) || hours < 0 || hours > 8760)
    throw new ConfigError(['--grace-hours: must be a whole number from 0 to 8760']);
  const client_secret = await rotateSecret(ctx, clientId, hours * 3600);
  console.error(`The secret is shown this once. The one before it works for another ${hours} hours.`);
  return { client_id: clientId, client_secret };
}
