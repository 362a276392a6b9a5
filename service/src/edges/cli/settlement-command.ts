import { parseArgs } from 'node:util';
import { pauseSettlement, resumeSettlement } from '../../domain/settlement/pause.ts';
import { readSettlementStatus } from '../../domain/settlement/status.ts';
import type { Config } from '../../kernel/config/config.ts';
import { ApiError, UsageError } from '../../kernel/errors.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import type { CommandHelp } from './command.ts';
import { type CommandContext, runCommand, withChains } from './run-command.ts';

export const help: CommandHelp = {
  usage: [
    'settlement status [CHAIN|OFFER]',
    'settlement pause [CHAIN|OFFER] [--message TEXT] [--dry-run]',
    'settlement resume [CHAIN|OFFER] [--dry-run]',
  ],
  description: 'Shows, pauses and resumes settlement.',
  commands: {
    status:
      'Prints a JSON document about everything, one chain or one offer. It contains the pauses; how many participations wait per chain and status, with the age of the oldest; for every key its lease, last good round, balance, open and stuck transactions; and per chain the differences that the last reconciliation found. Needs no private key.',
    pause:
      'Stops new commits and refunds for a chain, for an offer (by its slug) or for everything. Signed transactions are still followed to their end.',
    resume:
      'Ends a pause. If the service itself paused settlement because the chain and the database differ, run "causeway operator reconcile" first.',
  },
  options: {
    '--message TEXT': 'Reason for the pause, shown by "status".',
    '--dry-run': 'Only print what would change.',
  },
  examples: {
    'settlement status': 'Show pauses, backlog, keys and differences',
    'settlement status harbour-sale': 'Show one offer',
    'settlement pause harbour-sale --message "audit"': 'Pause one offer',
    'settlement resume ethereum_mainnet': 'Resume a chain',
  },
};

const options = { message: { type: 'string' }, 'dry-run': { type: 'boolean' } } as const;

export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [name = '', subject = null, ...more] = positionals;
  if (name !== 'status' && name !== 'pause' && name !== 'resume')
    throw new UsageError('settlement requires a command: status, pause or resume');
  if (more.length > 0) throw new UsageError(`settlement ${name} takes at most one chain or offer`);
  if (name === 'status' && values['dry-run'] !== undefined)
    throw new UsageError('settlement status does not take --dry-run, because it changes nothing');
  if (name !== 'pause' && values.message !== undefined)
    throw new UsageError('only settlement pause takes --message');
  await runCommand(config, async (ctx) => {
    try {
      if (name === 'status') await showStatus(config, ctx, subject);
      else if (values['dry-run'] === true)
        await rehearse(ctx.db, (db) => change({ ...ctx, db }, name, subject, 'would be'));
      else await change(ctx, name, subject, 'was', values.message);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
      throw new UsageError(`${subject} is neither a chain nor the slug of an offer`);
    }
  });
}

async function showStatus(config: Config, { db }: CommandContext, subject: string | null): Promise<void> {
  const status = await withChains(config, (chains) => readSettlementStatus(db, chains, subject));
  console.log(JSON.stringify(status, null, 2));
}

async function change(
  ctx: CommandContext,
  name: 'pause' | 'resume',
  subject: string | null,
  mood: 'was' | 'would be',
  message = 'by an operator',
): Promise<void> {
  const isChanged = await (name === 'pause'
    ? pauseSettlement(ctx, subject, message)
    : resumeSettlement(ctx, subject));
  const unchanged = name === 'pause' ? 'is already paused' : 'is not paused';
  console.log(`${subject ?? 'settlement'} ${isChanged ? `${mood} ${name}d` : unchanged}`);
}
