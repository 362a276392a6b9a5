import { type Command, type CommandHelp, formatHelp } from './edges/cli/command.ts';
import {
  type Config,
  ConfigError,
  inspectConfig,
  loadCommandConfig,
  loadConfig,
} from './kernel/config/config.ts';
import { UsageError } from './kernel/errors.ts';

type Entry = { summary: string; load(): Promise<Command> };

/** All commands. Each one is loaded only when it is used, so that help and small commands start quickly. */
const COMMANDS: Record<string, Entry> = {
  serve: {
    summary: 'Run the service; without any settings, run a complete sandbox on this machine',
    load: async () => {
      const { help, serve } = await import('./serve.ts');
      return { help, run: () => serve(loadConfig()) };
    },
  },
  init: {
    summary: 'Write an environment file for production with generated secrets',
    load: () => import('./edges/cli/init-command.ts'),
  },
  doctor: {
    summary: 'Check the settings, the database, the chains and everything else that this installation needs',
    load: async () => {
      const doctor = await import('./edges/cli/doctor-command.ts');
      const run = async (args: string[]) => {
        await doctor.run(inspectConfig(), args);
        // Ends the process even if a check that timed out still holds a connection.
        setTimeout(() => process.exit(), 500).unref();
      };
      return { help: doctor.help, run };
    },
  },
  migrate: {
    summary: 'Apply pending database migrations',
    load: async () => configured(await import('./edges/cli/migrate-command.ts')),
  },
  partner: {
    summary: 'Register partners and manage their credentials',
    load: async () => configured(await import('./edges/cli/partner-command.ts')),
  },
  webhook: {
    summary: "Manage partners' webhook endpoints; resend and recover deliveries",
    load: async () => configured(await import('./edges/cli/webhook-command.ts')),
  },
  listen: {
    summary: "Forward a partner's events to a local URL while you develop",
    load: async () => configured(await import('./edges/cli/listen-command.ts')),
  },
  offer: {
    summary: 'Create offers from files, compare them with the database, publish, close and reopen them',
    load: async () => configured(await import('./edges/cli/offer-command.ts')),
  },
  participation: {
    summary: 'List, inspect and export participations, and request refunds',
    load: async () => configured(await import('./edges/cli/participation-command.ts')),
  },
  operator: {
    summary: "Show the operator's keys and nonces, replace stuck transactions, reconcile chain and database",
    load: async () => configured(await import('./edges/cli/operator-command.ts')),
  },
  settlement: {
    summary: 'Show the state of settlement, and pause or resume it',
    load: async () => configured(await import('./edges/cli/settlement-command.ts')),
  },
  solana: {
    summary: 'Create fund accounts on Solana, adopt foreign transactions, close receipts, compare vaults',
    load: async () => configured(await import('./edges/cli/solana-command.ts')),
  },
  user: {
    summary: 'Hold and release accounts, review country changes, erase personal data',
    load: async () => configured(await import('./edges/cli/user-command.ts')),
  },
  sanctions: {
    summary: 'Show the sanctions list and its hits, accept a refused list, clear hits',
    load: async () => configured(await import('./edges/cli/sanctions-command.ts')),
  },
  audit: {
    summary: 'Verify and export the sealed audit log',
    load: async () => configured(await import('./edges/cli/audit-command.ts')),
  },
  keys: {
    summary: 'Re-encrypt stored data under a new secret, or rotate the ID token signing key',
    load: async () => configured(await import('./edges/cli/keys-command.ts')),
  },
  'verify-calldata': {
    summary: 'Verify the calldata of a tokenized swap against a node of your choice',
    load: () => import('./edges/cli/verify-command.ts'),
  },
  errors: {
    summary: 'Print the catalogue of API errors',
    load: async () => (await import('./edges/cli/reference-commands.ts')).errors,
  },
  settings: {
    summary: 'Print the reference of all settings',
    load: async () => (await import('./edges/cli/reference-commands.ts')).settings,
  },
};

type ConfiguredCommand = { help: CommandHelp; run(config: Config, args: string[]): Promise<void> };

function configured({ help, run }: ConfiguredCommand): Command {
  return { help, run: (args) => run(commandConfig(), args) };
}

const OVERVIEW = `causeway: offer investments to the users of partner applications

Usage:
  causeway COMMAND [ARGUMENTS]

Commands:
${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  causeway ${name.padEnd(16)} ${summary}`)
  .join('\n')}

"causeway COMMAND --help" explains a command. Settings are environment variables; "causeway settings" lists them.
`;

const HELP_FLAGS = ['--help', '-h'];

async function main(argv: string[]): Promise<void> {
  const [name, ...args] = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  if (name === undefined || HELP_FLAGS.includes(name)) {
    process.stdout.write(OVERVIEW);
    return;
  }
  const entry = COMMANDS[name];
  if (entry === undefined)
    throw new UsageError(`unknown command "${name}"; "causeway --help" lists the commands`);
  const command = await entry.load();
  if (args.some((arg) => HELP_FLAGS.includes(arg))) process.stdout.write(formatHelp(command.help));
  else await command.run(args);
}

function isUsageError(error: unknown): error is Error {
  const { code } = error as { code?: string };
  return error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS') === true;
}

/**
 * Returns the message of a failure outside this program, such as an unwritable file or an unreachable database. In
 * these cases, a stack trace would not help. Returns undefined for all other errors.
 */
function outsideFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, severity } = error as NodeJS.ErrnoException & { severity?: string };
  // If a host has several addresses, the error is an AggregateError without a message of its own.
  const errors = error instanceof AggregateError && code !== undefined ? error.errors : [];
  if (errors.length > 0 || syscall === 'connect' || syscall === 'getaddrinfo' || severity === 'FATAL') {
    const reason = errors.map(({ message }) => message).join(', ') || error.message;
    return `${reason}; "causeway doctor" checks the database and all other connections`;
  }
  return syscall === undefined ? undefined : error.message;
}

/**
 * Returns the settings for a command. `commandName` is the command line for the audit log: the first two arguments,
 * option names and ids are kept, and every other argument is replaced by `…`.
 */
function commandConfig(): Config {
  const isPlain = (arg: string, index: number) => index < 2 || /^(--?[a-z-]+|[0-9a-f-]{36})$/.test(arg);
  const shown = argv.map((arg, index) => (isPlain(arg, index) ? arg : '…'));
  return { ...loadCommandConfig(), commandName: shown.join(' ') };
}

const argv = process.argv.slice(2);
try {
  await main(argv);
} catch (error) {
  if (isUsageError(error)) {
    const hint = argv[0] !== undefined && argv[0] in COMMANDS ? `\nSee causeway ${argv[0]} --help.` : '';
    console.error(`causeway: ${error.message}${hint}`);
  } else if (error instanceof ConfigError) console.error(error.message);
  else {
    const failure = outsideFailure(error);
    console.error(failure === undefined ? error : `causeway: ${failure}`);
  }
  process.exit(isUsageError(error) || error instanceof ConfigError ? 2 : 1);
}
