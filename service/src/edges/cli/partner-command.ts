import { parseArgs } from 'node:util';
import {
  createPartner,
  disablePartner,
  enablePartner,
  readPartnerUse,
  rotateSecret,
  setContact,
  setLogoutRedirects,
  setOrigins,
  setRedirects,
  setScopes,
} from '../../domain/partners/partner.ts';
import { listPartners } from '../../domain/partners/store.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { plural } from '../../kernel/plural.ts';
import { type CommandHelp, chooseAction, confirmByName, requireReason } from './command.ts';
import { type CommandContext, runCommand } from './run-command.ts';

export const help: CommandHelp = {
  usage: [
    'partner create --name NAME --redirect URI … [--logout-redirect URI …] [--origin ORIGIN …] [--scope SCOPE …] [--logo URL] [--contact EMAIL]',
    'partner list',
    'partner rotate-secret CLIENT_ID [--grace-hours HOURS]',
    'partner set-redirects CLIENT_ID URI …',
    'partner set-logout-redirects CLIENT_ID URI …',
    'partner set-origins CLIENT_ID ORIGIN …',
    'partner set-scopes CLIENT_ID SCOPE …',
    'partner set-contact CLIENT_ID EMAIL',
    'partner disable CLIENT_ID --reason TEXT [--yes]',
    'partner enable CLIENT_ID',
  ],
  description:
    'Registers partners and manages their OAuth clients. Results are printed as JSON. Running nodes apply changes within a second.',
  commands: {
    create: 'Registers a partner with an OAuth client. Prints the client secret, which is not shown again.',
    list: 'Prints all partners.',
    'rotate-secret':
      'Creates a new client secret and prints it once. The previous secret keeps working for --grace-hours.',
    'set-redirects': 'Replaces the redirect URIs.',
    'set-logout-redirects': 'Replaces the URIs to which the app may send browsers after sign-out.',
    'set-origins': 'Replaces the web app origins that may call the API from browsers.',
    'set-scopes': 'Replaces the scopes that the partner may request.',
    'set-contact': 'Replaces the email address for reports of problems.',
    disable:
      'Revokes all tokens of the partner, but keeps its data. Prints what this ends, and asks for the name of the partner. The reason is stored in the audit log.',
    enable: 'Lets a disabled partner work again, with new tokens.',
  },
  options: {
    '--name NAME': 'The name shown to users on the consent page.',
    '--redirect URI': 'A redirect URI: https, or http on localhost. Repeatable.',
    '--logout-redirect URI': 'Where the app may send browsers after sign-out. Repeatable.',
    '--origin ORIGIN': 'A web app origin that may call the API from browsers. Repeatable.',
    '--scope SCOPE': 'A scope the partner may request. Repeatable. Default: all scopes.',
    '--logo URL': 'The https URL of a logo for the consent page.',
    '--contact EMAIL':
      'The email address to which the service reports problems, such as a failing webhook endpoint.',
    '--reason TEXT': 'Why the partner is disabled.',
    '--yes': 'Disable without asking for confirmation.',
    '--grace-hours HOURS': 'How long the previous secret keeps working, 0 to 8760. Default: 168.',
  },
  examples: {
    'partner create --name "Acme Invest" --redirect https://acme.example/callback --origin https://acme.example':
      'Register a partner',
    'partner rotate-secret acme-invest-0a1b2c3d4e5f --grace-hours 24':
      'Replace a client secret; the old one works for another day',
  },
};

