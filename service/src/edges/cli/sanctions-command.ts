import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { clearAddress } from '../../domain/screening/hits.ts';
import { hashList, parseSanctions } from '../../domain/screening/list-file.ts';
import { listOpenHits, notifyNodes, readListStatus, saveAcceptedList } from '../../domain/screening/store.ts';
import { type Config, ConfigError } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { plural } from '../../kernel/plural.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { type CommandHelp, requireReason } from './command.ts';
import { type CommandContext, runCommand } from './run-command.ts';

export const help: CommandHelp = {
  usage: ['sanctions status', 'sanctions hits', 'sanctions accept', 'sanctions clear ADDRESS --reason TEXT'],
  description: 'Manages the sanctions list and its hits.',
  commands: {
    status: 'Prints the accepted list, the last refused file and the last screening.',
    hits: 'Lists what was found: listed wallets, and the participations and orders made from them. The service sends no commits or refunds for these.',
    accept:
      'Makes the nodes use a SANCTIONS_FILE that they refused because more than a fifth of the previous addresses are missing.',
    clear: 'Ends the hits of an address that is no longer listed, and resumes its participations.',
  },
  options: { '--reason TEXT': 'Why the hits are cleared; stored with the hits' },
  examples: {
    'sanctions status': 'Check that the list is current',
    'sanctions hits': 'See what the list has blocked',
    'sanctions accept': 'Use a list that has become much shorter',
  },
};

export async function run(config: Config, args: string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { reason: { type: 'string' } },
  });
  const [command, address, ...rest] = positionals;
  if (command === 'clear' && address !== undefined && rest.length === 0) {
    const reason = requireReason('sanctions clear', values.reason);
    const count = await runCommand(config, (ctx) => clearAddress(ctx, address, reason));
    console.log(`Cleared ${plural(count, 'hit')} for ${address}.`);
    return;
  }
  const action = address === undefined ? COMMANDS[command ?? ''] : undefined;
  if (action === undefined)
    throw new UsageError('sanctions requires a command: status, hits, accept or clear ADDRESS');
  await runCommand(config, (ctx) => action(ctx, config));
}

const COMMANDS: Record<string, (ctx: CommandContext, config: Config) => Promise<void>> = {
  status: async ({ db }) => {
    const status = await readListStatus(db);
    if (status === null) throw new UsageError('no node has loaded a sanctions list yet');
    console.log(JSON.stringify(status, null, 2));
  },
  hits: async ({ db }) => console.log(JSON.stringify(await listOpenHits(db), null, 2)),
  accept: acceptFile,
};

async function acceptFile({ db, clock }: CommandContext, { sanctionsFile }: Config): Promise<void> {
  if (sanctionsFile === null)
    throw new ConfigError(['SANCTIONS_FILE: is required by "causeway sanctions accept"']);
  const list = parseSanctions(await readFile(sanctionsFile, 'utf8'));
  if (list.size === 0) throw new UsageError(`${sanctionsFile} has no addresses and cannot be accepted`);
  await saveAcceptedList(db, { hash: hashList(list), addresses: [...list] }, toTimestamp(clock.micros()));
  await notifyNodes(db);
  console.log(`Accepted ${list.size} addresses from ${sanctionsFile}.`);
}
