import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from './config.ts';

type Command = { usage: string; says: string; run(args: string[]): Promise<void> };

/** Each command loads what it needs, so that `--help` and small commands start at once. */
const COMMANDS: Record<string, Command> = {
  serve: {
    usage: 'serve',
    says: 'run the service; without further settings, the whole sandbox on this machine',
    run: async () => (await import('./serve.ts')).serve(loadConfig(process.env)),
  },
  migrate: {
    usage: 'migrate [--check]',
    says: 'bring the database schema up to date, or only tell what is missing',
    run: async (args) => {
      const { values } = parseArgs({ args, options: { check: { type: 'boolean', default: false } } });
      await (await import('./operations/migrate-command.ts')).runMigrate(
        loadConfig(process.env),
        values.check,
      );
    },
  },
  openapi: {
    usage: 'openapi [--write FILE]',
    says: 'print the OpenAPI document, or write it to a file',
    run: async (args) => {
      const { values } = parseArgs({ args, options: { write: { type: 'string' } } });
      await (await import('./operations/openapi-command.ts')).runOpenApi(values.write);
    },
  },
  errors: {
    usage: 'errors [--write FILE]',
    says: 'print the catalogue of errors, or write it to a file',
    run: async (args) => {
      const { values } = parseArgs({ args, options: { write: { type: 'string' } } });
      await (await import('./operations/errors-command.ts')).runErrors(values.write);
    },
  },
  partner: {
    usage: 'partner create|list|…',
    says: 'register partners, replace their secrets, set redirects and origins, disable them',
    run: async (args) =>
      (await import('./partners/partner-command.ts')).runPartner(loadConfig(process.env), args),
  },
  offer: {
    usage: 'offer apply|diff|list|…',
    says: 'make offers from files, compare, list, show, publish and close them',
    run: async (args) => (await import('./offers/offer-command.ts')).runOffer(loadConfig(process.env), args),
  },
  'verify-calldata': {
    usage: 'verify-calldata --rpc URL …',
    says: 'check calldata of a tokenized swap against a node of your choice',
    run: async (args) => (await import('./tokenized/verify-command.ts')).runVerify(args),
  },
  participation: {
    usage: 'participation list|show|…',
    says: 'list, show and export participations, and give money back',
    run: async (args) =>
      (await import('./participations/participation-command.ts')).runParticipation(
        loadConfig(process.env),
        args,
      ),
  },
  operator: {
    usage: 'operator status|adopt CHAIN',
    says: 'what the settling key has and has sent; go on after somebody else has used it',
    run: async (args) =>
      (await import('./settlement/operator-command.ts')).runOperator(loadConfig(process.env), args),
  },
  keys: {
    usage: 'keys rotate|rotate-signing',
    says: 'seal stored data anew under the newest secret; or sign ID tokens with a new key from now on',
    run: async (args) => (await import('./oauth/keys-command.ts')).runKeys(loadConfig(process.env), args),
  },
  user: {
    usage: 'user erase EMAIL|ID',
    says: 'forget a user as far as the law allows, and tell what is kept and why',
    run: async (args) => (await import('./pii/user-command.ts')).runUser(loadConfig(process.env), args),
  },
};

const HELP = `causeway: investments for partner applications

${Object.values(COMMANDS)
  .map(({ usage, says }) => `  causeway ${usage.padEnd(26)} ${says}`)
  .join('\n')}

Settings come from the environment; the README lists them.
`;

async function main([name, ...args]: string[]): Promise<void> {
  if (
    name === undefined ||
    name === '--help' ||
    name === '-h' ||
    name === 'help' ||
    args.includes('--help')
  ) {
    process.stdout.write(HELP);
    return;
  }
  const command = COMMANDS[name];
  if (command === undefined)
    throw new ConfigError([`${name}: there is no such command; see causeway --help`]);
  await command.run(args);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUsage =
    error instanceof ConfigError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  console.error(isUsage ? (error as Error).message : error);
  process.exit(isUsage ? 2 : 1);
}