const options = {
  name: { type: 'string' },
  redirect: { type: 'string', multiple: true },
  'logout-redirect': { type: 'string', multiple: true },
  origin: { type: 'string', multiple: true },
  scope: { type: 'string', multiple: true },
  logo: { type: 'string' },
  contact: { type: 'string' },
  'grace-hours': { type: 'string' },
  reason: { type: 'string' },
  yes: { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Input = { clientId: string; rest: string[]; values: Values };

type Action = {
  allowed: readonly (keyof typeof options)[];
  /** The positional arguments: none, a client id, or a client id and a list. */
  takes: 'nothing' | 'client' | 'client and list';
  run(ctx: CommandContext, input: Input): Promise<unknown>;
};

function replaceList(replace: typeof setRedirects): Action {
  return {
    allowed: [],
    takes: 'client and list',
    run: (ctx, { clientId, rest }) => replace(ctx, clientId, rest),
  };
}

const ACTIONS: Record<string, Action> = {
  create: {
    allowed: ['name', 'redirect', 'logout-redirect', 'origin', 'scope', 'logo', 'contact'],
    takes: 'nothing',
    run: (ctx, { values }) => create(ctx, values),
  },
  list: { allowed: [], takes: 'nothing', run: (ctx) => listPartners(ctx.db) },
  'rotate-secret': { allowed: ['grace-hours'], takes: 'client', run: rotate },
  'set-redirects': replaceList(setRedirects),
  'set-logout-redirects': replaceList(setLogoutRedirects),
  'set-origins': replaceList(setOrigins),
  'set-scopes': replaceList(setScopes),
  'set-contact': {
    allowed: [],
    takes: 'client and list',
    run: (ctx, { clientId, rest }) => {
      const [email] = rest;
      if (email === undefined || rest.length > 1)
        throw new UsageError('partner set-contact requires a client id and one email address');
      return setContact(ctx, clientId, email);
    },
  },
  disable: { allowed: ['reason', 'yes'], takes: 'client', run: disable },
  enable: { allowed: [], takes: 'client', run: (ctx, { clientId }) => enablePartner(ctx, clientId) },
};

/** Prints results as JSON to standard output and notes to standard error. */
export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', ...words] = positionals;
  const action = chooseAction('partner', ACTIONS, name, values);
  const [clientId = '', ...rest] = words;
  if (action.takes === 'nothing' && words.length > 0)
    throw new UsageError(`partner ${name} takes no arguments besides options`);
  if (action.takes !== 'nothing' && clientId === '')
    throw new UsageError(`partner ${name} requires a client id; see "causeway partner list"`);
  if (action.takes === 'client' && rest.length > 0)
    throw new UsageError(`partner ${name} takes a single client id`);
  const result = await runCommand(config, (ctx) => action.run(ctx, { clientId, rest, values }));
  if (result === undefined) console.error('Done. Running nodes apply the change within a second.');
  else console.log(JSON.stringify(result, null, 2));
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

async function create(ctx: CommandContext, values: Values) {
  if (values.name === undefined || values.redirect === undefined)
    throw new UsageError('partner create requires --name and at least one --redirect');
  const created = await createPartner(ctx, {
    name: values.name,
    redirectUris: values.redirect,
    ...(values['logout-redirect'] && { postLogoutRedirectUris: values['logout-redirect'] }),
    ...(values.scope && { scopes: values.scope }),
    ...(values.origin && { origins: values.origin }),
    ...(values.logo && { logoUrl: values.logo }),
    ...(values.contact && { contactEmail: values.contact }),
  });
  console.error('Store the secret now: it will not be shown again.');
  return created;
}

async function rotate(ctx: CommandContext, { clientId, values }: Input) {
  const hours = Number(values['grace-hours'] ?? 168);
  if (!Number.isInteger(hours) || hours < 0 || hours > 8760)
    throw new UsageError('--grace-hours must be an integer from 0 to 8760');
  const client_secret = await rotateSecret(ctx, clientId, hours * 3600);
  console.error(
    `Store the secret now: it will not be shown again. The previous secret works for another ${hours} hours.`,
  );
  return { client_id: clientId, client_secret };
}

async function disable(ctx: CommandContext, { clientId, values }: Input): Promise<void> {
  const reason = requireReason('partner disable', values.reason);
  const { name, disabled_at, clients, tokens, endpoints, users } = await readPartnerUse(ctx, clientId);
  const counts = [
    plural(clients, 'client'),
    plural(tokens, 'token'),
    plural(endpoints, 'webhook endpoint'),
    plural(users, 'connected user'),
  ];
  const preview = [
    `This disables the partner ${name} within a second${disabled_at === null ? '' : ` (already disabled since ${disabled_at})`}:`,
    `  ${counts.join(', ')}`,
    'The tokens end now and stay invalid after "partner enable". Webhook deliveries stop until then.',
  ];
  await confirmByName(preview, name, values.yes);
  await disablePartner(ctx, clientId, reason);
}
