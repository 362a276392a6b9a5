import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { ApiError } from '../errors.ts';
import { type CommandHelp, UsageError } from '../operations/command.ts';
import { runCommand } from '../operations/run-command.ts';
import { listBacklog } from './backlog-store.ts';
import { findSubject, pauseSettlement, resumeSettlement } from './pause.ts';
import { listPauses } from './pause-store.ts';

export const SETTLEMENT_HELP: CommandHelp = {
  usage: [
    'settlement status',
    'settlement pause [CHAIN|OFFER] [--message TEXT] [--dry-run]',
    'settlement resume [CHAIN|OFFER] [--dry-run]',
  ],
  description:
    'Shows and controls settlement. status prints the pauses and what is waiting per chain and status. pause stops new commits and refunds of a chain, of an offer (by its slug) or of everything; signed transactions are still followed to their end. resume ends a pause. If the service began the pause because the chain and the database differ, run causeway operator reconcile first.',
  options: {
    '--message TEXT': 'Reason for the pause, shown by status.',
    '--dry-run': 'Only print what would change.',
  },
  examples: {
    'settlement status': 'Show pauses and backlog',
    'settlement pause harbour-sale --message "audit"': 'Pause one offer',
    'settlement resume ethereum_mainnet': 'Resume a chain',
  },
};

const options = { message: { type: 'string' }, 'dry-run': { type: 'boolean' } } as const;

export async function runSettlement(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [name = '', subject = null, ...more] = positionals;
  if (name !== 'status' && name !== 'pause' && name !== 'resume')
    throw new UsageError('settlement requires one of the commands status, pause and resume');
  if (more.length > 0 || (name === 'status' && subject !== null))
    throw new UsageError(
      `settlement ${name} takes ${name === 'status' ? 'no argument' : 'one chain or offer'}`,
    );
  if (name !== 'pause' && values.message !== undefined)
    throw new UsageError('only settlement pause takes --message');
  await runCommand(config, async (ctx) => {
    if (name === 'status') {
      const status = { paused: await listPauses(ctx.db), backlog: await listBacklog(ctx.db) };
      console.log(JSON.stringify(status, null, 2));
      return;
    }
    const label = subject ?? 'settlement';
    try {
      if (values['dry-run'] === true) {
        await findSubject(ctx.db, subject);
        console.log(`${label} would be ${name}d`);
        return;
      }
      const isChanged = await (name === 'pause'
        ? pauseSettlement(ctx, subject, values.message ?? 'by an operator')
        : resumeSettlement(ctx, subject));
      const unchanged = name === 'pause' ? 'is paused already' : 'is not paused';
      console.log(`${label} ${isChanged ? `${name}d` : unchanged}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
      throw new UsageError(`${subject} is neither a chain nor the slug of an offer`);
    }
  });
}
